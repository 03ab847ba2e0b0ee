import { describe, expect, it } from 'vitest';
import { ALICE_AND_BOB as CHAT, DAY, type TestDevice } from './support/device.ts';
import {
  createHour,
  HOUR,
  lines,
  pass,
  readHere,
  sweep,
  syncAll,
  textsKept,
} from './support/disappearing.ts';
import { OWN } from './support/ownDevices.ts';

const MINUTE = 60 * 1000;

/** Has the relay take a message, and say that it did so at another time. */
async function sendAs(device: TestDevice, text: string, off: number) {
  const messageId = await device.queue(CHAT, text);
  const prepared = await device.api.prepareMessage(messageId);
  if (prepared.kind !== 'message') throw new Error(prepared.kind);
  const { seq, timestamp } = device.relay.send(device, prepared);
  const said = new Date(Date.parse(timestamp) + off).toISOString();
  await device.api.messageAccepted(messageId, { seq, timestamp: said });
  return { messageId, seq, said };
}

describe('the time of an own message', () => {
  it.each([
    ['a day early', -DAY],
    ['a day late', DAY],
  ])('runs by the own clock where the relay says that it had it %s', async (_what, off) => {
    const { alice, world } = await createHour();
    const { messageId } = await sendAs(alice, 'Mine.', off);
    expect(await sweep(alice)).toBe(HOUR);
    await pass(world, HOUR - MINUTE, alice);
    expect((await alice.api.outbox(CHAT)).map((one) => one.messageId)).toEqual([messageId]);
    expect((await alice.api.expireMessages([messageId])).gone).toEqual([]);
    await pass(world, MINUTE, alice);
    expect(await alice.api.outbox(CHAT)).toEqual([]);
    expect((await alice.api.expireMessages([messageId])).gone).toEqual([messageId]);
    expect((await textsKept(alice)).includes('mimi:')).toBe(false);
  });

  it.each([
    ['early', -DAY],
    ['late', DAY],
  ])('runs on by it where the log says one that is a day %s', async (_what, off) => {
    const { alice, world } = await createHour();
    const { said } = await sendAs(alice, 'Mine.', off);
    await pass(world, HOUR / 2, alice);
    const { lastSeq } = await alice.api.conversation(CHAT);
    const entries = alice.relay.entries(CHAT, lastSeq).map((entry) => ({ ...entry, timestamp: said }));
    await alice.api.processEntries(CHAT, entries);
    expect([await lines(alice), await sweep(alice)]).toEqual([['Mine.'], HOUR / 2]);
    await pass(world, HOUR / 2, alice);
    expect(await lines(alice)).toEqual([]);
  });

  it('begins when it went, however long it waited, also where the log is the first to say so', async () => {
    const { alice, world } = await createHour();
    const messageId = await alice.queue(CHAT, 'Waited.');
    await pass(world, 3 * HOUR, alice);
    expect((await alice.api.outbox(CHAT)).map((one) => one.messageId)).toEqual([messageId]);
    const prepared = await alice.api.prepareMessage(messageId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    alice.relay.send(alice, prepared);
    await alice.syncOne(CHAT);
    expect([await lines(alice), await sweep(alice)]).toEqual([['Waited.'], HOUR]);
  });

  it('is over for good where another tab hears of its sending later: nothing is shown as damaged', async () => {
    const { alice, world } = await createHour();
    const { messageId, said, seq } = await sendAs(alice, 'Mine.', 0);
    await pass(world, HOUR, alice);
    const again = alice.api.messageAccepted(messageId, { seq, timestamp: said });
    await expect(again).rejects.toMatchObject({ code: 'unknown-message' });
    expect([await alice.api.outbox(CHAT), await alice.history(CHAT)]).toEqual([[], []]);
    await alice.syncOne(CHAT);
    expect([await lines(alice), (await alice.api.conversation(CHAT)).lastMessage]).toEqual([[], null]);
  });
});

describe('a message that was over before it came', () => {
  it('is neither unread nor told of', async () => {
    const { alice, bob, phone, world } = await createHour();
    await bob.send(CHAT, 'Too late.');
    await alice.sync();
    await readHere(alice);
    await phone.syncOne(OWN);
    world.clock.advance(HOUR);
    const { lastSeq } = await phone.api.conversation(CHAT);
    const { messages, state } = await phone.api.processEntries(CHAT, phone.relay.entries(CHAT, lastSeq));
    expect([messages, state.unread, state.lastMessage]).toEqual([[], 0, null]);
    await bob.send(CHAT, 'In time.');
    await syncAll(phone);
    expect((await phone.api.conversation(CHAT)).unread).toBe(1);
  });

  it('is not counted where its end comes before it is erased', async () => {
    const { alice, bob, phone, world } = await createHour();
    await bob.send(CHAT, 'One.');
    await bob.send(CHAT, 'Two.');
    await syncAll(alice, phone);
    await readHere(alice);
    await phone.syncOne(OWN);
    expect((await phone.api.conversation(CHAT)).unread).toBe(2);
    world.clock.advance(HOUR);
    await phone.api.setReadPosition(CHAT, 'elsewhere', 3);
    expect((await phone.api.conversation(CHAT)).unread).toBe(0);
  });
});

describe('a message that was opened while the clock was ahead', () => {
  it('has no more than its time once the clock is right, less what had passed of it', async () => {
    const { alice, bob, world } = await createHour();
    await bob.send(CHAT, 'Opened in the future.');
    await alice.sync();
    const right = world.clock.now();
    world.clock.set(right + 10 * DAY);
    const ahead = await alice.openTab();
    await readHere(ahead);
    expect(await sweep(ahead)).toBe(HOUR);
    await pass(world, HOUR / 4, ahead);
    world.clock.set(right + HOUR);
    const tab = await alice.openTab();
    expect([await lines(tab), await sweep(tab)]).toEqual([['Opened in the future.'], (3 * HOUR) / 4]);
    // The tab of before goes on by the clock as it is now.
    expect([await sweep(ahead), await lines(ahead)]).toEqual([(3 * HOUR) / 4, ['Opened in the future.']]);
    await pass(world, (3 * HOUR) / 4, tab);
    expect([await lines(tab), await lines(ahead)]).toEqual([[], []]);
  });

  it('has no more than its time, though the browser was closed as it was opened', async () => {
    const { alice, bob, world } = await createHour();
    await bob.send(CHAT, 'Opened in the future.');
    await alice.sync();
    await sweep(alice);
    const right = world.clock.now();
    world.clock.set(right + 10 * DAY);
    const ahead = await alice.openTab();
    await sweep(ahead);
    world.clock.advance(HOUR);
    await readHere(ahead);
    world.clock.set(right + 2 * HOUR);
    const tab = await alice.openTab();
    expect(await sweep(tab)).toBe(HOUR);
  });

  it('has no more than its time, though the relay says of another one that it comes from the future', async () => {
    const { alice, bob, world } = await createHour();
    await bob.send(CHAT, 'Opened in the future.');
    await alice.sync();
    await bob.send(CHAT, 'Another.', new Date(world.clock.now()).toISOString());
    const right = world.clock.now();
    world.clock.set(right + 10 * DAY);
    const ahead = await alice.openTab();
    const { lastSeq } = await ahead.api.conversation(CHAT);
    const timestamp = new Date(right + 5 * DAY).toISOString();
    const entries = ahead.relay.entries(CHAT, lastSeq).map((entry) => ({ ...entry, timestamp }));
    await ahead.api.processEntries(CHAT, entries);
    await readHere(ahead);
    expect(await sweep(ahead)).toBe(HOUR);
    world.clock.set(right + HOUR);
    const tab = await alice.openTab();
    expect(await sweep(tab)).toBe(HOUR);
    await pass(world, HOUR, tab);
    expect(await lines(tab)).toEqual([]);
  });

  it('is left as it is where the clock of now is behind the time of its arrival', async () => {
    const { alice, bob, world } = await createHour();
    await bob.send(CHAT, 'Stays its hour.', new Date(world.clock.now()).toISOString());
    await alice.sync();
    await readHere(alice);
    await sweep(alice);
    const right = world.clock.now();
    world.clock.set(Date.UTC(2020, 0, 1));
    const tab = await alice.openTab();
    await sweep(tab);
    world.clock.set(right + HOUR / 2);
    expect([await lines(tab), await sweep(tab)]).toEqual([['Stays its hour.'], HOUR / 2]);
  });
});
