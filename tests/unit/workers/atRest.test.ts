import { newestSharedKeys } from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import { accountDatabaseName, accountMigrations, type Migration, openDatabase } from '#workers/storage/db.ts';
import { Browser, Clock } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createWorld,
  GROUP,
  PASSWORD,
  textOf,
} from './support/device.ts';
import { receiptOf, take } from './support/receipts.ts';
import { openVaultOf, Rogue, storageKeyOf } from './support/rogue.ts';
import { answer, countTransactions, dump, measureWrites, openRecords } from './support/storage.ts';

describe('records at rest', () => {
  it('hold no sentence, no password and no secret that was ever drawn', async () => {
    const { alice, bob, relay, world } = await createPair();
    const laptop = await world.device(ALICE);
    await laptop.sync();
    const sentences = [
      'The seal is on the southern skerry.',
      'Tuo se veneellä ennen iltaa.',
      'unsent words',
      'Pier builders',
    ];
    await alice.sync();
    await alice.send(ALICE_AND_BOB, sentences[0]!);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, sentences[1]!);
    await alice.sync();
    const messageId = await alice.queue(ALICE_AND_BOB, sentences[2]!);
    await alice.api.prepareMessage(messageId);
    await laptop.sync();
    await alice.createGroup(GROUP, sentences[3]!, [BOB]);
    await alice.send(GROUP, sentences[0]!);
    await laptop.sync();
    for (const device of [alice, laptop]) await device.api.writeLocal(`draft:${sentences[0]}`, sentences[1]!);
    await alice.confirm('create-recovery-key');
    const recoveryKey = alice.browser.typist.asked[0]?.recoveryKey ?? '';
    expect(recoveryKey).not.toBe('');

    const keys = openVaultOf(relay, ALICE);
    for (const device of [alice, laptop]) {
      const raw = await dump(device.browser);
      // The search finds public values, so it would find secrets as well.
      expect(raw.includes(ALICE_AND_BOB)).toBe(true);
      expect(raw.includes(messageId)).toBe(device === alice);

      const { historyKey, stateKey } = newestSharedKeys(keys.sharedKeys);
      const storageKey = await storageKeyOf(relay, device);
      const secrets = [keys.accountSeed, keys.deviceSecret, historyKey, stateKey, storageKey].map((key) =>
        Buffer.from(key),
      );
      // Nonces (24 and 12 bytes), salts and ids (16) are public; keys and seeds have other lengths.
      const seeds = device.browser.drawn
        .filter(({ length }) => length >= 32)
        .map((seed) => Buffer.from(seed));
      expect(seeds.length).toBeGreaterThan(10);
      for (const secret of [
        ...secrets,
        ...seeds,
        ...[...sentences, PASSWORD, recoveryKey].map((text) => Buffer.from(text)),
      ]) {
        for (const form of ['latin1', 'base64url', 'base64', 'hex'] as const) {
          // Encodings are cut to whole groups, so that they are found in the middle of a longer one too.
          const found = form === 'latin1' ? secret : Buffer.from(secret.toString(form).slice(0, -4));
          expect(raw.includes(found)).toBe(false);
        }
      }
    }
  });

  it('are all sealed under the storage key, but for their keys and indexes', async () => {
    const { alice, bob, relay, world } = await createPair();
    await alice.send(ALICE_AND_BOB, 'sent');
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'received');
    await alice.sync();
    await take(alice, await receiptOf(bob));
    await (await world.device(ALICE)).sync();
    await alice.sync();
    await alice.createGroup(GROUP, 'Skerry', [BOB]);
    await alice.api.rememberMemberNames(GROUP, [{ userId: BOB, name: 'Bob' }]);
    const phone = await world.device(BOB);
    const statement = await bob.revoke(phone.deviceId);
    await alice.api.setRevoked([{ userId: BOB, deviceId: phone.deviceId, statement }]);
    world.clock.advance(24 * 60 * 60 * 1000);
    const messageId = await alice.queue(ALICE_AND_BOB, 'waits for a commit');
    expect(await alice.api.prepareMessage(messageId)).toMatchObject({ kind: 'commit' });
    await alice.api.writeLocal('draft', 'half a sentence');
    await alice.api.backupEntriesStored({ conversationId: ALICE_AND_BOB, upTo: 1, stored: null });
    await alice.api.setBackupKept(false);
    const { fileId } = await alice.api.beginFile(3);
    await alice.api.sealPiece(fileId, 0, new Uint8Array([1, 2, 3]).buffer);

    const storageKey = await storageKeyOf(relay, alice);
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    const records = await openRecords(db, storageKey);
    expect(new Set(records.map(({ store }) => store))).toEqual(new Set(db.objectStoreNames));
    const known: Record<string, string[]> = {
      messages: ['content', 'messageId'],
      outbox: ['conversationId', 'order'],
    };
    for (const { indexed, store } of records) expect([store, indexed]).toEqual([store, known[store] ?? []]);
    db.close();
  });

  it('do not open in the place of another record', async () => {
    const { alice } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await alice.send(ALICE_AND_BOB, 'two');
    await alice.sync();
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    const store = db.transaction('messages', 'readwrite').objectStore('messages');
    const two = await answer(store.get([ALICE_AND_BOB, 3]));
    await answer(store.put(two, [ALICE_AND_BOB, 2]));
    db.close();
    await expect(alice.history(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'corrupt-record' });
  });

  it('show a reason in the place of a single message record that was lost', async () => {
    const { alice, bob, relay } = await createPair();
    await alice.send(ALICE_AND_BOB, 'mine');
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'yours');
    await alice.sync();
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    await answer(db.transaction('messages', 'readwrite').objectStore('messages').clear());
    db.close();
    const { messages } = await alice.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB));
    expect(messages.map((view) => [textOf(view), view.status])).toEqual([
      ['(storage-erased)', 'sent'],
      ['(storage-erased)', 'received'],
    ]);
  });

  it('make a device rejoin when its epoch or ratchets are damaged, and do not stop the log', async () => {
    for (const lost of ['epochs', 'ratchets']) {
      const { alice, bob } = await createPair();
      await bob.send(ALICE_AND_BOB, 'before');
      await alice.sync();
      const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
      const store = db.transaction(lost, 'readwrite').objectStore(lost);
      for (const key of await answer(store.getAllKeys())) {
        const value: Uint8Array = await answer(store.get(key));
        value[value.length - 1]! ^= 1;
        await answer(store.put(value, key));
      }
      db.close();
      const reloaded = await alice.openTab();
      await bob.send(ALICE_AND_BOB, 'unreadable');
      expect((await reloaded.sync()).map(textOf)).toEqual(['(storage-erased)']);
      expect(await reloaded.api.conversation(ALICE_AND_BOB)).toMatchObject({
        status: 'joined',
        joinedSeq: 0,
      });
      await bob.sync();
      await bob.send(ALICE_AND_BOB, 'after');
      expect((await reloaded.sync()).map(textOf)).toEqual(['after']);
      expect((await reloaded.history(ALICE_AND_BOB)).map(textOf)).toEqual([
        'before',
        '(storage-erased)',
        'after',
      ]);
    }
  });
});

