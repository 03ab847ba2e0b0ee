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
/** Says where the RFC or the extensions draft has what a function does. */
const SECTION = /RFC 9420 (?:[^.()]*\()?sections? \d|extensions draft[^.]*section \d/;
/** Functions of the first door that throw nothing, whatever they are given. */
const THROWING_NOTHING = [
  'concat',
  'equalBytes',
  'toHex',
  'wipe',
  'paddedLength',
  'applyingAppData',
  'createSignatureKeyPair',
  'encodeKeyPackageBundle',
  'greaseExtension',
  'verifyingSelfRemoves',
  'endGroup',
  'groupView',
  'encodeStoredProposal',
  'pathRecipients',
  'ratchetTreeNodes',
  'ratchetTreeRoot',
  'toLeafIndex',
  'ready',
];
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
    const silent = entries.filter(({ kind, sentences }) => kind === 'function' && sentences === '');
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(entries.filter(({ prose }) => /(^|\s|\{)@/.test(prose)).map(({ name }) => name)).toEqual([]);
  });

  it('says of each function of MLS in which section it is, and which errors it throws', () => {
    const functions = exportsOf(folder, '').filter(({ kind }) => kind === 'function');
    expect(
      functions.filter(({ prose }) => !SECTION.test(prose.replaceAll('\n', ' '))).map(({ name }) => name),
    ).toEqual([]);
    const withoutErrors = functions.filter(({ hasErrors }) => !hasErrors).map(({ name }) => name);
    expect(withoutErrors.toSorted()).toEqual(THROWING_NOTHING.toSorted());
  });

  it('names the doors that the package has', () => {
    const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    const names = Object.keys(exports).map((door) => `@sinetti/crypto-core${door.slice(1)}`);
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const [, count, told = ''] = /\n(\w+) doors: ([\s\S]*?)\n\n/.exec(readme) ?? [];
    expect(count).toBe(['No', 'One', 'Two', 'Three', 'Four', 'Five'][names.length]);
    expect([...told.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(names);
    expect([...apiOf(folder).matchAll(/^### (\S+)$/gm)].map(([, name]) => name)).toEqual(names);
  });
});
