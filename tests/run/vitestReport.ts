import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** A test of either runner, as summary.mjs reads it. */
export interface ReportedTest {
  /** The project, the file and the titles down to the test. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly milliseconds: number;
  /** Passed, but only when tried again. */
  readonly isFlaky: boolean;
}

const failure = (name: string): ReportedTest => ({ name, state: 'failed', milliseconds: 0, isFlaky: false });

/** Writes down every test that ran, for the summary of the whole run. */
export class VitestReport implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[] = []): void {
    const tests = modules.flatMap((module) => {
      const place = `${module.project.name} ${module.relativeModuleId}`;
      const own = [...module.children.allTests()].map((test): ReportedTest => {
        const { state } = test.result();
        return {
          name: `${place} › ${test.fullName}`,
          state: state === 'pending' ? 'failed' : state,
          milliseconds: test.diagnostic()?.duration ?? 0,
          isFlaky: test.diagnostic()?.flaky === true,
        };
      });
      // A file that could not be read, or a hook that failed, is no test and must not pass for that.
      const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
      const broken = suites.map((suite) => failure(`${place} › ${suite.fullName}`));
      return [...own, ...broken, ...(module.errors().length > 0 ? [failure(place)] : [])];
    });
    const outside = unhandled.map(({ message }) => failure(`vitest › ${message.split('\n')[0]}`));
    writeFileSync(this.#file, JSON.stringify([...tests, ...outside]));
  }
}
