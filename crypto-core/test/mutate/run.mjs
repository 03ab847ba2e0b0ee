// npm run mutate: how many small faults in the source the tests of crypto-core notice.

import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { mutate } from './mutants.mjs';

const usage = `npm run mutate -- [options]
  --only <text>   mutants whose names have this text; may be given again
  --json <file>   also write every mutant there, with the tests that notice it
  --sample <n>    every nth of them
  --again <file>  those that survived, by a file that --json wrote
  --thorough      try a mutant on every test that reaches it, however long they take
  --checks        leave out the checks of SPEC.md only, and see that tests with their IDs in the title notice it
  --all           run all tests for each mutant, not only until the first fails
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    again: { type: 'string' },
    sample: { type: 'string', default: '1' },
    json: { type: 'string' },
    all: { type: 'boolean', default: false },
    checks: { type: 'boolean', default: false },
    thorough: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const folders = ['codec', 'schedule', 'framing', 'tree', 'group', ...(values.checks ? ['structs'] : [])];
/** Leaves out tests that take long and notice nothing that others don't, and those about other files of the repository. */
const left =
  /^(account|hostile|mutate|types)|scenario\/large|stability|(spec|readme|published)\.test|kat\/(run|vectors|wycheproof|hpke)\.test/;
/** Milliseconds after which a mutant is taken to run for ever. */
const patience = 60_000;
/** Milliseconds of processor time for one mutant: who isn't noticed within it is taken to survive. */
const budget = values.thorough ? Infinity : 6_000;
/** Mutants after which a worker starts anew, because modules are never unloaded. */
const perWorker = 60;

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const tests = fileURLToPath(new URL('../', import.meta.url));
const shim = new URL('shim.mjs', import.meta.url);

async function main() {
  const folder = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.mutate-', import.meta.url)));
  try {
    const { mutants, files } = await bundle(folder);
    const results = await runAll(mutants, files);
    process.stdout.write(values.checks ? checksReport(results) : report(results));
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
  const names = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.test.ts') && !left.test(name),
  );
  const files = [];
  for (const name of names) {
    const file = `${name.replaceAll('/', '-')}.mjs`;
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

async function runAll(mutants, files) {
  let worker = new Runner();
  const coverage = new Map();
  const duration = new Map();
  for (const file of files) {
    const { failed, reached, ms } = await worker.run(null, [file], true);
    if (failed.length > 0) throw new Error(`fails without a mutant: ${JSON.stringify(failed)}`);
    duration.set(file, ms);
    for (const name of reached) coverage.set(name, [...(coverage.get(name) ?? []), file]);
  }
  const earlier = values.again === undefined ? [] : JSON.parse(await readFile(values.again, 'utf8'));
  const again = new Set(earlier.filter(({ fate }) => fate === 'survived').map(({ name }) => name));
  const chosen = mutants
    .filter(({ name }) => values.again === undefined || again.has(name))
    .filter(({ name }) => values.only.every((text) => name.includes(text)))
    .filter(({ name }) => !values.checks || checkOf(name) !== null)
    .filter((_, index) => index % Number(values.sample) === 0);
  const results = [];
  const kills = new Map();
  const worth = (file) => (1 + (kills.get(file) ?? 0)) / (20 + duration.get(file));
  for (const [index, { name, line }] of chosen.entries()) {
    // Tests that have noticed much in little time come first.
    const covering = withinBudget(
      (coverage.get(name) ?? []).toSorted((a, b) => worth(b) - worth(a)),
      duration,
    );
    if (index % perWorker === 0 && index > 0) worker = worker.renewed();
    const { failed, endless } = await worker.run(name, covering, values.all || values.checks);
    if (endless) worker = worker.renewed();
    if (failed.length > 0) kills.set(failed[0].file, (kills.get(failed[0].file) ?? 0) + 1);
    const fate = endless
      ? 'endless'
      : failed.length > 0
        ? 'killed'
        : covering.length > 0
          ? 'survived'
          : 'not reached';
    results.push({ name, line, fate, noticedBy: failed.map(({ title }) => title) });
    if (fate !== 'killed')
      process.stderr.write(`${index + 1}/${chosen.length} ${fate}: ${name} (line ${line})\n`);
  }
  worker.stop();
  return results;
}

/** The first of the files that together take no longer than the budget, and at least one. */
function withinBudget(files, duration) {
  let spent = 0;
  return files.filter((file, at) => {
    spent += duration.get(file);
    return at === 0 || spent <= budget;
  });
}

/** A worker that answers one question at a time. */
class Runner {
  #worker = fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), {
    // Tests print how many vectors they ran.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

  async run(mutant, files, all) {
    return new Promise((resolve) => {
      // Without a mutant everything ends, however busy the machine is.
      const most = mutant === null ? 10 * patience : patience;
      const tooLong = setTimeout(() => resolve({ mutant, failed: [], endless: true }), most);
      // A loop without an end that keeps what it makes runs out of memory first.
      this.#worker.once('exit', () => resolve({ mutant, failed: [], endless: true }));
      this.#worker.once('message', (answer) => {
        clearTimeout(tooLong);
        this.#worker.removeAllListeners('exit');
        resolve(answer);
      });
      this.#worker.send({ mutant, files, all });
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

/** The ID of the check that a mutant leaves out, or null. */
function checkOf(name) {
  return /\[([A-Z]+-\d{2})\]/.exec(name)?.[1] ?? null;
}

/** Says of each check whether a test fails without it whose title names it. */
function checksReport(results) {
  const lines = results.flatMap(({ name, line, noticedBy }) => {
    const id = checkOf(name);
    return noticedBy.some((title) => title.includes(id))
      ? []
      : [`${id} is not missed: ${name} (line ${line})`];
  });
  const ids = new Set(results.map(({ name }) => checkOf(name)));
  if (lines.length > 0) process.exitCode = 1;
  return `${[...lines, `${ids.size} checks in ${results.length} places, ${lines.length} of them not missed`].join('\n')}\n`;
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