/** Reads the parts of each key; a simple key has one part. */

describe('the writes of a message', () => {
  /**
   * Measures the bytes for one message sent and one received, once the ratchets are open, with `devices` of
   * Bob's.
   */
  async function measure(devices: number) {
    const { relay, device } = createWorld();
    const alice = await device(ALICE);
    const bobs = await Promise.all(Array.from({ length: devices }, () => Rogue.create(relay, BOB, 'bob')));
    for (const bob of bobs) bob.publish();
    await alice.start(ALICE_AND_BOB);
    const bob = bobs.at(-1)!;
    bob.join();
    await alice.send(ALICE_AND_BOB, 'opens the ratchet');
    bob.say(ALICE_AND_BOB, 'opens the ratchet');
    await alice.sync();

    const send = await measureWrites(() => alice.queue(ALICE_AND_BOB, 'measured'));
    bob.say(ALICE_AND_BOB, 'measured');
    const entries = relay.entries(ALICE_AND_BOB, 3);
    const receive = await measureWrites(() => alice.api.processEntries(ALICE_AND_BOB, entries));
    return { send, receive };
  }

  it('take as few bytes in a group of 100 as in a group of 2', async () => {
    const [two, hundred] = [await measure(1), await measure(99)];
    for (const direction of ['send', 'receive'] as const) {
      const [small, large] = [two[direction], hundred[direction]];
      expect([...small.keys()].sort()).toEqual([...large.keys()].sort());
      const total = (sizes: Map<string, number>) => [...sizes.values()].reduce((sum, size) => sum + size, 0);
      console.info(`${direction}: ${total(small)} bytes of 2 leaves, ${total(large)} of 100`);
      // A leaf index has more digits in the larger group: nothing else may differ.
      expect(Math.abs(total(large) - total(small))).toBeLessThanOrEqual(16);
      expect(total(small)).toBeLessThan(2048);
      // The running hash takes 250 at most: a row, and these fields of the conversation record.
      const fields = {
        chain: { start: 0, hash: 'h'.repeat(43), own: 999 },
        linkFrom: null,
        isDoubted: false,
      };
      // Inside the record, a comma is in the place of both braces.
      const inRecord = JSON.stringify(fields).length - 1;
      expect((small.get('chain') ?? 0) + inRecord).toBeLessThanOrEqual(250);
      expect(small.has('chains')).toBe(false);
      expect(small.has('epochs')).toBe(false);
    }
  });

  it('are one transaction for a batch of 200 entries', async () => {
    const { relay, device } = createWorld();
    const alice = await device(ALICE);
    const bob = await Rogue.create(relay, BOB, 'bob');
    bob.publish();
    await alice.start(ALICE_AND_BOB);
    bob.join();
    for (let i = 0; i < 200; i++) bob.say(ALICE_AND_BOB, `message ${i}`);
    const entries = relay.entries(ALICE_AND_BOB, 1);
    expect(entries).toHaveLength(200);
    const started = performance.now();
    const transactions = await countTransactions(async () => {
      const { messages } = await alice.api.processEntries(ALICE_AND_BOB, entries);
      expect(messages.map(textOf)).toEqual(entries.map((_, i) => `message ${i}`));
    });
    console.info(`200 entries in one call: ${Math.round(performance.now() - started)} ms`);
    expect(transactions).toBe(1);
  });
});

