import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#workers/codec/limits.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { ALICE, BOB, createWorld, PASSWORD, type TestDevice, type World } from './support/device.ts';
import { answer } from './support/storage.ts';

let world: World;
let alice: TestDevice;

beforeEach(async () => {
  world = createWorld();
  alice = await world.device(ALICE);
});

const names = async (prefix?: string) =>
  (await alice.api.localEntries(prefix)).map(({ name }) => name).toSorted();

describe('the storage of a browser', () => {
  it('is kept where the browser says so', async () => {
    expect(await alice.api.isStorageKept()).toBe(false);
    alice.browser.isStorageKept = true;
    expect(await alice.api.isStorageKept()).toBe(true);
  });
});

describe('the local store', () => {
  it('keeps entries across a reload, replaces and removes them', async () => {
    expect(await alice.api.readLocal('recent')).toBeNull();
    await alice.api.writeLocal('recent', 'one');
    await alice.api.writeLocal('recent', 'two');
    const reloaded = await alice.openTab();
    expect(await reloaded.api.readLocal('recent')).toBe('two');
    await reloaded.api.writeLocal('recent', null);
    expect(await alice.api.readLocal('recent')).toBeNull();
    await alice.api.writeLocal('recent', null);
  });

  it('returns texts as they were written, lone surrogates included', async () => {
    const text = 'a\u0000\ud800b "quoted" \u202e';
    await alice.api.writeLocal('odd', text);
    expect(await alice.api.readLocal('odd')).toBe(text);
    await alice.api.writeLocal('empty', '');
    expect(await alice.api.readLocal('empty')).toBe('');
  });

  it('finds entries by the prefix of their names', async () => {
    await alice.api.writeLocal('draft:1', 'one');
    await alice.api.writeLocal('draft:2', 'two');
    await alice.api.writeLocal('emoji', 'three');
    expect(await names('draft:')).toEqual(['draft:1', 'draft:2']);
    expect(await names()).toEqual(['draft:1', 'draft:2', 'emoji']);
    expect(await names('other')).toEqual([]);
  });

  it('belongs to one account, and stays sealed while nobody is signed in', async () => {
    await alice.api.writeLocal('mine', 'text');
    const bob = await world.device(BOB);
    expect(await bob.api.localEntries()).toEqual([]);
    await alice.api.lock();
    await expect(alice.api.readLocal('mine')).rejects.toMatchObject({ code: 'locked' });
    await expect(alice.api.localEntries()).rejects.toMatchObject({ code: 'locked' });
    await expect(alice.api.writeLocal('mine', 'other')).rejects.toMatchObject({ code: 'locked' });
  });

  it('keeps an entry that is written just before the keys are locked', async () => {
    await Promise.all([alice.api.writeLocal('last', 'words'), alice.api.lock()]);
    await alice.api.beginLogin(PASSWORD, world.relay.passwordParams.get(ALICE)!);
    await alice.api.openVault(ALICE, world.relay.vaults.get(ALICE)!);
    expect(await alice.api.readLocal('last')).toBe('words');
  });

  it('is deleted when the browser is erased', async () => {
    await alice.api.writeLocal('mine', 'text');
    await alice.api.erase();
    const databases = await alice.browser.indexedDB.databases();
    expect(databases.map(({ name }) => name)).not.toContain(accountDatabaseName(ALICE));
  });

  it('refuses texts that are too long in UTF-8, names that are too long, and too many entries', async () => {
    const usage = { code: 'usage' };
    const full = 'x'.repeat(limits.localEntryText);
    await alice.api.writeLocal('full', full);
    expect(await alice.api.readLocal('full')).toBe(full);
    await expect(
      alice.api.writeLocal('over', 'ä'.repeat(limits.localEntryText / 2 + 1)),
    ).rejects.toMatchObject(usage);
    await expect(alice.api.writeLocal('', 'text')).rejects.toMatchObject(usage);
    await expect(alice.api.writeLocal('n'.repeat(limits.localEntryName + 1), 'text')).rejects.toMatchObject(
      usage,
    );
    await expect(alice.api.writeLocal('kind', 7 as never)).rejects.toMatchObject(usage);

    for (let i = 1; i < limits.localEntries; i++) await alice.api.writeLocal(`entry ${i}`, 'text');
    await expect(alice.api.writeLocal('one more', 'text')).rejects.toMatchObject(usage);
    await alice.api.writeLocal('entry 1', 'what is there can be replaced');
    await alice.api.writeLocal('entry 1', null);
    await alice.api.writeLocal('one more', 'text');
  }, 30_000);

  it('refuses an entry that was moved to the place of another', async () => {
    await alice.api.writeLocal('one', 'first');
    await alice.api.writeLocal('two', 'second');
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    const store = db.transaction('notes', 'readwrite').objectStore('notes');
    const [here, there] = await answer(store.getAllKeys());
    await answer(store.put(await answer(store.get(here!)), there));
    db.close();
    await expect(alice.api.localEntries()).rejects.toMatchObject({ code: 'corrupt-record' });
  });
});
