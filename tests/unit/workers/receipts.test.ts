import { describe, expect, it } from 'vitest';
import type { GivenReceipt, LogEntryInput } from '#workers/api/cryptoApi.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  GROUP,
  selfOf,
  type TestDevice,
} from './support/device.ts';
import { readAndReceipt, receiptOf, rogueReceipt, take } from './support/receipts.ts';
import { Rogue } from './support/rogue.ts';

/** Alice and Bob, who have both the same log; nobody has read the last message. */
async function createTalk() {
  const { alice, bob, relay, world } = await createPair();
  await alice.send(ALICE_AND_BOB, 'one');
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'two');
  for (const device of [bob, alice]) await device.sync();
  await alice.send(ALICE_AND_BOB, 'three');
  for (const device of [bob, alice]) await device.sync();
  const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
  return { alice, bob, relay, world, lastSeq };
}

const stateOf = (device: TestDevice, id = ALICE_AND_BOB) => device.api.conversation(id);
const nothing = { found: [], receipts: [], isDoubted: false };
const flipped = (text: string, at: number) =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

describe('receipts', () => {
  it('tell how far somebody has received, then how far they have read', async () => {
    const { alice, bob, lastSeq } = await createTalk();
    expect(await take(alice, await receiptOf(bob))).toEqual({
      ...nothing,
      receipts: [{ userId: BOB, deliveredSeq: lastSeq, readSeq: 0 }],
    });
    expect(await take(alice, await readAndReceipt(bob))).toEqual({
      ...nothing,
      receipts: [{ userId: BOB, deliveredSeq: lastSeq, readSeq: lastSeq }],
    });
    expect((await stateOf(alice)).receipts).toHaveLength(1);
  });

  it('are due when there is more to say, and in each new epoch', async () => {
    const { alice, bob, world } = await createTalk();
    expect((await stateOf(bob)).receiptDue).toBe(true);
    const first = await receiptOf(bob);
    expect((await stateOf(bob)).receiptDue).toBe(false);
    expect(await receiptOf(bob)).toBeNull();
    await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 3);
    expect(await receiptOf(bob)).not.toBeNull();
    await alice.send(ALICE_AND_BOB, 'four');
    await bob.sync();
    expect(await receiptOf(bob)).not.toBeNull();
    // One that the relay has not taken is made again.
    await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 4);
    expect(await bob.api.makeReceipt(ALICE_AND_BOB, true)).not.toBeNull();
    expect(await receiptOf(bob)).not.toBeNull();
    expect(first?.epoch).toBe((await stateOf(bob)).epoch);
    const { epoch } = await stateOf(bob);
    const phone = await world.device(BOB);
    for (const device of [phone, bob]) await device.sync();
    expect((await stateOf(bob)).epoch).toBeGreaterThan(epoch);
    expect((await receiptOf(bob))?.epoch).toBe((await stateOf(bob)).epoch);
    expect((await stateOf(phone)).receiptDue).toBe(true);
  });

  it("rise over all devices of a person, and show nothing of one's own", async () => {
    const { alice, bob, lastSeq, world } = await createTalk();
    const phone = await world.device(BOB);
    for (const device of [phone, bob, alice]) await device.sync();
    const end = (await stateOf(alice)).lastSeq;
    expect(end).toBeGreaterThan(lastSeq);
    await take(alice, await readAndReceipt(bob));
    expect((await take(alice, await receiptOf(phone))).receipts).toEqual([
      { userId: BOB, deliveredSeq: end, readSeq: end },
    ]);
    expect((await take(phone, await readAndReceipt(alice))).receipts).toEqual([
      { userId: ALICE, deliveredSeq: end, readSeq: end },
    ]);
    expect((await take(phone, await readAndReceipt(bob).catch(() => null))).receipts).toHaveLength(1);
  });

  it('of somebody who lets nobody see them show nothing, and are compared all the same', async () => {
    const { alice, bob } = await createTalk();
    await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 4);
    expect(await take(alice, await receiptOf(bob, ALICE_AND_BOB, false))).toEqual(nothing);
  });

  it('say as read what was read here, and nothing by the word of the relay', async () => {
    const { alice, bob, lastSeq } = await createTalk();
    await bob.api.setReadPosition(ALICE_AND_BOB, 'elsewhere', lastSeq);
    expect(await stateOf(bob)).toMatchObject({ readSeq: lastSeq, unread: 0 });
    expect((await take(alice, await receiptOf(bob))).receipts).toMatchObject([{ readSeq: 0 }]);
  });

  it('in groups tell of each member, and of nobody who is gone', async () => {
    const { alice, bob, carol } = await createTrio();
    await alice.send(GROUP, 'Hello.');
    for (const device of [alice, bob, carol]) await device.sync();
    const { lastSeq } = await stateOf(alice, GROUP);
    await take(alice, await readAndReceipt(bob, GROUP), GROUP);
    const { receipts } = await take(alice, await receiptOf(carol, GROUP), GROUP);
    expect(receipts).toEqual([
      { userId: BOB, deliveredSeq: lastSeq, readSeq: lastSeq },
      { userId: CAROL, deliveredSeq: lastSeq, readSeq: 0 },
    ]);
    await bob.leave(GROUP);
    await alice.refreshGroup(GROUP);
    await alice.send(GROUP, 'He is gone.');
    for (const device of [alice, carol]) await device.sync();
    expect((await take(alice, await receiptOf(carol, GROUP), GROUP)).receipts).toMatchObject([
      { userId: CAROL },
    ]);
  });

  it("are none among one's own devices", async () => {
    const { bob, world } = await createTalk();
    const phone = await world.device(BOB);
    for (const device of [phone, bob, phone]) await device.sync();
    expect(await receiptOf(bob, selfOf(BOB))).toBeNull();
  });
});

