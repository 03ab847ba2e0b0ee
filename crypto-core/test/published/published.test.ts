/** Our own vectors, for others: `npm run vectors:publish` writes them; the commit that changes them says so. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ready } from '../../src/index.ts';
import { follow, type Story } from './extensionProposals.ts';
import { generate } from './generate.ts';

const inFormats = ['crypto-basics', 'key-schedule', 'secret-tree', 'welcome', 'passive-client'];
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

beforeAll(ready);

describe('the published vectors', () => {
  it('are what the generator makes, byte for byte, each time', () => {
    const made = Object.entries(generate()).map(([name, cases]) => [name, JSON.stringify(cases)]);
    const kept = made.map(([name = '']) => [
      name,
      JSON.stringify(JSON.parse(readFileSync(fileOf(name), 'utf8'))),
    ]);
    expect(made).toEqual(kept);
    expect(made).toHaveLength(8);
  });

  it('are what npm run vectors:publish writes', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sinetti-vectors-'));
    try {
      const program = fileURLToPath(new URL('write.mjs', import.meta.url));
      const { status } = spawnSync(process.execPath, [program, '--to', folder], { encoding: 'utf8' });
      expect(status).toBe(0);
      const names = readdirSync(folder);
      expect(names).toHaveLength(8);
      for (const name of names) {
        expect(readFileSync(path.join(folder, name), 'utf8')).toBe(readFileSync(fileOf(name), 'utf8'));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('pass where they are in the formats of the working group', () => {
    const files = inFormats.map((name) => fileOf(`${name}.json`));
    const program = fileURLToPath(new URL('../kat/run.mjs', import.meta.url));
    const { stdout } = spawnSync(process.execPath, [program, ...files], { encoding: 'utf8' });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('5 passed, 0 failed');
  });

  it('name the KEM of each case that has a suite', () => {
    const cases = Object.values(generate()).flatMap((all): object[] => (Array.isArray(all) ? all : [all]));
    const withSuite = cases.filter((one) => 'cipher_suite' in one);
    expect(withSuite.map((one) => ('kem' in one ? one.kem : null))).toEqual(
      withSuite.map((one) =>
        'cipher_suite' in one && one.cipher_suite === 0x0003
          ? 'HPKE 0x0020 (DHKEM(X25519))'
          : 'HPKE 0x647A (X-Wing)',
      ),
    );
    expect(withSuite.length).toBeGreaterThan(8);
  });

  it('lead a client through AppDataUpdates and SelfRemoves to the state that they name', () => {
    const stories = JSON.parse(readFileSync(fileOf('extension-proposals.json'), 'utf8')) as Story[];
    expect(stories.map(({ cipher_suite }) => cipher_suite)).toEqual([0x0003, 0xf04d]);
    for (const story of stories) {
      const reached = story.epochs.map(({ epoch_authenticator, app_data_dictionary }) => ({
        epoch_authenticator,
        app_data_dictionary,
      }));
      expect(follow(story)).toEqual(reached);
      expect(new Set(reached.map(({ app_data_dictionary }) => app_data_dictionary)).size).toBe(4);
    }
  });
});
