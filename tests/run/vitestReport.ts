import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** A test of either runner, as summary.mjs reads it. */
export interface ReportedTest {
  /** The project, the file and the titles down to the test. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly milliseconds: number;
  /** Passed, but only when tried again. */
  readonly isFlaky: boolean;
}

/** Writes down every test that ran, for the summary of the whole run. */
export class VitestReport implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
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
      // A file that could not be read holds no test, and must not pass for that.
      const isBroken = module.errors().length > 0;
      return isBroken ? [...own, { name: place, state: 'failed', milliseconds: 0, isFlaky: false }] : own;
    });
    writeFileSync(this.#file, JSON.stringify(tests));
  }
}