describe('receipts that are nobody’s', () => {
  it('change nothing: altered, of another place, of nobody, or junk', async () => {
    const { alice, bob, world } = await createTalk();
    const carol = await world.device(CAROL);
    const own = await readAndReceipt(bob);
    const lies: GivenReceipt[] = [
      { ...own, position: own.position - 1 },
      { ...own, epoch: own.epoch - 1 },
      { ...own, epoch: own.epoch + 1 },
      { ...own, userId: ALICE, deviceId: alice.deviceId },
      { ...own, deviceId: alice.deviceId },
      { ...own, userId: CAROL, deviceId: carol.deviceId },
      { ...own, sealed: flipped(own.sealed, 60) },
      { ...own, signature: flipped(own.signature, 20) },
      { ...own, sealed: '' },
      { ...own, signature: '' },
      { ...own, sealed: own.signature, signature: own.sealed.slice(0, 86) },
    ];
    for (const lie of lies) expect(await take(alice, lie)).toEqual(nothing);
    expect((await take(alice, own)).receipts).toHaveLength(1);
  });

  it("are taken for no other member's", async () => {
    const { alice, bob, relay } = await createTrio();
    const rogue = await Rogue.ofPerson(relay, CAROL);
    rogue.joinFromOutside(GROUP);
    for (const device of [alice, bob]) await device.sync();
    const { lastSeq } = await stateOf(alice, GROUP);
    const forged = rogueReceipt(rogue, lastSeq, { userId: BOB, deviceId: bob.deviceId });
    expect((await take(alice, forged, GROUP)).receipts).toEqual([]);
  });

  it('go back to nothing when they are replayed, or lower', async () => {
    const { alice, bob, lastSeq } = await createTalk();
    const delivered = await receiptOf(bob);
    const read = await readAndReceipt(bob);
    await take(alice, read);
    const receipts = [{ userId: BOB, deliveredSeq: lastSeq, readSeq: lastSeq }];
    expect(await take(alice, delivered)).toEqual({ ...nothing, receipts });
    await alice.send(ALICE_AND_BOB, 'four');
    for (const device of [bob, alice]) await device.sync();
    await take(alice, await receiptOf(bob));
    const further = [{ userId: BOB, deliveredSeq: lastSeq + 1, readSeq: lastSeq }];
    expect(await take(alice, read)).toEqual({ ...nothing, receipts: further });
  });

  it('count no more once their epoch is over, and their device is heard again in the next', async () => {
    const { alice, bob, world } = await createTalk();
    const former = await readAndReceipt(bob);
    const phone = await world.device(BOB);
    for (const device of [phone, bob, alice]) await device.sync();
    expect(await take(alice, former)).toEqual(nothing);
    expect((await take(alice, await readAndReceipt(bob))).receipts).toHaveLength(1);
  });

  it('wait for this device where they are ahead of it', async () => {
    const { alice, bob } = await createTalk();
    await alice.send(ALICE_AND_BOB, 'four');
    await alice.send(ALICE_AND_BOB, 'five');
    await alice.sync();
    const ahead = await readAndReceipt(alice);
    expect(await take(bob, ahead)).toEqual(nothing);
    await bob.sync();
    expect((await take(bob, ahead)).receipts).toMatchObject([{ deliveredSeq: ahead.position }]);
  });

  it('of a removed member, or a revoked device, count no more', async () => {
    const { alice, bob, carol } = await createTrio();
    await alice.send(GROUP, 'Hello.');
    for (const device of [alice, bob, carol]) await device.sync();
    const last = await readAndReceipt(bob, GROUP);
    await bob.leave(GROUP);
    await alice.refreshGroup(GROUP);
    await alice.send(GROUP, 'He is gone.');
    await alice.sync();
    expect((await take(alice, last, GROUP)).receipts).toEqual([]);
  });
});

