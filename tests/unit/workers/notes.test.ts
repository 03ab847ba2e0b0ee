import { describe, expect, it } from 'vitest';
import { sealMessageEntry } from '#workers/backup/backupFormat.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { limits } from '#workers/codec/limits.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createWorld,
  PASSWORD,
  selfOf,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { NEW_PASSWORD, rejoin } from './support/movingOn.ts';
import {
  devicesIn,
  idsOf,
  kept,
  keysPayload,
  know,
  modifiedClient,
  OWN,
  random,
  revoke,
  threeDevices,
} from './support/ownDevices.ts';
import { openVaultOf } from './support/rogue.ts';
import { crashAtWrite } from './support/storage.ts';

const notesIn = async (device: TestDevice) => (await device.history(OWN)).map(textOf);
const draft = { reads: [], drafts: [{ conversationId: ALICE_AND_BOB, text: 'half' }] };

async function tell(device: TestDevice): Promise<void> {
  await device.api.tellOwnDevices(draft);
  for (const { messageId } of await device.api.outbox(OWN)) await device.flush(messageId);
}

/** Alice in one browser, where she has written a note. */
async function oneBrowser() {
  const world = createWorld();
  const laptop = await world.device(ALICE);
  await laptop.send(OWN, 'milk');
  await laptop.sync();
  return { laptop, relay: world.relay, world };
}

/** All copies that a device leaves of its notes, as they lie at the relay. */
async function copiesOf(device: TestDevice) {
  const { copies } = (await device.api.nextBackupEntries(OWN)) ?? { copies: [] };
  return copies.map((copy, i) => ({ ...copy, position: i + 1 }));
}

describe('notes to oneself', () => {
  it('begin with the first one, in a group of a single browser', async () => {
    const { laptop, relay } = await oneBrowser();
    expect(await devicesIn(laptop)).toEqual([laptop.deviceId]);
    expect(await notesIn(laptop)).toEqual(['milk']);
    expect(relay.entries(OWN).map(({ kind }) => kind)).toEqual(['commit', 'application']);
    expect(Buffer.from(relay.entries(OWN)[1]!.content, 'base64url').toString('latin1')).not.toContain('milk');
  });

  it('wait in the outbox, sealed, until there is a relay to begin at', async () => {
    const { relay, device } = createWorld();
    const laptop = await device(ALICE);
    const messageId = await laptop.queue(OWN, 'written on a train');
    const reloaded = await laptop.openTab();
    expect((await reloaded.api.conversation(OWN)).lastMessage).toMatchObject({
      messageId,
      status: 'sending',
    });
    expect(relay.entries(OWN)).toEqual([]);
    await reloaded.flush(messageId);
    await reloaded.sync();
    expect(await notesIn(reloaded)).toEqual(['written on a train']);
    expect(await reloaded.api.outbox()).toEqual([]);
  });

  it('are read by the other browsers, each way, and are unread in none', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await laptop.send(OWN, 'from the laptop');
    await phone.sync();
    await phone.send(OWN, 'from the phone');
    for (const device of [laptop, phone, tablet]) {
      await device.sync();
      expect(await notesIn(device)).toEqual(['from the laptop', 'from the phone']);
      const { lastMessage, receiptDue, unread } = await device.api.conversation(OWN);
      expect([textOf(lastMessage!), receiptDue, unread]).toEqual(['from the phone', false, 0]);
      expect((await device.api.setReadPosition(OWN, 'elsewhere', 1)).unread).toBe(0);
    }
  });

  it('stand alone among keys, drafts and read positions: in pages, counts and the preview', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await laptop.send(OWN, 'one');
    await tell(laptop);
    await revoke(laptop, tablet);
    await laptop.shareKeys();
    await laptop.send(OWN, 'two');
    await tell(laptop);
    for (const device of [laptop, phone]) {
      await device.sync();
      expect(await notesIn(device)).toEqual(['one', 'two']);
      expect((await device.api.messages(OWN, { limit: 1 })).map(textOf)).toEqual(['two']);
      expect((await device.api.messages(OWN, { after: 0, limit: 1 })).map(textOf)).toEqual(['one']);
      expect(await device.api.messageCount(OWN)).toBe(2);
      expect(textOf((await device.api.conversation(OWN)).lastMessage!)).toBe('two');
      // The relay gives the same entries again to who scrolls back.
      const again = await device.api.processEntries(OWN, device.relay.entries(OWN).slice(1));
      expect(again.messages.map(textOf)).toEqual(['one', 'two']);
    }
  });

  it('are the preview while they wait, and what waits beside them is not', async () => {
    const { laptop } = await threeDevices();
    await laptop.queue(OWN, 'waiting');
    await laptop.api.tellOwnDevices(draft);
    expect(await laptop.api.outbox(OWN)).toHaveLength(2);
    expect(textOf((await laptop.api.conversation(OWN)).lastMessage!)).toBe('waiting');
  });

  it('are written in nobody else’s name and in nobody else’s conversation', async () => {
    const { bob } = await createPair();
    await expect(bob.queue(OWN, 'not mine')).rejects.toMatchObject({ code: 'usage' });
    expect(await bob.queue(selfOf(BOB), 'mine')).toEqual(expect.any(String));
  });

  it('are in the log once and in the message cache, wherever the tab dies', async () => {
    for (let nth = 1; ; nth += 1) {
      const { laptop, relay } = await oneBrowser();
      const messageId = relay.uuid();
      const crashed = await crashAtWrite(nth, async () => {
        await laptop.queue(OWN, 'once', messageId);
        await laptop.flush(messageId);
        await laptop.syncOne(OWN);
      });
      const reloaded = await laptop.openTab();
      await reloaded.syncOne(OWN);
      const isThere = (await notesIn(reloaded)).includes('once');
      const isKept = (await reloaded.api.outbox(OWN)).length > 0;
      if (!isThere && !isKept) await reloaded.queue(OWN, 'once', messageId);
      if (!isThere) await reloaded.flush(messageId);
      await reloaded.syncOne(OWN);
      expect(await notesIn(reloaded)).toEqual(['milk', 'once']);
      if (!crashed) break;
    }
  });
});

