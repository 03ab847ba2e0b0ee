import { expect, it } from 'vitest';
import { projectFiles } from '../support/projectFiles.ts';

/** Folders in which vitest.config.ts and the configurations of Playwright look for tests. */
const places = [
  /^crypto-core\/test\/.+\.test\.ts$/,
  /^relay\/test\/.+\.test\.ts$/,
  /^verify\/test\/.+\.test\.ts$/,
  /^tests\/unit\/workers\/.+\.test\.ts$/,
  /^tests\/unit\/src\/.+\.test\.tsx?$/,
  /^tests\/(?:integration|docs|doors|package|run|simulation)\/.+\.test\.ts$/,
  /^tests\/(?:attacks|e2e|firefox|pictures)\/[^/]+\.spec\.ts$/,
];

it('every test file is where a runner looks for it', () => {
  const tests = projectFiles().filter((file) => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(file));
  expect(tests.length).toBeGreaterThan(200);
  expect(tests.filter((file) => !places.some((place) => place.test(file)))).toEqual([]);
});
