/** Checks the tables of SPEC.md, which say where everything is and what proves it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

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

function rowsUnder(heading: string): string[][] {
  const section = textOf('SPEC.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

interface Check {
  readonly section: string;
  readonly id: string;
  readonly file: string;
  readonly test: string;
}

const checks = rowsUnder('Checks').map(
  ([section = '', id = '', , file = '', test = '']): Check => ({ section, id, file, test }),
);
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

  it('names files that exist, for every part of the RFC', () => {
    const rows = rowsUnder('Where it is');
    expect(rows.length).toBeGreaterThan(20);
    const named = rows.flatMap(([, files = '', tests = '']) => [...files.split(', '), ...tests.split(', ')]);
    expect(named.filter((name) => !existsSync(`${root}${name}`))).toEqual([]);
  });
});
