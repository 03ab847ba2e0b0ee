// Puts what both runners report into the few lines at the end of a run.
import path from 'node:path';

/** @returns the tests of Playwright's JSON report, as vitestReport.ts has those of Vitest */
export function testsOfPlaywright(report) {
  const states = { expected: 'passed', flaky: 'passed', unexpected: 'failed', skipped: 'skipped' };
  const inSuite = (suite, titles) => [
    ...(suite.suites ?? []).flatMap((inner) => inSuite(inner, [...titles, inner.title])),
    ...(suite.specs ?? []).flatMap(({ title, tests }) =>
      tests.map(({ projectName, results, status }) => ({
        name: [`${projectName} ${titles.join(' › ')}`, title].join(' › '),
        state: states[status] ?? 'failed',
        milliseconds: results.reduce((sum, { duration }) => sum + duration, 0),
        isFlaky: status === 'flaky',
      })),
    ),
  ];
  return [
    // The report names a file by its way from the folder that playwright.config.ts begins with.
    ...report.suites.flatMap((file) => inSuite(file, [path.posix.join('tests/e2e', file.title)])),
    // A file that could not be loaded, or an error outside of any test.
    ...report.errors.map(({ message }) => ({
      name: `playwright › ${message?.split('\n')[0]}`,
      state: 'failed',
      milliseconds: 0,
      isFlaky: false,
    })),
  ];
}

const count = (tests, state) => tests.filter((test) => test.state === state).length;
const number = new Intl.NumberFormat('en');

function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * @param tests of all steps
 * @param steps with their names, milliseconds and whether they failed
 * @param leftOut sentences about what this machine could not run
 * @param problems sentences about what was to run and did not
 */
export function summary({ tests, steps, leftOut, problems }) {
  const slowest = tests.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, 10);
  const flaky = tests.filter(({ isFlaky }) => isFlaky);
  const failed = tests.filter(({ state }) => state === 'failed');
  const list = (title, lines) => (lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]);
  return [
    ...list(
      'The ten slowest',
      slowest.map(({ milliseconds, name }) => `${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${name}`),
    ),
    ...list(
      'Passed only when tried again',
      flaky.map(({ name }) => name),
    ),
    ...list('Left out', leftOut),
    ...list('Failed', [...failed.map(({ name }) => name), ...problems]),
    ...list(
      'Steps',
      steps.map(
        (step) =>
          `${duration(step.milliseconds).padStart(12)}  ${step.name}${step.hasFailed ? ': FAILED' : ''}`,
      ),
    ),
    '',
    `${number.format(count(tests, 'passed'))} passed, ${number.format(failed.length)} failed, ` +
      `${number.format(count(tests, 'skipped'))} skipped, in ${duration(steps.reduce((sum, step) => sum + step.milliseconds, 0))}`,
    '',
  ].join('\n');
}