describe('migrations', () => {
  const newBrowser = () => new Browser('migrations', new Clock());

  it('run once each, in order, and keep existing records', async () => {
    const { indexedDB } = newBrowser();
    const ran: string[] = [];
    const first: Migration = (db) => {
      ran.push('first');
      db.createObjectStore('kept');
    };
    const second: Migration = (db, tx) => {
      ran.push('second');
      db.createObjectStore('added');
      tx.objectStore('kept').put('changed', 'other');
    };
    const old = await openDatabase(indexedDB, 'test', [first], () => {});
    await answer(old.transaction('kept', 'readwrite').objectStore('kept').put('value', 'key'));
    let closed = false;
    old.addEventListener('versionchange', () => (closed = true));

    // A tab of the older version lets go of the database instead of blocking the newer one.
    const upgraded = await openDatabase(indexedDB, 'test', [first, second], () => {});
    expect(closed).toBe(true);
    const store = upgraded.transaction('kept').objectStore('kept');
    expect(await answer(store.getAll())).toEqual(['value', 'changed']);
    upgraded.close();
    (await openDatabase(indexedDB, 'test', [first, second], () => {})).close();
    expect(ran).toEqual(['first', 'second']);
  });

  it('leave the database as it was when one of them fails', async () => {
    const { indexedDB } = newBrowser();
    const first: Migration = (db) => void db.createObjectStore('kept');
    const failing: Migration = (db) => {
      db.createObjectStore('half');
      throw new Error('in the middle');
    };
    (await openDatabase(indexedDB, 'test', [first], () => {})).close();
    await expect(openDatabase(indexedDB, 'test', [first, failing], () => {})).rejects.toMatchObject({
      name: 'AbortError',
    });
    const db = await openDatabase(indexedDB, 'test', [first], () => {});
    expect([...db.objectStoreNames]).toEqual(['kept']);
    db.close();
  });

  it('refuse a database of a newer version with the code storage', async () => {
    const { alice } = await createPair();
    await alice.api.lock();
    const newer = [...accountMigrations, () => {}];
    (await openDatabase(alice.browser.indexedDB, accountDatabaseName(ALICE), newer, () => {})).close();
    const api = alice.browser.tab();
    await api.beginLogin(PASSWORD, alice.relay.passwordParams.get(ALICE)!);
    await expect(api.openVault(ALICE, alice.relay.vaults.get(ALICE)!)).rejects.toMatchObject({
      code: 'storage',
      detail: 'VersionError',
    });
  });

  it('keep the first version of the schema as it was released', async () => {
    const db = await openDatabase(newBrowser().indexedDB, 'test', accountMigrations.slice(0, 1), () => {});
    const tx = db.transaction([...db.objectStoreNames]);
    const schema = [...db.objectStoreNames].map((name) => {
      const store = tx.objectStore(name);
      const indexes = [...store.indexNames].map((index) => [index, store.index(index).keyPath]);
      return [name, store.keyPath, Object.fromEntries(indexes)];
    });
    db.close();
    expect(schema).toEqual([
      ['device', null, {}],
      ['epochs', null, {}],
      ['heads', null, {}],
      ['keyPackages', null, {}],
      ['members', null, {}],
      ['messages', null, { messageId: 'messageId' }],
      ['outbox', null, { conversation: ['conversationId', 'order'], order: 'order' }],
      ['pending', null, {}],
      ['pins', null, {}],
      ['ratchets', null, {}],
    ]);
  });
});
