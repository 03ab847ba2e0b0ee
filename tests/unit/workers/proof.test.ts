import { readFileSync } from 'node:fs';
import { IDBFactory } from 'fake-indexeddb';
import { describe, expect, it } from 'vitest';
import { createProofApi, isProof, sweepProofs } from '#workers/entry/proof.ts';
import { Browser, Clock, cheapPasswordKeys } from './support/browser.ts';
import { ALICE } from './support/device.ts';
import { answer } from './support/storage.ts';

const place = 'sinetti-proof:one';
const selected = JSON.parse(
  readFileSync(new URL('../../../src/services/proof/vectors.json', import.meta.url), 'utf8'),
) as { format: string; cases: Record<string, unknown>[] }[];

/** An instance in a browser that has an account, too. */
function openProof(browser = new Browser('proof', new Clock())) {
  const api = createProofApi(
    {
      env: { random: (length) => crypto.getRandomValues(new Uint8Array(length)), now: () => Date.now() },
      indexedDB: browser.indexedDB,
      locks: browser.locks,
      subtle: crypto.subtle,
      monotonic: () => performance.now(),
      storage: { persisted: async () => true },
      DANGEROUS_passwordKeysForTesting: cheapPasswordKeys,
    },
    place,
  );
  return { api, browser };
}

const databasesOf = async ({ indexedDB }: Browser) =>
  (await indexedDB.databases()).map(({ name }) => name ?? '');

describe('an instance that proves things', () => {
  it('is one by the name of its thread alone', () => {
    expect(['sinetti-crypto', '', 'x sinetti-proof:one', place].map(isProof)).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('runs published vectors, and names what comes out otherwise', async () => {
    const { api } = openProof();
    const { cases } = selected.find(({ format }) => format === 'x25519') ?? { cases: [] };
    expect(await api.runVectors('x25519', cases)).toEqual(cases.map(() => null));
    const [first] = cases;
    const altered = {
      ...first,
      shared: String(first?.['shared']).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    };
    expect(await api.runVectors('x25519', [altered, first])).toEqual(['shared', null]);
    await expect(api.runVectors('constructor', [])).rejects.toMatchObject({ code: 'usage' });
    await expect(
      api.runVectors(
        'x25519',
        Array.from({ length: 201 }, () => first),
      ),
    ).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('keeps its storage apart from the account of the browser, and is asked for no password', async () => {
    const { api, browser } = openProof();
    const account = browser.tab();
    for (const each of [account, api]) {
      const { passwordParams } = await each.beginSignUp('correct horse');
      await each.openVault(ALICE, { ...(await each.createVault(ALICE)), version: 1 });
      await each.openDevice();
      browser.typist.knows('correct horse');
      if (each !== api) continue;
      const asked = api.confirm(
        { kind: 'delete-account', target: 'a', id: null },
        { username: 'a', passwordParams },
      );
      await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    }
    const names = await databasesOf(browser);
    const apart = names.filter((name) => name.startsWith(place));
    expect(apart.map((name) => name.slice(place.length)).toSorted()).toEqual(
      names.filter((name) => !name.startsWith(place)).toSorted(),
    );
    expect(await account.openDevice()).not.toEqual(await api.openDevice());
  });

  it('deletes what instances have left that are gone, and nothing else', async () => {
    const factory = new IDBFactory();
    const own = `${place}:sinetti`;
    for (const name of ['sinetti', 'sinetti-proof:gone:sinetti', 'sinetti-proof:lives:sinetti', own]) {
      (await answer<IDBDatabase>(factory.open(name, 1))).close();
    }
    const locks = {
      request: () => new Promise(() => undefined),
      query: async () => ({ held: [{ name: 'sinetti-proof:lives' }], pending: [] }),
    };
    await sweepProofs(place, factory, locks);
    const left = async () => (await factory.databases()).map(({ name = '' }) => name).toSorted();
    await expect.poll(left).toEqual(['sinetti', 'sinetti-proof:lives:sinetti', own].toSorted());
  });
});