/** Alice writes three messages; Bob is given what a relay makes of them, renumbered, and both write no more. */
async function tell(change: (entries: readonly LogEntryInput[]) => readonly LogEntryInput[]) {
  const { alice, bob, relay, lastSeq, world } = await createTalk();
  for (const text of ['four', 'DO NOT pay it.', 'six']) await alice.send(ALICE_AND_BOB, text);
  await alice.sync();
  const entries = change(relay.entries(ALICE_AND_BOB, lastSeq));
  const renumbered = entries.map((entry, i) => ({ ...entry, seq: lastSeq + 1 + i }));
  await bob.api.processEntries(ALICE_AND_BOB, renumbered);
  return { alice, bob, relay, lastSeq, world };
}

describe('a relay that shows two people different logs', () => {
  it('is noticed at the end of the log too, where no message follows', async () => {
    const { alice, bob, relay, lastSeq } = await tell(([four, five]) => [four!, { ...five!, id: four!.id }]);
    // Up to its middle, where both were given the same but for the last entry.
    expect((await stateOf(bob)).lastSeq).toBe(lastSeq + 2);
    const of = await readAndReceipt(bob);
    expect(await take(alice, of)).toMatchObject({
      found: [{ kind: 'diverged', senderId: BOB, seq: lastSeq + 2 }],
      receipts: [],
      isDoubted: true,
    });
    // Once, and with nothing shown as read.
    expect(await take(alice, of)).toMatchObject({ found: [], receipts: [] });
    expect(relay.entries(ALICE_AND_BOB)).toHaveLength(lastSeq + 3);
  });

  it('is noticed by the receipt of who was given more, which counts what is missing once', async () => {
    const { alice, bob, relay, lastSeq } = await tell(([four, , six]) => [four!, six!]);
    // Alice wrote all three before she read any of them, so that her messages count none of the others.
    expect(await bob.api.events(ALICE_AND_BOB)).toEqual([]);
    await bob.send(ALICE_AND_BOB, 'understood, paying');
    const answer = relay.entries(ALICE_AND_BOB).at(-1)!;
    await bob.api.processEntries(ALICE_AND_BOB, [{ ...answer, seq: lastSeq + 3 }]);
    expect(await take(bob, await readAndReceipt(alice))).toMatchObject({
      found: [{ kind: 'missing', count: 1, senderId: ALICE, seq: lastSeq + 3 }],
      receipts: [],
      isDoubted: true,
    });
    // The next message says the same, and brings no second line.
    await alice.sync();
    await alice.send(ALICE_AND_BOB, 'What?');
    const next = relay.entries(ALICE_AND_BOB).at(-1)!;
    await bob.api.processEntries(ALICE_AND_BOB, [{ ...next, seq: lastSeq + 4 }]);
    expect(await bob.api.events(ALICE_AND_BOB)).toHaveLength(1);
  });

  it('is noticed by a receipt before the next message, which counts it no second time', async () => {
    const { alice, bob, relay } = await createTalk();
    const { lastSeq } = await stateOf(bob);
    await alice.send(ALICE_AND_BOB, 'DO NOT pay it.');
    await bob.send(ALICE_AND_BOB, 'Shall I pay it?');
    await alice.sync();
    const question = relay.entries(ALICE_AND_BOB).at(-1)!;
    await alice.send(ALICE_AND_BOB, 'See above.');
    const answer = relay.entries(ALICE_AND_BOB).at(-1)!;
    await bob.api.processEntries(ALICE_AND_BOB, [{ ...question, seq: lastSeq + 1 }]);
    // Alice's receipt of the first of the two positions comes before she has read on.
    expect(await take(bob, await readAndReceipt(alice))).toMatchObject({ found: [] });
    await bob.api.processEntries(ALICE_AND_BOB, [{ ...answer, seq: lastSeq + 2 }]);
    expect((await bob.api.events(ALICE_AND_BOB)).map(({ change }) => change)).toEqual([
      { kind: 'missing', count: 1 },
    ]);
    expect(await take(bob, await readAndReceipt(alice).catch(() => null))).toMatchObject({ found: [] });
  });

  it('is told of once where several see the same difference', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    for (const device of [alice, carol, bob]) {
      await device.send(GROUP, 'Hello.');
      for (const one of [alice, bob, carol]) await one.sync();
    }
    const { lastSeq } = await stateOf(bob, GROUP);
    await alice.send(GROUP, 'one');
    await carol.send(GROUP, 'two');
    for (const device of [alice, carol]) await device.sync();
    const [one, two] = relay.entries(GROUP, lastSeq);
    await bob.api.processEntries(GROUP, [
      { ...two!, seq: lastSeq + 1 },
      { ...one!, seq: lastSeq + 2 },
    ]);
    expect(await bob.api.events(GROUP)).toEqual([]);
    expect(await take(bob, await readAndReceipt(alice, GROUP), GROUP)).toMatchObject({
      found: [{ kind: 'diverged', senderId: ALICE }],
      receipts: [],
    });
    expect(await take(bob, await readAndReceipt(carol, GROUP), GROUP)).toMatchObject({
      found: [],
      receipts: [],
    });
    // And by Alice and Carol from Bob's.
    const ofBob = await readAndReceipt(bob, GROUP);
    expect(await take(alice, ofBob, GROUP)).toMatchObject({ found: [{ kind: 'diverged', senderId: BOB }] });
    // A group goes on.
    expect((await stateOf(alice, GROUP)).isDoubted).toBe(false);
    await bob.send(GROUP, 'on we go');
    await alice.sync();
    expect((await alice.api.events(GROUP)).filter(({ change }) => change.kind === 'diverged')).toHaveLength(
      1,
    );
  });

  it('is not made up by a receipt from another start', async () => {
    const { alice, relay } = await createTrio();
    const rogue = await Rogue.ofPerson(relay, CAROL);
    rogue.joinFromOutside(GROUP);
    await alice.sync();
    const { lastSeq } = await stateOf(alice, GROUP);
    expect(await take(alice, rogueReceipt(rogue, lastSeq, { start: 1 }), GROUP)).toEqual(nothing);
    // A modified client that says something else is named, once, and shown as having read nothing.
    expect(await take(alice, rogueReceipt(rogue, lastSeq, {}), GROUP)).toMatchObject({
      found: [{ kind: 'diverged', senderId: CAROL, seq: lastSeq }],
      receipts: [],
    });
    await alice.send(GROUP, 'Hello.');
    await alice.sync();
    expect(await take(alice, rogueReceipt(rogue, lastSeq + 1, {}), GROUP)).toEqual(nothing);
  });
});
