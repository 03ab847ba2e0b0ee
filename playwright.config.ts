import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './tests/e2e/browser.mjs';

const inCI = process.env.CI === 'true';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  // Each test starts a relay of its own; two cores carry two browsers, not four.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  // As in vitest.config.ts: a second try in CI, told of by name.
  retries: inCI ? 1 : 0,
  reporter: process.env.E2E_REPORT
    ? [['list'], ['json', { outputFile: process.env.E2E_REPORT }]]
    : [['list']],
  snapshotPathTemplate: '{testDir}/screens/{arg}{ext}',
  use: {
    actionTimeout: 15_000,
    launchOptions: {
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: chromiumArgs,
    },
    // Recording each step takes a fifth of the time: in CI only when something has failed before.
    trace: inCI ? 'on-first-retry' : 'retain-on-failure',
  },
});
