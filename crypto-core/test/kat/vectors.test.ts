/** Checks that the carried vectors are the published ones, by their hashes and by how they were cut. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { carried, cut, cutOrigins, differences, readOrigins, readSums, sha256 } from './origins.mjs';
import { readVectors } from './vectors.ts';

const scratch = mkdtempSync(`${tmpdir()}/vectors-`);
afterAll(() => rmSync(scratch, { recursive: true }));

const origins = readOrigins(carried);
const sums = readSums(carried);

describe('the carried vectors', () => {
  it('are the very files that SHA256SUMS and origins.json list', () => {
    const files = readdirSync(carried, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(carried.length + 1));
    const own = ['SHA256SUMS', 'SOURCES.md', 'origins.json'];
    expect(files.toSorted()).toEqual([...own, ...sums.keys()].toSorted());
    expect([...origins.keys()].toSorted()).toEqual([...sums.keys()].toSorted());
  });

  it.each([...origins])('%s has its listed sum and holds only the cases to be kept', (name, { keep }) => {
    const bytes = readFileSync(`${carried}/${name}`);
    expect(sha256(bytes)).toBe(sums.get(name));
    expect(cut(bytes, keep).equals(bytes)).toBe(true);
  });

  it.each([...origins])(
    '%s is the published file, or what origins.json says was cut from it',
    (name, origin) => {
      expect(sums.get(name)).toBe(origin.keep === undefined ? origin.sum : origin.cutSum);
    },
  );

  it('are each read by a test', () => {
    const folder = import.meta.dirname;
    const tests = readdirSync(folder).filter(
      (name) => name.endsWith('.test.ts') && name !== 'vectors.test.ts',
    );
    const text = tests.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n');
    const vectors = [...sums.keys()].filter((name) => name.endsWith('.json'));
    const named = (file: string) => file.replace(/^.*\//, '').replace(/(?:_test)?\.json$/, '');
    expect(vectors.filter((file) => !new RegExp(`['/]${named(file)}(?:['_]|\\.json)`).test(text))).toEqual(
      [],
    );
  });

  it('are named in SOURCES.md, with the repository and commit of each', () => {
    const sources = readFileSync(`${carried}/SOURCES.md`, 'utf8');
    for (const { place } of origins.values()) {
      const [owner, name, commit] = place.split('/');
      expect(sources).toContain(`| ${owner}/${name}, `);
      expect(sources).toContain(`| ${commit} |`);
    }
  });

  it('are refused with the name of the file and both sums when a byte of it is changed', () => {
    const name = 'mls/welcome.json';
    cpSync(carried, scratch, { recursive: true });
    const bytes = readFileSync(`${scratch}/${name}`);
    expect(() => readVectors(name, scratch)).not.toThrow();
    writeFileSync(`${scratch}/${name}`, bytes.toString().replace('"cipher_suite":3', '"cipher_suite":1'));
    const found = sha256(readFileSync(`${scratch}/${name}`));
    expect(() => readVectors(name, scratch)).toThrow(
      `${scratch}/${name}: SHA-256 is ${found}, SHA256SUMS says ${sums.get(name)}`,
    );
    writeFileSync(`${scratch}/mls/unlisted.json`, '[]');
    expect(() => readVectors('mls/unlisted.json', scratch)).toThrow('SHA256SUMS says nothing of it');
  });
});

describe('comparing carried files with their origins', () => {
  const folder = `${scratch}/compared`;
  const origin = Buffer.from('[{"cipher_suite": 1, "of": "another"}, {"cipher_suite": 3, "of": "ours"}]');
  const readOrigin = (place: string): Buffer => {
    expect(place).toBe('owner/name/commit/in/a.json');
    return origin;
  };

  function pin(file: { sha256: string; cases: number }): void {
    mkdirSync(`${folder}/made`, { recursive: true });
    const source = { folder: 'made', repository: 'owner/name', commit: 'commit', path: 'in/' };
    const pinned = [{ ...source, keep: { cipher_suite: 3 }, files: { 'a.json': file } }];
    writeFileSync(`${folder}/origins.json`, JSON.stringify(pinned));
  }

  it('names the files that are carried with other bytes, or not at all', async () => {
    pin({ sha256: sha256(origin), cases: 2 });
    const { files, problems } = await cutOrigins(folder, readOrigin);
    const kept = '[{"cipher_suite":3,"of":"ours"}]';
    expect(problems).toEqual([]);
    expect(files.get('made/a.json')?.toString()).toBe(kept);
    expect(differences(folder, files)).toEqual(['made/a.json', 'SHA256SUMS']);
    writeFileSync(`${folder}/made/a.json`, kept);
    writeFileSync(`${folder}/SHA256SUMS`, `${sha256(Buffer.from(kept))}  made/a.json\n`);
    expect(differences(folder, files)).toEqual([]);
    writeFileSync(`${folder}/made/a.json`, `${kept}\n`);
    expect(differences(folder, files)).toEqual(['made/a.json']);
  });

  it('cuts nothing from a file that is not the pinned one', async () => {
    pin({ sha256: sha256(Buffer.from('another')), cases: 2 });
    const other = await cutOrigins(folder, readOrigin);
    expect(other.problems).toEqual([expect.stringContaining(`in/a.json: SHA-256 is ${sha256(origin)}`)]);
    expect([...other.files.keys()]).toEqual(['SHA256SUMS']);
    pin({ sha256: sha256(origin), cases: 7 });
    const { problems } = await cutOrigins(folder, readOrigin);
    expect(problems).toEqual([expect.stringContaining('does not hold the 7 cases')]);
  });
});
