// npm test and npm run test:all: step by step, with everything worth knowing at the end, in one place.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { missingServers } from '../../relay/test/servers/binaries.mjs';
import { chromiumPath } from '../e2e/browser.mjs';
import { firefoxPath } from '../firefox/program.mjs';
import { inCI } from './inCI.mjs';
import { leftOut } from './leftOut.mjs';
import { ofPlaywright, ofVitest, runs } from './projects.mjs';
import { summary, testsOfPlaywright } from './summary.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'sinetti-tests-'));
const unitReport = path.join(folder, 'unit.json');
const e2eReport = path.join(folder, 'e2e.json');

const which = process.argv[2] ?? 'quick';
const projects = runs[which];
if (projects === undefined) throw new Error(`no such run: ${which}`);

const hasBrowser = (name) => name !== 'firefox' || firefoxPath !== undefined || inCI;
const e2eProjects = projects.e2e.filter(hasBrowser);

const isBuilt = () => existsSync('dist/app/index.html') && existsSync('relay/dist/src/server.js');
// In CI the commit is the seed of what is drawn: each commit plays something else, and the same again when it is run again.
const commit = () => spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout?.trim();
const seed = process.env.SINETTI_TEST_SEED ?? (inCI ? commit() : undefined);
const script = (name) => ({ name, command: 'npm', args: ['run', '--silent', name] });
const steps = [
  ...(which === 'quick' ? [script('check')] : []),
  { name: 'vitest', command: 'vitest', args: ['run', ...ofVitest(projects)] },
  // The long tests run on what the quick ones have built.
  ...(which === 'quick' || !isBuilt() ? [script('build')] : []),
  ...(which === 'quick' ? [script('check:size')] : []),
  // In CI the stories are tried without a browser too, and fail.
  ...(chromiumPath !== undefined || inCI
    ? [{ name: 'playwright', command: 'playwright', args: ['test', ...ofPlaywright({ e2e: e2eProjects })] }]
    : []),
];

const done = steps.map(({ name, command, args }) => {
  process.stdout.write(`\n${name}\n`);
  const begun = performance.now();
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      UNIT_REPORT: unitReport,
      E2E_REPORT: e2eReport,
      ...(seed ? { SINETTI_TEST_SEED: seed } : {}),
    },
    shell: process.platform === 'win32',
  });
  return { name, hasFailed: status !== 0, milliseconds: performance.now() - begun };
});

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);
const e2e = read(e2eReport);
const tests = [...(read(unitReport) ?? []), ...(e2e === null ? [] : testsOfPlaywright(e2e))];
const left = leftOut(projects);
// Vitest passes over a project that it doesn't know, and what has no test in it has passed no test.
const expected = [
  ...projects.unit.filter((name) => name !== 'relay-postgres' || missingServers().length === 0),
  ...(steps.some(({ name }) => name === 'playwright') ? e2eProjects : []),
];
const problems = [
  ...expected
    .filter((name) => !tests.some((test) => test.name.startsWith(`${name} `)))
    .map((name) => `no test of ${name} ran`),
  ...tests.filter(({ state }) => state === 'skipped').map(({ name }) => `skipped: ${name}`),
];
process.stdout.write(summary({ tests, steps: done, leftOut: left, problems }));
rmSync(folder, { recursive: true });
const hasFailed =
  problems.length > 0 ||
  done.some((step) => step.hasFailed) ||
  tests.some(({ state }) => state !== 'passed' && state !== 'skipped');
process.exitCode = hasFailed ? 1 : 0;
