import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { productionPackages } from '../../build/release/packages.mjs';

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

describe('the packages of a release', () => {
  const packages = productionPackages(read('package-lock.json'), 'relay', existsSync);
  const names = packages.map((folder) => folder.split('node_modules/').at(-1));

  it('are those that the relay names, and what these need', () => {
    const { dependencies } = read('relay/package.json');
    for (const name of Object.keys(dependencies)) expect(names).toContain(name);
    // Each finds what it needs among them.
    for (const folder of packages) {
      const needed = Object.keys(read(`${folder}/package.json`).dependencies ?? {});
      const missing = needed.filter((name) => !names.includes(name) && !name.startsWith('@types/'));
      expect([folder, missing]).toEqual([folder, []]);
    }
  });

  it('are none of the client, of the build and of the tests', () => {
    const { dependencies, devDependencies } = read('package.json');
    const own = new Set(Object.keys(read('relay/package.json').dependencies));
    const others = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !own.has(name));
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter((name) => names.includes(name))).toEqual([]);
  });

  it('are found as Node finds them, and one that is missing stops the release', () => {
    const lock = {
      packages: {
        relay: { dependencies: { a: '1', b: '1' }, optionalDependencies: { c: '1' } },
        'node_modules/a': { dependencies: { b: '2' } },
        'node_modules/a/node_modules/b': {},
        'node_modules/b': {},
        'node_modules/c': {},
        'node_modules/d': {},
      },
    };
    const installed = (...missing: string[]) =>
      productionPackages(lock, 'relay', (at) => !missing.includes(at));
    expect(installed('node_modules/c')).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/b',
    ]);
    expect(installed()).toContain('node_modules/c');
    expect(() => installed('node_modules/a')).toThrow('a, which relay needs, is not installed.');
  });
});
