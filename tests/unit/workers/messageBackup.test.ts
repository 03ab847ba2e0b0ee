import { sealShared } from '@sinetti/crypto-core/account';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BackupEntry, StoredBackupEntry } from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { limits } from '#workers/codec/limits.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  GROUP,
  type TestDevice,
  textOf,
  type World,
} from './support/device.ts';
import { openVaultOf } from './support/rogue.ts';
import { answer } from './support/storage.ts';

/** The message backup of one person at the relay. */
class MemoryBackup {
  items: StoredBackupEntry[] = [];
  lastPosition = 0;

  put(entries: readonly BackupEntry[]): { count: number; lastPosition: number } {
    const fresh = entries.filter(({ id }) => !this.items.some((item) => item.id === id));
    for (const entry of fresh) this.items.push({ ...entry, position: ++this.lastPosition });
    return { count: fresh.length, lastPosition: this.lastPosition };
  }

  after(position: number): StoredBackupEntry[] {
    return this.items.filter((item) => item.position > position).slice(0, limits.backupEntriesPerCall);
  }
}

let world: World;
let alice: TestDevice;
let bob: TestDevice;
let backup: MemoryBackup;

beforeEach(async () => {
  ({ world, alice, bob } = await createPair());
  backup = new MemoryBackup();
});

async function upload(device: TestDevice): Promise<number> {
  let count = 0;
  for (const conversationId of await device.api.conversationsToBackUp()) {
    for (;;) {
      const next = await device.api.nextBackupEntries(conversationId);
      if (next === null) break;
      const stored = next.copies.length === 0 ? null : backup.put(next.copies);
      count += stored?.count ?? 0;
      await device.api.backupEntriesStored({ conversationId, upTo: next.upTo, stored });
    }
  }
  return count;
}

async function download(device: TestDevice) {
  const texts: string[] = [];
  let isLate = false;
  for (;;) {
    const page = backup.after((await device.api.backupState()).position);
    if (page.length === 0) return { texts, isLate };
    const read = await device.api.readBackup(page);
    texts.push(...read.messages.map(textOf));
    isLate = read.isLate;
  }
}

async function uploadSetting(device: TestDevice): Promise<void> {
  const setting = await device.api.backupSetting();
  if (setting === null) return;
  if (!setting.kept) backup.items = [];
  backup.put([setting.copy]);
  await device.api.backupSettingStored(setting.kept);
}

async function say(from: TestDevice, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    await from.send(ALICE_AND_BOB, text);
    for (const device of [alice, bob]) await device.sync();
  }
}

/** Logs Alice in on a new browser. */
async function newDevice(): Promise<TestDevice> {
  const device = await world.device(ALICE);
  await device.sync();
  for (const other of [alice, bob]) await other.sync();
  return device;
}

const history = async (device: TestDevice) => (await device.history(ALICE_AND_BOB)).map(textOf);

