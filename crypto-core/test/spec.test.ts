/** Checks the tables of SPEC.md, which say where everything is and what proves it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../src/codec/limits.ts';
import { CHECKED_FOLDERS, checkOf, mutate } from './mutate/mutants.mjs';
import { listedChecks, rowsUnder, specText } from './specRows.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const ID = /\b(?:FRAME|STRUCT|CRED|LEAF|KP|PROP|PSK|EXT|COMMIT|COMP|PATH|INFO|TREE|WELCOME)-\d{2}\b/g;
/** Matches anything that looks like an ID, so that a new family of checks can't be forgotten above. */
const ANY_ID = /\b[A-Z]{2,}-\d{2}\b/g;

function filesBelow(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
}

function textOf(file: string): string {
  return readFileSync(`${root}${file}`, 'utf8');
}

function idsIn(files: readonly string[], pattern = ID): string[] {
  const ids = new Set(files.flatMap((file) => textOf(file).match(pattern) ?? []));
  return [...ids].toSorted();
}

const checks = listedChecks();
const thisFile = 'test/spec.test.ts';

describe('SPEC.md', () => {
  it('lists the checks that the code makes, each once', () => {
    const listed = checks.map(({ id }) => id);
    expect(listed.toSorted()).toEqual(idsIn(filesBelow('src')));
    expect(new Set(listed).size).toBe(listed.length);
    expect(idsIn(filesBelow('src'), ANY_ID)).toEqual(idsIn(filesBelow('src')));
  });

  it('lists the checks that the tests prove', () => {
    const tests = filesBelow('test').filter((file) => file.endsWith('.test.ts') && file !== thisFile);
    expect(idsIn(tests)).toEqual(checks.map(({ id }) => id).toSorted());
  });

  it.each(checks)(
    'names the file that makes $id, and a test with it in a title',
    ({ id, section, file, test }) => {
      expect(section).toMatch(/^\d+(\.\d+)*(, \d+(\.\d+)*)*$/);
      // The ID starts a detail, or is the argument of the function that puts it there.
      expect(textOf(file)).toMatch(new RegExp(`["'\`]${id}(: |')`));
      // A title is a string before a function, for `it` and for `it.each` over anything.
      const titles = [...textOf(test).matchAll(/\(\s*'([^'\n]*)',\s*\(/g)].map(([, title]) => title);
      expect(titles.filter((title) => title?.includes(id))).not.toEqual([]);
    },
  );

  it('says in how many places the checks are, all of which npm run mutate -- --checks leaves out', () => {
    const places = CHECKED_FOLDERS.flatMap((folder) => filesBelow(`src/${folder}`)).flatMap((file) =>
      mutate(file, textOf(file)).mutants.flatMap(({ name }) => checkOf(name) ?? []),
    );
    expect([...new Set(places)].toSorted()).toEqual(checks.map(({ id }) => id).toSorted());
    expect(specText()).toContain(`all ${checks.length} of them in ${places.length} places`);
  });

  it('gives the limits that there are by default', () => {
    const listed = rowsUnder('Limits').map(([name, most = '']) => [name, Number(most.replaceAll(',', ''))]);
    expect(listed).toEqual(Object.entries(DEFAULT_LIMITS));
  });

  it('names files that exist, for every part of the RFC', () => {
    const rows = rowsUnder('Where it is');
    expect(rows.length).toBeGreaterThan(20);
    const named = rows.flatMap(([, files = '', tests = '']) => [...files.split(', '), ...tests.split(', ')]);
    expect(named.filter((name) => !existsSync(`${root}${name}`))).toEqual([]);
  });
});
