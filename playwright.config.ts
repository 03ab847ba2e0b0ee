import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './tests/e2e/browser.mjs';
import { firefoxPath } from './tests/firefox/program.mjs';
import { inCI } from './tests/run/inCI.mjs';
import { leftToOthers } from './tests/run/share.mjs';

/**
 * For `npm run test:all`, because it takes minutes: tours of every screen in every size, theme and language, and each
 * sentence of the specification with whatever can fail: a killed tab, a silent server, a new version among it.
 */
const long =
  /(?:attention|banners|calls|checkedRelease|emails|keyboard|keyRenewal|languages|lists|longFilm|longLists|newMessages|profile|resilience|screens|signIn|signUp|specification|storage|toasts|transport|updates|zoom)\.spec\.ts$/;

/** The files in a folder that this run leaves to other parts. */
const others = (folder: string, isAsked?: (name: string) => boolean) =>
  leftToOthers(folder, isAsked).map((name) => `**/${name}`);

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  projects: [
    { name: 'stories', testIgnore: long },
    {
      name: 'long',
      testMatch: long,
      testIgnore: others('tests/e2e', (name) => long.test(name)),
    },
    { name: 'attacks', testDir: 'tests/attacks', testIgnore: others('tests/attacks') },
    // In CI what needs it runs without one too, and fails.
    ...(firefoxPath === undefined && !inCI
      ? []
      : [{ name: 'firefox', testDir: 'tests/firefox', testIgnore: others('tests/firefox') }]),
  ],
  fullyParallel: true,
  // A story waits for its relay and its browsers half of the time.
  workers: 2,
  // This ends what hangs, and nothing else on the busiest machine.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  forbidOnly: true,
  // As in vitest.config.ts: a second try in CI, told of by name.
  retries: inCI ? 1 : 0,
  reporter: process.env.E2E_REPORT
    ? [['list'], ['json', { outputFile: process.env.E2E_REPORT }]]
    : [['list']],
  snapshotPathTemplate: '{testDir}/screens/{arg}{ext}',
  use: {
    actionTimeout: 60_000,
    launchOptions: {
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: chromiumArgs,
    },
    // Recording each step takes a fifth of the time: in CI only when something has failed before.
    trace: inCI ? 'on-first-retry' : 'retain-on-failure',
  },
});
