// npm run mutate: how many small faults in the source the tests of crypto-core notice.

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { listedChecks } from '../specRows.mjs';
import { CHECKED_FOLDERS, checkOf, MUTATED_FOLDERS, mutate } from './mutants.mjs';

const usage = `npm run mutate -- [options]
  --only <text>   mutants whose names have this text; may be given again
  --json <file>   also write every mutant there, with the tests that notice it
  --sample <n>    every nth of them
  --again <file>  those that survived, by a file that --json wrote
  --seed <text>   which of them; another text, another sample
  --thorough      try a mutant on every test that reaches it, however long they take
  --checks        leave out the checks of SPEC.md only, and see that tests notice it which have the ID in their title and
                  are in the file that SPEC.md names; all checks there, and no others, have to be in the code
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    again: { type: 'string' },
    sample: { type: 'string', default: '1' },
    json: { type: 'string' },
    seed: { type: 'string', default: '' },
    checks: { type: 'boolean', default: false },
    thorough: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const folders = values.checks ? CHECKED_FOLDERS : MUTATED_FOLDERS;
/** The test files that SPEC.md names for each check. */
const testsOfChecks = new Map(listedChecks().map(({ id, test }) => [id, test.replace(/^test\//, '')]));
/** Leaves out tests that take long and notice nothing that others don’t, those of folders that are not mutated, and those about other files of the repository. */
const left =
  /^(account|hostile|mutate|suite|types)|scenario\/large|stability\/replay|(spec|readme|published)\.test|kat\/(run|vectors|wycheproof|hpke|mimi\w*)\.test/;
/** Milliseconds after which a test is taken to run for ever. */
const patience = 120_000;
/** Milliseconds of processor time for one mutant: who isn't noticed within it is taken to survive. */
const budget = values.thorough ? Infinity : 6_000;
/** Mutants after which a worker starts anew, because modules are never unloaded. */
const perWorker = 100;
/** Milliseconds that loading a file costs, about: a test of one that is loaded anyway is cheaper. */
const loading = 50;

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const tests = fileURLToPath(new URL('../', import.meta.url));
const shim = new URL('shim.mjs', import.meta.url);

async function main() {
  const folder = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.mutate-', import.meta.url)));
  try {
    const { mutants, files } = await bundle(folder);
    const results = await runAll(mutants, files);
    process.stdout.write(values.checks ? checksReport(results, mutants) : report(results));
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Builds each test file with the mutants in it. */
async function bundle(folder) {
  const mutants = new Map();
  const plugin = {
    name: 'mutants',
    enforce: 'pre',
    transform(code, id) {
      const text = code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
      const file = relative(source, id);
      if (!folders.some((name) => file.startsWith(`${name}/`))) return { code: text, map: null };
      const mutated = mutate(file, text);
      for (const mutant of mutated.mutants) mutants.set(mutant.name, mutant);
      return { code: mutated.code, map: null };
    },
  };
  const names = values.checks
    ? new Set(testsOfChecks.values())
    : readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
        (name) => name.endsWith('.test.ts') && !left.test(name),
      );
  const files = [];
  for (const name of names) {
    const file = builtName(name);
    await build({
      configFile: false,
      logLevel: 'error',
      plugins: [plugin],
      resolve: { alias: { vitest: fileURLToPath(shim) } },
      build: {
        ssr: join(tests, name),
        outDir: folder,
        emptyOutDir: false,
        minify: false,
        rollupOptions: {
          external: [fileURLToPath(shim), /^libsodium/, /^ts-mls/, /^@hpke/, /^node:/],
          output: { entryFileNames: file, codeSplitting: false, paths: { [fileURLToPath(shim)]: shim.href } },
        },
      },
    });
    files.push(pathToFileURL(join(folder, file)).href);
  }
  return { mutants: [...mutants.values()], files };
}

function builtName(test) {
  return `${test.replaceAll('/', '-')}.mjs`;
}

async function runAll(mutants, files) {
  let worker = new Runner();
  const tests = await coverage(worker, files);
  const covering = new Map();
  for (const test of tests) {
    for (const name of test.reached) covering.set(name, [...(covering.get(name) ?? []), test]);
  }
  const earlier = values.again === undefined ? [] : JSON.parse(await readFile(values.again, 'utf8'));
  const again = new Set(earlier.filter(({ fate }) => fate === 'survived').map(({ name }) => name));
  const chosen = mutants
    .filter(({ name }) => values.again === undefined || again.has(name))
    .filter(({ name }) => values.only.every((text) => name.includes(text)))
    .filter(({ name }) => !values.checks || checkOf(name) !== null)
    .filter(({ name }) => drawn(name) % Number(values.sample) === 0);
  const results = [];
  for (const [index, { name, line }] of chosen.entries()) {
    const reaching = covering.get(name) ?? [];
    const named = values.checks ? reaching.filter((test) => isOfCheck(test, checkOf(name))) : reaching;
    const some = withinBudget(named);
    if (index % perWorker === 0 && index > 0) worker = worker.renewed();
    const { failed, endless } = await worker.run({ mutant: name, plan: planOf(some) });
    if (endless) worker = worker.renewed();
    if (failed) {
      const noticed = some.find(({ file, title }) => file === failed.file && title === failed.title);
      if (noticed !== undefined) noticed.kills += 1;
    }
    const fate = endless ? 'endless' : failed ? 'killed' : some.length > 0 ? 'survived' : 'not reached';
    const most = Math.round(some.reduce((sum, { ms }) => sum + ms, 0));
    results.push({
      name,
      line,
      fate,
      noticedBy: failed?.title ?? null,
      tests: some.length,
      of: named.length,
      most,
    });
    if (fate !== 'killed')
      process.stderr.write(`${index + 1}/${chosen.length} ${fate}: ${name} (line ${line})\n`);
  }
  worker.stop();
  return results;
}

/** Runs all tests once. @returns each with what it takes and reaches, from the last time where nothing has changed */
async function coverage(worker, files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(new URL(file)));
  const kept = fileURLToPath(
    new URL(`../../../node_modules/.cache/mutate-${hash.digest('hex').slice(0, 16)}.json`, import.meta.url),
  );
  let covered;
  try {
    covered = JSON.parse(await readFile(kept, 'utf8'));
  } catch {
    covered = [];
    for (const file of files) {
      const { tests, endless } = await worker.run({ file });
      if (endless) throw new Error(`fails without a mutant: ${file}`);
      covered.push(tests);
    }
    await mkdir(dirname(kept), { recursive: true });
    await writeFile(kept, JSON.stringify(covered));
  }
  return covered.flatMap((tests, at) =>
    tests.map((test, index) => ({ ...test, file: files[at], index, kills: 0 })),
  );
}

/** A number that a name and the seed always give. */
function drawn(name) {
  return createHash('sha256').update(`${values.seed} ${name}`).digest().readUInt32BE();
}

/** Tests that have noticed much in little time, as many as the budget has room for, and at least one. */
function withinBudget(tests) {
  const worth = ({ kills, ms }) => (1 + kills) / (loading + ms);
  let spent = 0;
  return tests
    .toSorted((a, b) => worth(b) - worth(a))
    .filter(({ ms }, at) => {
      if (at > 0 && spent + ms > budget) return false;
      spent += ms;
      return true;
    });
}

/** Puts together what is in one file, which is loaded once. */
function planOf(tests) {
  const plan = new Map();
  for (const { file, index } of tests) plan.set(file, [...(plan.get(file) ?? []), index]);
  return [...plan].map(([file, indices]) => ({ file, indices }));
}

/** A worker that answers one question at a time. */
class Runner {
  #worker = fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), {
    // A loop without an end that keeps what it makes is to run out of memory soon.
    execArgv: ['--max-old-space-size=1024'],
    // Tests print how many vectors they ran.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

  async run(question) {
    return new Promise((resolve) => {
      const endless = () => resolve({ failed: null, endless: true });
      // Each test says that it has ended, so that a busy machine isn't taken for a test without an end.
      let tooLong = setTimeout(endless, patience);
      this.#worker.once('exit', endless);
      this.#worker.on('message', (answer) => {
        clearTimeout(tooLong);
        if (answer.isWorking) {
          tooLong = setTimeout(endless, patience);
          return;
        }
        this.#worker.removeAllListeners();
        resolve(answer);
      });
      this.#worker.send(question);
    });
  }

  renewed() {
    this.stop();
    return new Runner();
  }

  stop() {
    this.#worker.removeAllListeners();
    this.#worker.kill('SIGKILL');
  }
}

/** Says whether a test is of the file that SPEC.md names for a check, and has its ID in the title. */
function isOfCheck({ title, file }, id) {
  const named = testsOfChecks.get(id);
  return named !== undefined && title.includes(id) && file.endsWith(`/${builtName(named)}`);
}

/** Says of each check whether a test of its own fails without it, and which of SPEC.md the code doesn't make so that it can be left out. */
function checksReport(results, mutants) {
  const notMissed = results.filter(({ fate }) => fate !== 'killed' && fate !== 'endless');
  const made = new Set(mutants.map(({ name }) => checkOf(name)).filter((id) => id !== null));
  const lines = [
    ...notMissed.map(({ name, line }) => `${checkOf(name)} is not missed: ${name} (line ${line})`),
    ...[...testsOfChecks.keys()].filter((id) => !made.has(id)).map((id) => `${id} is left out nowhere`),
    ...[...made].filter((id) => !testsOfChecks.has(id)).map((id) => `${id} is not in SPEC.md`),
  ];
  if (lines.length > 0) process.exitCode = 1;
  const ids = new Set(results.map(({ name }) => checkOf(name)));
  lines.push(`${ids.size} checks in ${results.length} places, ${notMissed.length} of them not missed`);
  return `${lines.join('\n')}\n`;
}

function report(results) {
  const lines = [];
  for (const folder of [...folders, '']) {
    const some = results.filter(({ name }) => name.startsWith(folder));
    const alive = some.filter(({ fate }) => fate === 'survived' || fate === 'not reached');
    const killed = some.length - alive.length;
    const share = some.length === 0 ? 100 : (100 * killed) / some.length;
    lines.push(`${(folder || 'all').padEnd(10)} ${killed} of ${some.length} killed, ${share.toFixed(1)} %`);
  }
  const alive = results.filter(({ fate }) => fate === 'survived' || fate === 'not reached');
  lines.push('', ...alive.map(({ name, line, fate }) => `${fate}: ${name} (line ${line})`));
  return `${lines.join('\n')}\n`;
}

if (values.help) process.stdout.write(usage);
else await main();
