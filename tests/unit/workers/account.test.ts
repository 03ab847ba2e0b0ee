import { describe, expect, it } from 'vitest';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { Browser, Clock } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createWorld,
  PASSWORD,
  textOf,
} from './support/device.ts';

async function signUp(browser: Browser, userId: string, password = PASSWORD) {
  const api = browser.tab();
  const { authKey, passwordParams } = await api.beginSignUp(password);
  const vault = { ...(await api.createVault(userId)), version: 1 };
  await api.openVault(userId, vault);
  return { api, authKey, passwordParams, vault };
}

function createBrowser(seed = 'browser'): Browser {
  return new Browser(seed, new Clock());
}

describe('the worker', () => {
  it('derives keys with Argon2id at the production cost, and opens a vault on another browser', async () => {
    const first = createBrowser('first').tab({ realPasswordKeys: true });
    const { authKey, passwordParams, proofKey } = await first.beginSignUp(PASSWORD);
    expect(passwordParams).toMatchObject({ opsLimit: 3, memLimit: 128 * 1024 * 1024 });
    const vault = { ...(await first.createVault(ALICE)), version: 1 };

    const second = createBrowser('second').tab({ realPasswordKeys: true });
    expect(await second.beginLogin(PASSWORD, passwordParams)).toEqual({ authKey, proofKey });
    await second.openVault(ALICE, vault);
    expect(await second.openDevice()).toMatchObject({ userId: ALICE, isNew: true });
  });

  it('refuses Argon2id parameters that are too weak or too heavy', async () => {
    const api = createBrowser().tab({ realPasswordKeys: true });
    const { passwordParams } = await createBrowser().tab().beginSignUp(PASSWORD);
    const MIB = 1024 * 1024;
    for (const weaker of [
      { opsLimit: 1 },
      { memLimit: 32 * MIB },
      { opsLimit: 11 },
      { memLimit: 2048 * MIB },
    ]) {
      await expect(api.beginLogin(PASSWORD, { ...passwordParams, ...weaker })).rejects.toMatchObject({
        code: 'unsupported',
      });
    }
    await expect(api.beginLogin(PASSWORD, { ...passwordParams, salt: 'AAAA' })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('does not open a vault with another password, or as another person', async () => {
    const { vault, passwordParams } = await signUp(createBrowser('one'), ALICE);
    const api = createBrowser('two').tab();
    await expect(api.openVault(ALICE, vault)).rejects.toMatchObject({ code: 'usage' });
    await api.beginLogin('wrong', passwordParams);
    await expect(api.openVault(ALICE, vault)).rejects.toMatchObject({ code: 'wrong-password' });
    await api.beginLogin(PASSWORD, passwordParams);
    await expect(api.openVault(BOB, vault)).rejects.toMatchObject({ code: 'corrupt-record' });
    await expect(api.openDevice()).rejects.toMatchObject({ code: 'locked' });
    await api.openVault(ALICE, vault);
    // The wrapping key is gone once it has done its work.
    await expect(api.openVault(ALICE, vault)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('the worker', () => {
  it('resumes a session after a reload, without the password', async () => {
    const browser = createBrowser();
    const { api } = await signUp(browser, ALICE);
    const device = await api.openDevice();
    const reloaded = browser.tab();
    expect(await reloaded.resume(BOB)).toBe(false);
    expect(await reloaded.resume(ALICE)).toBe(true);
    expect(await reloaded.openDevice()).toEqual({ ...device, isNew: false });
  });

  it('wraps the storage key by a key that can be used and not read', async () => {
    const browser = createBrowser();
    await signUp(browser, ALICE);
    const [session] = await rows<{ wrappingKey: CryptoKey }>(browser, 'sinetti', 'sessions');
    expect(session?.wrappingKey.extractable).toBe(false);
    await expect(crypto.subtle.exportKey('raw', session!.wrappingKey)).rejects.toThrow('not extractable');
  });

  it('refuses every call after a lock, deletes the session and keeps the records', async () => {
    const { alice } = await createPair();
    await alice.send(ALICE_AND_BOB, 'still here');
    await alice.sync();
    await alice.api.lock();
    for (const call of [
      () => alice.api.conversations(),
      () => alice.queue(ALICE_AND_BOB, 'unheard'),
      () => alice.history(ALICE_AND_BOB),
      () => alice.api.outbox(),
      () => alice.api.openDevice(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'locked' });
    }
    expect(await alice.browser.tab().resume(ALICE)).toBe(false);
    expect(await rows(alice.browser, 'sinetti', 'sessions')).toEqual([]);

    // The next login in the same browser finds the same device and the same messages.
    const api = alice.browser.tab();
    await api.beginLogin(PASSWORD, alice.relay.passwordParams.get(ALICE)!);
    await api.openVault(ALICE, alice.relay.vaults.get(ALICE)!);
    expect(await api.openDevice()).toMatchObject({ deviceId: alice.deviceId, isNew: false });
    expect((await api.messages(ALICE_AND_BOB, { limit: 10 })).map(textOf)).toEqual(['still here']);
    alice.api = api;
    await alice.send(ALICE_AND_BOB, 'and again');
  });

  it('deletes the session also when a tab locks that never unlocked it', async () => {
    const browser = createBrowser();
    await signUp(browser, ALICE);
    await browser.tab().lock();
    expect(await browser.tab().resume(ALICE)).toBe(false);
  });

  it("doesn't resume a session when the browser evicted the account's records", async () => {
    const browser = createBrowser();
    const { api } = await signUp(browser, ALICE);
    await deleteDatabase(browser, accountDatabaseName(ALICE));
    expect(await browser.tab().resume(ALICE)).toBe(false);
    await expect(api.conversations()).rejects.toMatchObject({ code: 'locked' });
  });

  it("doesn't resume a session from a row that was tampered with", async () => {
    const browser = createBrowser();
    await signUp(browser, ALICE);
    const db = await open(browser, 'sinetti');
    const store = db.transaction('sessions', 'readwrite').objectStore('sessions');
    const row = await answer<{ wrapped: Uint8Array }>(store.get(ALICE));
    row.wrapped[0]! ^= 1;
    await answer(store.put(row, ALICE));
    db.close();
    expect(await browser.tab().resume(ALICE)).toBe(false);
  });

  it('deletes the database on erase, also when other tabs have it open', async () => {
    const { alice } = await createPair();
    const other = await alice.openTab();
    await alice.api.erase();
    await expect(other.api.conversations()).rejects.toMatchObject({ code: 'locked' });
    const names = (await alice.browser.indexedDB.databases()).map(({ name }) => name);
    expect(names).toEqual(['sinetti']);
    expect(await alice.browser.tab().resume(ALICE)).toBe(false);
  });

  it('deletes the session of one account when another signs in', async () => {
    const browser = createBrowser();
    await signUp(browser, ALICE);
    await signUp(browser, BOB);
    expect(await browser.tab().resume(ALICE)).toBe(false);
    expect(await browser.tab().resume(BOB)).toBe(true);
  });
});

describe('the worker', () => {
  it('creates one device, even when two tabs start together', async () => {
    const browser = createBrowser();
    const { api } = await signUp(browser, ALICE);
    const other = browser.tab();
    await other.resume(ALICE);
    const [one, two] = await Promise.all([api.openDevice(), other.openDevice()]);
    expect(one.deviceId).toBe(two.deviceId);
    expect([one.isNew, two.isNew].filter(Boolean)).toHaveLength(1);
    expect(one.deviceId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('creates KeyPackages that all differ, and a last-resort one only when asked', async () => {
    const { api } = await signUp(createBrowser(), ALICE);
    await expect(api.createKeyPackages(1, false, 0xf04d)).rejects.toMatchObject({ code: 'usage' });
    await api.openDevice();
    const { keyPackages, lastResort } = await api.createKeyPackages(5, true, 0xf04d);
    expect(new Set([...keyPackages, lastResort]).size).toBe(6);
    expect(await api.createKeyPackages(0, false, 0xf04d)).toEqual({ keyPackages: [], lastResort: null });
    await expect(api.createKeyPackages(1000, false, 0xf04d)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('KeyPackages', () => {
  it('deletes a KeyPackage that was used or has expired, but not a used last-resort one', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    const stored = () => rows(bob.browser, accountDatabaseName(BOB), 'keyPackages');
    expect(await stored()).toHaveLength(4);
    await alice.start(ALICE_AND_BOB);
    await bob.sync();
    expect(await stored()).toHaveLength(3);

    // Good for 90 days, and a Welcome may wait for 30 more.
    world.clock.advance(120 * 24 * 60 * 60 * 1000);
    await bob.api.createKeyPackages(2, false, 0xf04d);
    expect(await stored()).toHaveLength(5);
    world.clock.advance(1000);
    await bob.api.createKeyPackages(1, false, 0xf04d);
    expect(await stored()).toHaveLength(3);
  });

  it('leaves out those whose lifetime is over, and those that it can’t read to who uses them', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    const claimed = async () => {
      const { keyPackages } = await bob.api.createKeyPackages(1, false, 0xf04d);
      return { userId: BOB, deviceId: bob.deviceId, keyPackage: keyPackages[0]! };
    };
    const old = await claimed();
    world.clock.advance(90 * 24 * 60 * 60 * 1000);
    const fresh = await claimed();
    const unreadable = { ...fresh, keyPackage: toBase64Url(new Uint8Array(3)) };
    const all = [old, fresh, unreadable];
    expect(await alice.api.usableKeyPackages(all)).toEqual(all);
    world.clock.advance(1000);
    expect(await alice.api.usableKeyPackages(all)).toEqual([fresh, unreadable]);
  });

  it('lets several people add a device by its last-resort KeyPackage', async () => {
    const world = createWorld();
    const bob = await world.device(BOB);
    world.relay.devices[0]!.keyPackages.length = 0;
    for (const userId of [ALICE, CAROL]) {
      const [lower, higher] = [userId, BOB].sort();
      const conversationId = `direct:${lower}:${higher}`;
      const device = await world.device(userId);
      await device.start(conversationId);
      await device.send(conversationId, 'by the last resort');
      expect((await bob.syncOne(conversationId)).map(textOf)).toEqual(['by the last resort']);
    }
  });
});

async function open(browser: Browser, name: string): Promise<IDBDatabase> {
  return answer(browser.indexedDB.open(name) as IDBRequest<IDBDatabase>);
}

async function rows<T>(browser: Browser, name: string, store: string): Promise<T[]> {
  const db = await open(browser, name);
  const found = await answer<T[]>(db.transaction(store).objectStore(store).getAll());
  db.close();
  return found;
}

async function deleteDatabase(browser: Browser, name: string): Promise<void> {
  await answer(browser.indexedDB.deleteDatabase(name));
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}
