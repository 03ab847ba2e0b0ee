import { beforeEach, describe, expect, it } from 'vitest';
import { change, linesOf, MemoryCopies, payloadsKept, queueChange } from './support/changes.ts';
import {
  ALICE,
  BOB,
  ALICE_AND_BOB as CHAT,
  createPair,
  type TestDevice,
  type World,
} from './support/device.ts';

let world: World;
let alice: TestDevice;
let bob: TestDevice;
let copies: MemoryCopies;

beforeEach(async () => {
  ({ world, alice, bob } = await createPair());
  copies = new MemoryCopies();
});

async function sync(...others: TestDevice[]): Promise<void> {
  for (const device of [alice, bob, ...others]) await device.sync();
}

async function addDevice(userId: string): Promise<TestDevice> {
  const device = await world.device(userId);
  await sync(device);
  await sync(device);
  return device;
}

/** Returns the lines of a browser that comes in now, by the backup. */
async function linesOfNewDevice(): Promise<string[]> {
  const device = await world.device(ALICE);
  await device.sync();
  await copies.download(device);
  return linesOf(device, CHAT);
}

describe('changes from more than one device', () => {
  it('has no message left of a reaction that two devices take back', async () => {
    const tablet = await addDevice(BOB);
    const id = await alice.send(CHAT, 'Sun.');
    await sync(tablet);
    const thumb = { kind: 'reaction', of: id, emoji: '👍' } as const;
    await change(bob, CHAT, { ...thumb, isTaken: false });
    await sync(tablet);
    await copies.upload(alice);
    const taken = { ...thumb, isTaken: true };
    const [one, other] = [await queueChange(bob, CHAT, taken), await queueChange(tablet, CHAT, taken)];
    await bob.flush(one);
    await tablet.flush(other);
    await sync(tablet);
    await copies.upload(alice);
    expect(await linesOf(alice, CHAT)).toEqual(['Sun.']);
    expect(await linesOfNewDevice()).toEqual(['Sun.']);
  });
});

describe('a message deleted on one device alone', () => {
  it('keeps its edits on the others, until its author deletes it', async () => {
    const tablet = await addDevice(ALICE);
    const id = await bob.send(CHAT, 'Meet at 5.');
    await sync(tablet);
    await change(bob, CHAT, { kind: 'edit', of: id, text: 'Meet at 6.' });
    await sync(tablet);
    await alice.api.deleteMessageHere(CHAT, id);
    await copies.upload(alice);
    await copies.download(tablet);
    expect(await linesOf(tablet, CHAT)).toEqual(['Meet at 6. (edited)']);
    await copies.upload(tablet);
    expect(await linesOfNewDevice()).toEqual(['Meet at 6. (edited)']);
    await change(bob, CHAT, { kind: 'deletion', of: id });
    await sync(tablet);
    await copies.upload(alice);
    expect(await linesOf(alice, CHAT)).toEqual([]);
    expect(await linesOfNewDevice()).toEqual(['(deleted)']);
  });

  it('stays on the others as it was, with an edit that was under way', async () => {
    const tablet = await addDevice(ALICE);
    const id = await alice.send(CHAT, 'Mine.');
    await sync(tablet);
    await copies.upload(alice);
    await copies.download(tablet);
    const edit = { kind: 'edit', of: id, text: 'Mine, edited.' } as const;
    const editId = await queueChange(alice, CHAT, edit);
    const prepared = await alice.api.prepareMessage(editId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    world.relay.send(alice, prepared);
    await alice.api.deleteMessageHere(CHAT, id);
    await sync(tablet);
    await copies.upload(alice);
    await copies.download(tablet);
    expect(await linesOf(alice, CHAT)).toEqual([]);
    expect(await linesOf(tablet, CHAT)).toEqual(['Mine, edited. (edited)']);
    await copies.upload(tablet);
    expect(await linesOfNewDevice()).toEqual(['Mine, edited. (edited)']);
  });
});

describe('a relay that names a place from before a device came', () => {
  it('has a deletion erase its message there as well', async () => {
    const id = await bob.send(CHAT, 'Secret.');
    await sync();
    const before = await payloadsKept(bob);
    const { joinedSeq } = await bob.api.conversation(CHAT);
    const deletion = await queueChange(bob, CHAT, { kind: 'deletion', of: id });
    const prepared = await bob.api.prepareMessage(deletion);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    const { timestamp } = world.relay.send(bob, prepared);
    await bob.api.messageAccepted(deletion, { seq: joinedSeq, timestamp });
    expect(await linesOf(bob, CHAT)).toEqual(['(deleted)']);
    // The deletion instead of the message.
    expect(await payloadsKept(bob)).toBe(before);
  });
});
