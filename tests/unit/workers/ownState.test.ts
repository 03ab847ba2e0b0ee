import { describe, expect, it } from 'vitest';
import type { ProcessResult } from '#workers/api/cryptoApi.ts';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, createWorld, type TestDevice } from './support/device.ts';
import {
  kept,
  keptMessages,
  modifiedClient,
  newest,
  OWN,
  refused,
  revoke,
  threeDevices,
} from './support/ownDevices.ts';
import { Rogue } from './support/rogue.ts';

const read = (seq: number) => ({ reads: [{ conversationId: ALICE_AND_BOB, seq }], drafts: [] });
const draft = (text: string) => ({ reads: [], drafts: [{ conversationId: ALICE_AND_BOB, text }] });

/** Says what the page has noted. @returns whether there was something to say */
async function tell(device: TestDevice, state: Parameters<TestDevice['api']['tellOwnDevices']>[0]) {
  const isDue = await device.api.tellOwnDevices(state);
  for (const { messageId } of await device.api.outbox(OWN)) await device.flush(messageId);
  return isDue;
}

/** Returns what a device is told by the entries that it has not processed yet. */
async function told(device: TestDevice): Promise<ProcessResult['ownState']> {
  const { lastSeq } = await device.api.conversation(OWN);
  const entries = device.relay.entries(OWN, lastSeq);
  return (await device.api.processEntries(OWN, entries)).ownState;
}

const own = (overrides: object) =>
  JSON.stringify({ v: 1, type: 'own-state', reads: [], drafts: [], ...overrides });