describe('a browser that comes to notes later', () => {
  it('has those before it from the message backup, in their places, and its own reach the first', async () => {
    const { laptop, relay, world } = await oneBrowser();
    await laptop.send(OWN, 'bread');
    await laptop.sync();
    const copies = await copiesOf(laptop);
    const phone = await world.device(ALICE);
    await phone.syncOne(OWN);
    await laptop.sync();
    expect(await devicesIn(phone)).toEqual(idsOf(laptop, phone));
    expect(await notesIn(phone)).toEqual([]);
    expect((await phone.api.readBackup(copies)).messages.map(textOf)).toEqual(['milk', 'bread']);
    await phone.send(OWN, 'salt');
    for (const device of [phone, laptop]) {
      await device.sync();
      expect(await notesIn(device)).toEqual(['milk', 'bread', 'salt']);
    }
    // Without copies there is no telling a note from what else is said there: its entries are shown as nothing.
    const tablet = await world.device(ALICE);
    await tablet.syncOne(OWN);
    const before = await tablet.api.processEntries(OWN, relay.entries(OWN).slice(0, 3));
    expect(before.messages).toEqual([]);
  });

  it('finds nothing in the backup but notes, and restores nothing else', async () => {
    const { laptop, phone, tablet, world } = await threeDevices();
    await tell(laptop);
    await revoke(laptop, tablet);
    await laptop.shareKeys();
    await laptop.send(OWN, 'copied');
    for (const device of [laptop, phone]) await device.sync();
    for (const device of [laptop, phone]) {
      const copies = await copiesOf(device);
      expect(copies).toHaveLength(1);
      const late = await world.device(ALICE);
      expect((await late.api.readBackup(copies)).messages.map(textOf)).toEqual(['copied']);
      await device.api.backupEntriesStored({
        conversationId: OWN,
        upTo: (await device.api.conversation(OWN)).lastSeq,
        stored: null,
      });
      expect(await device.api.conversationsToBackUp()).toEqual([]);
    }
    const at = { conversationId: OWN, messageId: world.relay.uuid() };
    const message = {
      seq: 1,
      senderId: ALICE,
      senderDeviceId: laptop.deviceId,
      timestamp: '2026-03-01T10:00:00Z',
      sentAt: null,
      isClockOff: false,
      epoch: 1,
      erased: null,
      expiresAt: null,
    };
    const { sharedKeys } = openVaultOf(world.relay, ALICE);
    const env = { random, now: () => 0 };
    const sealed = sealMessageEntry(sharedKeys, at, message, keysPayload(random(40)), env);
    const copy = { id: at.messageId, conversationId: OWN, sealed: toBase64Url(sealed!), position: 9 };
    const late = await world.device(ALICE);
    expect((await late.api.readBackup([copy])).messages).toEqual([]);
    expect(await kept(late, ['messages'])).toBe('');
  });
});

