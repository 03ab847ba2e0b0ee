import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

/** Where vitest.config.ts and the configurations of Playwright look for tests. */
const places = [
  /^crypto-core\/test\/.+\.test\.ts$/,
  /^relay\/test\/.+\.test\.ts$/,
  /^tests\/unit\/workers\/.+\.test\.ts$/,
  /^tests\/unit\/src\/.+\.test\.tsx?$/,
  /^tests\/(?:integration|docs|doors|run)\/.+\.test\.ts$/,
  /^tests\/(?:e2e|pictures)\/[^/]+\.spec\.ts$/,
];

it('every test file is where a runner looks for it', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const tests = listed
    .split('\n')
    .filter((file) => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(file) && existsSync(path.join(root, file)));
  expect(tests.length).toBeGreaterThan(200);
  expect(tests.filter((file) => !places.some((place) => place.test(file)))).toEqual([]);
});