describe('read positions and drafts among own devices', () => {
  it('are told by one message, made as it is encrypted, of the newest of each', async () => {
    const { laptop, phone } = await threeDevices();
    await laptop.api.tellOwnDevices(read(3));
    await laptop.api.tellOwnDevices(read(2));
    await laptop.api.tellOwnDevices(draft('Half'));
    expect(await laptop.api.outbox(OWN)).toHaveLength(1);
    expect(await kept(laptop, ['outbox'])).not.toContain('Half');
    expect(await tell(laptop, draft('Half a'))).toBe(true);
    expect(await told(phone)).toEqual({ ...read(3), drafts: draft('Half a').drafts });
    await laptop.sync();
    expect(await tell(laptop, { reads: [], drafts: [] })).toBe(false);
    for (const device of [laptop, phone]) {
      expect(await kept(device, ['messages', 'outbox'])).not.toContain('Half');
      expect(await device.api.conversation(OWN)).toMatchObject({ lastMessage: null, unread: 0 });
    }
  });

  it('go by messages that the outbox and the relay can hold, however much there is to tell', async () => {
    const { laptop, phone } = await threeDevices();
    const chats = Array.from({ length: 100 }, () => `direct:${ALICE}:b${laptop.relay.uuid().slice(1)}`);
    for (const conversationId of chats)
      await laptop.api.setMute({ conversationId, until: 8.64e15, mentions: true });
    const reads = chats.map((conversationId) => ({ conversationId, seq: 1_000_000 }));
    const drafts = [0, 1].map((at) => ({ conversationId: chats[at] ?? '', text: 'x'.repeat(48_000) }));
    await tell(laptop, { reads, drafts });
    expect((await told(phone))?.drafts).toEqual(drafts);
    for (let more = true; more; await laptop.sync())
      more = (await tell(laptop, { reads: [], drafts: [] })) ?? false;
    await phone.sync();
    expect(await phone.api.mutes()).toHaveLength(100);
  });

  it('leave a draft untold that is longer than a message may be, and tell the rest', async () => {
    const { laptop, phone } = await threeDevices();
    await tell(laptop, { ...read(3), drafts: draft('x'.repeat(70_000)).drafts });
    expect(await told(phone)).toEqual({ ...read(3), drafts: [] });
    await tell(laptop, draft('Half'));
    expect((await told(phone))?.drafts).toEqual(draft('Half').drafts);
  });

  it('are told to nobody where there is no other device', async () => {
    const world = createWorld();
    const laptop = await world.device(ALICE);
    expect(await laptop.api.tellOwnDevices(draft('Half'))).toBe(false);
    expect(await laptop.api.outbox()).toEqual([]);
  });

  it('give the newer draft, whichever comes last, and an empty one for one that was sent', async () => {
    const { laptop, phone, world } = await threeDevices();
    await tell(laptop, draft('One'));
    await told(phone);
    await phone.api.tellOwnDevices(draft(''));
    await tell(phone, draft(''));
    expect((await told(laptop))?.drafts).toEqual(draft('').drafts);
    const rogue = await modifiedClient(world);
    rogue.send(OWN, own({ drafts: [{ conversationId: ALICE_AND_BOB, text: 'Old', at: 1 }] }));
    expect((await told(laptop))?.drafts).toEqual([]);
  });

  it('are told on after a device has said them, and what is muted, of the end of time', async () => {
    const { laptop, phone, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    const at = { conversationId: ALICE_AND_BOB, at: 8.64e15 };
    const mutes = [{ ...at, until: 8.64e15, mentions: true }];
    rogue.send(OWN, own({ drafts: [{ ...at, text: 'Old' }], mutes }));
    for (const device of [laptop, phone]) await told(device);
    world.clock.advance(1000);
    await laptop.api.setMute({ conversationId: ALICE_AND_BOB, until: 0, mentions: true });
    await tell(laptop, draft('New'));
    expect(await told(phone)).toMatchObject({ ...draft('New'), mutes: true });
    await laptop.sync();
    expect(await tell(laptop, { reads: [], drafts: [] })).toBe(false);
    for (const device of [laptop, phone]) expect(await device.api.mutes()).toEqual([]);
  });

  it('are told to a device whose clock was ahead as it has said them, too', async () => {
    const { laptop, phone, world } = await threeDevices();
    const right = world.clock.now();
    world.clock.set(right + 365 * 24 * 60 * 60_000);
    await laptop.api.setMute({ conversationId: ALICE_AND_BOB, until: 8.64e15, mentions: true });
    await laptop.api.tellOwnDevices(draft('Old'));
    world.clock.set(right + 1000);
    await tell(laptop, { reads: [], drafts: [] });
    for (const device of [laptop, phone]) await told(device);
    world.clock.advance(1000);
    await phone.api.setMute({ conversationId: ALICE_AND_BOB, until: 0, mentions: true });
    await tell(phone, draft('New'));
    expect(await told(laptop)).toMatchObject({ ...draft('New'), mutes: true });
    expect(await laptop.api.mutes()).toEqual([]);
  });

  it('go on where the relay says that it had them before there was time', async () => {
    const { laptop } = await threeDevices();
    await laptop.api.setMute({ conversationId: ALICE_AND_BOB, until: 8.64e15, mentions: true });
    await tell(laptop, draft('Half'));
    const { lastSeq } = await laptop.api.conversation(OWN);
    const entries = laptop.relay.entries(OWN, lastSeq);
    const early = entries.map((entry) => ({ ...entry, timestamp: '0001-01-01T00:00:00.000Z' }));
    await laptop.api.processEntries(OWN, early);
    expect(await laptop.api.mutes()).toHaveLength(1);
    expect(await tell(laptop, draft('Half a'))).toBe(true);
  });

  it('are taken from no revoked device, and from none that breaks the rules', async () => {
    const { laptop, tablet, world } = await threeDevices();
    const rogue = await modifiedClient(world);
    await laptop.sync();
    const others = [
      own({ reads: [{ conversationId: `direct:${BOB}:${CAROL}`, seq: 1 }] }),
      own({ reads: [{ conversationId: ALICE_AND_BOB, seq: -1 }] }),
      own({ v: 2 }),
      own({ drafts: [{ conversationId: ALICE_AND_BOB, text: 'x'.repeat(70_000), at: 1 }] }),
    ];
    for (const payload of others) {
      rogue.send(OWN, payload);
      expect(await told(laptop)).toBeUndefined();
      expect(await newest(laptop)).toEqual(refused);
    }
    rogue.send(OWN, own(read(5)));
    expect((await told(tablet))?.reads).toEqual(read(5).reads);
    rogue.send(OWN, own(read(9)));
    await revoke(laptop, rogue);
    expect(await told(laptop)).toBeUndefined();
    expect(await newest(laptop)).toEqual(refused);
  });

  it('leave next to nothing among the notes, and one of them that is given again looks like no copy of this browser’s', async () => {
    const { laptop, phone, relay } = await threeDevices();
    await laptop.send(OWN, 'milk');
    for (let at = 0; at < 12; at += 1) await tell(laptop, draft(`Half ${at}`));
    for (const device of [laptop, phone]) await device.syncOne(OWN);
    expect(await keptMessages(phone)).toHaveLength(1);
    expect((await keptMessages(laptop)).length).toBeLessThan(8);
    expect(await laptop.api.messageCount(OWN)).toBe(1);

    const { content, epoch, id } = relay
      .entries(OWN)
      .find(({ seq }) => seq === relay.log(OWN).entries.length - 10)!;
    const sender = { userId: ALICE, deviceId: laptop.deviceId };
    relay.append(sender, OWN, { kind: 'application', epoch, content, id });
    const { lastSeq } = await laptop.api.conversation(OWN);
    const result = await laptop.api.processEntries(OWN, relay.entries(OWN, lastSeq));
    expect(result).not.toHaveProperty('isCopied');
  });

  it('leave nothing among the notes where they can’t be read', async () => {
    const { laptop, phone, world } = await threeDevices();
    await laptop.send(OWN, 'milk');
    await phone.syncOne(OWN);
    const rogue = await modifiedClient(world);
    await phone.syncOne(OWN);
    // Into an epoch that the phone doesn't follow.
    rogue.commit(OWN, { adds: [await Rogue.create(world.relay, BOB, 'bob')] });
    rogue.send(OWN, own(read(5)));
    const { lastSeq } = await phone.api.conversation(OWN);
    const { state } = await phone.api.processEntries(OWN, world.relay.entries(OWN, lastSeq));
    expect(state).toMatchObject({ status: 'forked', lastSeq: world.relay.log(OWN).entries.length });
    expect(await keptMessages(phone)).toHaveLength(1);
  });
});