describe('notes and revoked browsers', () => {
  it('are encrypted only once the revoked leaf is out', async () => {
    const { laptop, phone, tablet } = await threeDevices();
    await laptop.syncOne(OWN);
    await laptop.send(OWN, 'before');
    await revoke(laptop, phone);
    const messageId = await laptop.queue(OWN, 'after');
    expect(await laptop.api.prepareMessage(messageId)).toMatchObject({ kind: 'commit' });
    await laptop.flush(messageId);
    await tablet.sync();
    expect(await devicesIn(tablet)).toEqual(idsOf(laptop, tablet));
    expect(await notesIn(tablet)).toEqual(['before', 'after']);
    await phone.syncOne(OWN).catch(() => undefined);
    expect(await notesIn(phone)).toEqual(['before']);
  });

  it('stay where the browser that wrote them was removed before anybody read them, and no later one is taken', async () => {
    const { laptop, relay, tablet, world } = await threeDevices();
    const gone = await modifiedClient(world);
    await laptop.sync();
    gone.say(OWN, 'the only copy');
    const statement = await revoke(laptop, gone);
    await know(tablet, gone, statement);
    laptop.submit((await laptop.api.nextCommit(OWN))!);
    const late = JSON.stringify({ v: 1, type: 'text', text: 'from a thief', sentAt: '2026-03-01T10:00:00Z' });
    const id = relay.uuid();
    const { epoch } = relay.log(OWN);
    relay.append(gone, OWN, { id, kind: 'application', epoch, content: gone.encrypt(late, id) });
    for (const device of [laptop, tablet]) {
      await device.sync();
      expect(await notesIn(device)).toEqual(['the only copy']);
      expect(await kept(device, ['messages'])).not.toContain('from a thief');
    }
  });

  it('are there after moving on, as others are, and go on in the new device', async () => {
    const { laptop, relay } = await oneBrowser();
    const formerId = laptop.deviceId;
    await laptop.moveOn(NEW_PASSWORD);
    await rejoin(laptop, OWN);
    expect(laptop.deviceId).not.toBe(formerId);
    expect(await devicesIn(laptop)).toEqual([laptop.deviceId]);
    await laptop.send(OWN, 'after the theft');
    await laptop.sync();
    expect(await notesIn(laptop)).toEqual(['milk', 'after the theft']);
    expect(relay.passwords.get(ALICE)).not.toBe(PASSWORD);
  });
});

describe('a relay that lies about notes', () => {
  it('is found where it damages one, and raises no unread count under another name', async () => {
    const { laptop, relay } = await oneBrowser();
    await laptop.send(OWN, 'to be damaged');
    Object.assign(relay.entries(OWN).at(-1)!, { content: Buffer.from('nonsense').toString('base64url') });
    const by = { userId: BOB, deviceId: BOB };
    const { epoch } = await laptop.api.conversation(OWN);
    relay.append(by, OWN, { kind: 'application', epoch, content: 'AAAA' });
    relay.append(by, OWN, { kind: 'application', epoch: epoch - 1, content: 'AAAA' });
    await laptop.sync();
    expect(await notesIn(laptop)).toEqual(['milk', '(damaged)']);
    const { lastMessage, unread } = await laptop.api.conversation(OWN);
    expect((await laptop.api.setReadPosition(OWN, 'elsewhere', 1)).unread).toBe(0);
    expect([unread, lastMessage?.senderId]).toEqual([0, ALICE]);
  });

  it('gives a text beyond the limit to nobody', async () => {
    const { laptop } = await threeDevices();
    const tooLong = 'x'.repeat(limits.text + 1);
    await expect(laptop.queue(OWN, tooLong)).rejects.toMatchObject({ code: 'usage' });
  });
});
