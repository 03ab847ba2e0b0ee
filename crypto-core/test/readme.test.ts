/** Checks that the README's API is that of the source, and that each function of it says what it does. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf, exportsOf, withApi } from '../readme/api.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const doors = ['', 'account/', 'content/', 'vectors/'];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sinetti-api-'));
  const tsc = path.join(root, '../node_modules/typescript/bin/tsc');
  const options = ['-p', path.join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', folder];
  execFileSync(process.execPath, [tsc, ...options]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('README.md', () => {
  it('has the API that the source has (npm run readme -w @sinetti/crypto-core writes it)', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    expect(withApi(readme, folder)).toBe(readme);
    expect(apiOf(folder)).toContain('#### createGroup\n');
  });

  it('has a docstring for each function', () => {
    const entries = doors.flatMap((door) => exportsOf(folder, door));
    expect(entries.length).toBeGreaterThan(150);
    const silent = entries.filter(({ kind, prose }) => kind === 'function' && prose === '');
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
