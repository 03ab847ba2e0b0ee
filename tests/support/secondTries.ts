import type { Reporter, TestModule } from 'vitest/node';

/** Names every test that passed only when it was tried again, so that its race is looked for and not forgotten. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.project.name} ${module.relativeModuleId} > ${test.fullName}\n`),
    );
    if (flaky.length > 0) process.stdout.write(`Passed only when tried again:\n${flaky.join('')}`);
  }
}