describe('the message backup', () => {
  it('lets a new device read all earlier messages, each in its place', async () => {
    await say(alice, 'mine');
    await say(bob, 'yours', 'äö "quoted" 👋');
    expect(await upload(alice)).toBe(3);

    const phone = await newDevice();
    expect(await history(phone)).toEqual([]);
    expect((await download(phone)).texts).toEqual(['mine', 'yours', 'äö "quoted" 👋']);
    await say(bob, 'after');
    await phone.sync();
    expect(await history(phone)).toEqual(['mine', 'yours', 'äö "quoted" 👋', 'after']);
    const views = await phone.history(ALICE_AND_BOB);
    const original = await alice.history(ALICE_AND_BOB);
    for (const [i, { messageId, senderId, senderDeviceId, seq, timestamp }] of views.entries()) {
      expect(original[i]).toMatchObject({ messageId, senderId, senderDeviceId, seq, timestamp });
    }
    // A message that the person's other device sent counts as received on this one.
    expect(views[0]?.status).toBe('received');
  });

  it('takes each message once, and none that a device restored from it', async () => {
    await say(alice, 'old');
    await upload(alice);
    const phone = await newDevice();
    await download(phone);
    await say(bob, 'new');
    await phone.sync();
    expect((await phone.api.nextBackupEntries(ALICE_AND_BOB))?.copies).toHaveLength(1);
    expect(await upload(phone)).toBe(1);
    expect(await upload(alice)).toBe(0);
    expect(await alice.api.conversationsToBackUp()).toEqual([]);
  });

  it('does not return to a device the entries that it stored itself', async () => {
    await say(alice, 'one');
    await upload(alice);
    expect(backup.after((await alice.api.backupState()).position)).toEqual([]);
    const phone = await newDevice();
    await download(phone);
    await say(bob, 'two');
    await phone.sync();
    await upload(phone);
    await say(bob, 'three');
    // Another device stored one in between, so all of them are read again, and none is new.
    await upload(alice);
    expect(backup.after((await alice.api.backupState()).position)).toHaveLength(2);
    expect((await download(alice)).texts).toEqual([]);
  });

  it('restores lost messages, and leaves to the log those that are still to come from it', async () => {
    await say(bob, 'kept elsewhere');
    await upload(alice);
    const phone = await newDevice();
    await say(bob, 'still to come');
    await upload(alice);
    expect((await download(phone)).texts).toEqual(['kept elsewhere']);
    await phone.sync();
    expect(await history(phone)).toEqual(['kept elsewhere', 'still to come']);

    const db = await answer<IDBDatabase>(phone.browser.indexedDB.open(accountDatabaseName(ALICE)));
    await answer(db.transaction('messages', 'readwrite').objectStore('messages').clear());
    db.close();
    const { messages } = await phone.api.readBackup(backup.items);
    expect(messages.map(textOf)).toEqual(['kept elsewhere', 'still to come']);
    expect((await phone.api.readBackup(backup.items)).messages).toEqual([]);
  });

  it('counts restored messages above the read position as unread', async () => {
    await say(bob, 'one', 'two');
    await upload(alice);
    const phone = await newDevice();
    expect((await phone.api.conversation(ALICE_AND_BOB)).unread).toBe(0);
    await download(phone);
    expect(await phone.api.conversation(ALICE_AND_BOB)).toMatchObject({
      unread: 2,
      lastMessage: { content: { text: 'two' } },
    });
  });

  it('takes messages in batches, in the order of the conversation', async () => {
    for (let i = 0; i < limits.backupEntriesPerCall + 5; i++) await alice.send(ALICE_AND_BOB, `message ${i}`);
    await alice.sync();
    const first = await alice.api.nextBackupEntries(ALICE_AND_BOB);
    expect(first?.copies).toHaveLength(limits.backupEntriesPerCall);
    expect(await upload(alice)).toBe(limits.backupEntriesPerCall + 5);
    const phone = await newDevice();
    const { texts } = await download(phone);
    expect(texts).toEqual(Array.from({ length: limits.backupEntriesPerCall + 5 }, (_, i) => `message ${i}`));
  });

  it('seals entries for their place alone, in few sizes', async () => {
    await say(alice, 'a', 'a longer sentence, which is nobody else’s business');
    const { copies } = (await alice.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
    expect(new Set(copies.map(({ sealed }) => sealed.length)).size).toBe(1);
    expect(JSON.stringify(copies)).not.toContain(
      Buffer.from('nobody else').toString('base64url').slice(0, 12),
    );
    const phone = await newDevice();
    const [first, second] = copies;
    const moved = [
      { ...first!, id: second!.id, position: 1 },
      { ...first!, conversationId: GROUP, position: 2 },
    ];
    expect((await phone.api.readBackup(moved)).messages).toEqual([]);
  });

  it('ignores entries that no device of the person has sealed, and reads the others', async () => {
    await say(alice, 'true');
    const bobs = openVaultOf(world.relay, BOB).sharedKeys;
    const id = world.relay.uuid();
    const forged = sealShared('history', bobs, `${ALICE_AND_BOB}/${id}`, new Uint8Array(256), {
      random: (length) => new Uint8Array(length),
      now: () => 0,
    });
    backup.put([{ id, conversationId: ALICE_AND_BOB, sealed: toBase64Url(forged) }]);
    backup.put([{ id: world.relay.uuid(), conversationId: GROUP, sealed: 'AAAA' }]);
    await upload(alice);
    const phone = await newDevice();
    expect((await download(phone)).texts).toEqual(['true']);
  });

  it("takes no message that this browser can't read", async () => {
    await say(alice, 'readable');
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    await answer(db.transaction('messages', 'readwrite').objectStore('messages').clear());
    db.close();
    expect(await upload(alice)).toBe(0);
    expect(await alice.api.conversationsToBackUp()).toEqual([]);
  });

  it('forgets its position with the conversation', async () => {
    await say(alice, 'one');
    await upload(alice);
    await alice.api.forgetConversation(ALICE_AND_BOB);
    const db = await answer<IDBDatabase>(alice.browser.indexedDB.open(accountDatabaseName(ALICE)));
    expect(await answer(db.transaction('copies').objectStore('copies').count())).toBe(0);
    db.close();
  });
});

describe('the backup setting', () => {
  it('is on at first, and stops all devices from backing up once it is off', async () => {
    await say(alice, 'one');
    await upload(alice);
    const phone = await newDevice();
    await download(phone);
    expect(await alice.api.backupSetting()).toBeNull();

    await alice.api.setBackupKept(false);
    expect((await alice.api.backupState()).kept).toBe(false);
    expect(await alice.api.conversationsToBackUp()).toEqual([]);
    expect(await alice.api.nextBackupEntries(ALICE_AND_BOB)).toBeNull();
    await uploadSetting(alice);
    expect(await alice.api.backupSetting()).toBeNull();
    expect(backup.items).toHaveLength(1);

    await say(bob, 'two');
    await phone.sync();
    await download(phone);
    expect((await phone.api.backupState()).kept).toBe(false);
    expect(await upload(phone)).toBe(0);
    // A device that joins later backs up nothing either.
    const laptop = await newDevice();
    await download(laptop);
    await say(bob, 'three');
    await laptop.sync();
    expect(await upload(laptop)).toBe(0);
  });

  it('backs up everything anew once it is on again', async () => {
    await say(alice, 'one');
    await upload(alice);
    const phone = await newDevice();
    await download(phone);
    await alice.api.setBackupKept(false);
    await uploadSetting(alice);
    await download(phone);
    await phone.api.setBackupKept(true);
    await uploadSetting(phone);
    // The phone backs up the message as well that it has only from the former backup.
    expect(await upload(phone)).toBe(1);
    await download(alice);
    expect((await alice.api.backupState()).kept).toBe(true);
    await say(bob, 'two');
    expect(await upload(alice)).toBe(1);
  });

  it('reports entries that a device stored without knowing that it is off', async () => {
    await say(alice, 'one');
    await upload(alice);
    const phone = await newDevice();
    await download(phone);
    await alice.api.setBackupKept(false);
    await uploadSetting(alice);
    await say(bob, 'two');
    await phone.sync();
    expect(await upload(phone)).toBe(1);
    expect((await download(alice)).isLate).toBe(true);
    expect(await alice.api.backupSetting()).toBeNull();
    expect(await alice.api.backupSetting(true)).toMatchObject({ kept: false });
  });

  it('ignores an older setting that the relay shows again', async () => {
    await alice.api.setBackupKept(false);
    await uploadSetting(alice);
    await alice.api.setBackupKept(true);
    await uploadSetting(alice);
    const on = backup.items.at(-1)!;
    await alice.api.setBackupKept(false);
    await uploadSetting(alice);
    await alice.api.readBackup([{ ...on, position: 100 }]);
    expect((await alice.api.backupState()).kept).toBe(false);
  });

  it('is uploaded as it is now if it changed again during its upload', async () => {
    await alice.api.setBackupKept(false);
    const setting = await alice.api.backupSetting();
    await alice.api.setBackupKept(true);
    await alice.api.backupSettingStored(setting?.kept ?? true);
    expect(await alice.api.backupSetting()).toMatchObject({ kept: true });
  });
});
