import { describe, expect, it } from 'vitest';
import { copyDatabases } from '#tests/support/copyDatabases.ts';
import type { LogEntryInput, RetentionRules } from '#workers/api/cryptoApi.ts';
import { Browser } from './support/browser.ts';
import {
  ALICE_AND_BOB,
  BOB,
  createPair,
  createTrio,
  DAY,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { OWN, threeDevices } from './support/ownDevices.ts';
import { readAndReceipt, receiptOf } from './support/receipts.ts';
import { expire } from './support/retention.ts';

const KEPT: RetentionRules = { days: 90, ownReceipt: null };

type Pair = Awaited<ReturnType<typeof createPair>>;
type Setting = Pick<Pair, 'relay' | 'world'>;

/** Writes a message by a right clock, which its writer reads in the log. */
async function say({ relay, world }: Setting, device: TestDevice, id = ALICE_AND_BOB): Promise<void> {
  await device.send(id, `m${relay.log(id).entries.length}`, new Date(world.clock.now()).toISOString());
  await device.syncOne(id);
}

/** Processes what the relay says now of what is new to a device. */
async function read(
  device: TestDevice,
  retention: RetentionRules | undefined = KEPT,
  id = ALICE_AND_BOB,
  change: (entry: LogEntryInput) => LogEntryInput = (entry) => entry,
) {
  const { lastSeq } = await device.api.conversation(id);
  const entries = device.relay.entries(id, lastSeq).map(change);
  return device.api.processEntries(id, entries, retention);
}

const changes = async (device: TestDevice, id = ALICE_AND_BOB) =>
  (await device.api.events(id)).map(({ change, seq }) => ({ seq, ...change }));

const daysEarlier = (entry: LogEntryInput, days: number): LogEntryInput => ({
  ...entry,
  timestamp: new Date(Date.parse(entry.timestamp) - days * DAY).toISOString(),
});

/** Alice and Bob, who have read a message; then Bob was away, while she wrote two that the relay calls deleted. */
async function awayFor(days: number) {
  const pair = await createPair();
  const { alice, bob, relay, world } = pair;
  await say(pair, alice);
  await bob.sync();
  const from = (await bob.api.conversation(ALICE_AND_BOB)).lastSeq;
  await say(pair, alice);
  await say(pair, alice);
  world.clock.advance(days * DAY);
  expire(relay, ALICE_AND_BOB);
  return { ...pair, from, count: relay.log(ALICE_AND_BOB).entries.length - from };
}

describe('messages that the relay says it has deleted, before its own rules let it', () => {
  it('did not arrive: that is said in their place, and a direct conversation asks before it sends on', async () => {
    const { bob, count, from } = await awayFor(3);
    const { events, state } = await read(bob);
    expect(events.map(({ change }) => change)).toEqual([{ kind: 'withheld', count, upTo: from + count }]);
    expect(await changes(bob)).toEqual([{ seq: from + 1, kind: 'withheld', count, upTo: from + count }]);
    expect(state.isDoubted).toBe(true);
    const messageId = await bob.queue(ALICE_AND_BOB, 'Did you write?');
    expect(await bob.api.prepareMessage(messageId)).not.toMatchObject({ kind: 'message' });
  });

  it('are no older than what was read before them, whatever time the relay says', async () => {
    const { bob } = await awayFor(3);
    await read(bob, KEPT, ALICE_AND_BOB, (entry) => daysEarlier(entry, 100));
    expect((await changes(bob)).map(({ kind }) => kind)).toEqual(['withheld']);
  });

  it('are no younger for a time to come that the relay says', async () => {
    const { bob } = await awayFor(3);
    await read(bob, KEPT, ALICE_AND_BOB, (entry) => daysEarlier(entry, -100));
    expect((await changes(bob)).map(({ kind }) => kind)).toEqual(['withheld']);
  });

  it('are counted by themselves behind those that it may have deleted', async () => {
    const pair = await createPair();
    const { alice, bob, relay, world } = pair;
    await bob.sync();
    const from = (await bob.api.conversation(ALICE_AND_BOB)).lastSeq;
    await say(pair, alice);
    const old = relay.log(ALICE_AND_BOB).entries.length;
    world.clock.advance(95 * DAY);
    await say(pair, alice);
    expire(relay, ALICE_AND_BOB);
    const entries = relay.entries(ALICE_AND_BOB, from);
    const upTo = entries.at(-1)?.seq ?? 0;
    // One by one, as parts of a long log come.
    for (const entry of entries) await bob.api.processEntries(ALICE_AND_BOB, [entry], KEPT);
    const found = await changes(bob);
    expect(found.map(({ kind }) => kind)).toEqual(['expired', 'withheld']);
    expect(found).toMatchObject([{ count: 1, upTo: old }, { upTo }]);
  });

  it('are found in groups, too, which go on', async () => {
    const trio = await createTrio();
    const { alice, carol, relay, world } = trio;
    await say(trio, alice, GROUP);
    await carol.sync();
    await say(trio, alice, GROUP);
    world.clock.advance(DAY);
    expire(relay, GROUP);
    const { state } = await read(carol, KEPT, GROUP);
    expect((await changes(carol, GROUP)).filter(({ kind }) => kind !== 'members')).toMatchObject([
      { kind: 'withheld', count: 1 },
    ]);
    expect(state.isDoubted).toBe(false);
    await carol.send(GROUP, 'I missed something.');
  });

  it('are found among the person’s own browsers', async () => {
    const own = await threeDevices();
    const { laptop, phone, relay } = own;
    await phone.sync();
    await say(own, laptop, OWN);
    expire(relay, OWN);
    await read(phone, KEPT, OWN);
    expect(await changes(phone, OWN)).toMatchObject([{ kind: 'withheld', count: 0 }]);
  });

  it('are found where a change of the keys is among them, of which the device comes back', async () => {
    const pair = await createPair();
    const { alice, bob, relay, world } = pair;
    await say(pair, alice);
    await bob.sync();
    const from = (await bob.api.conversation(ALICE_AND_BOB)).lastSeq;
    world.clock.advance(3 * DAY);
    await say(pair, alice);
    const commit = relay.entries(ALICE_AND_BOB, from).find(({ kind }) => kind === 'commit');
    expire(relay, ALICE_AND_BOB, commit?.seq);
    await read(bob);
    expect(await changes(bob)).toMatchObject([{ seq: commit?.seq, kind: 'withheld', count: 1 }]);
    await bob.syncOne(ALICE_AND_BOB);
    expect((await bob.api.conversation(ALICE_AND_BOB)).status).toBe('joined');
  });

  it('are found although the relay has made up a receipt of this device', async () => {
    const { bob, from, relay } = await awayFor(3);
    const genuine = await readAndReceipt(bob);
    const { epoch, sealed, signature } = genuine;
    const position = relay.log(ALICE_AND_BOB).entries.length;
    expect(position).toBeGreaterThan(from);
    await read(bob, { days: 90, ownReceipt: { epoch, position, sealed, signature } });
    expect((await changes(bob)).map(({ kind }) => kind)).toEqual(['withheld']);
  });

  it('can be got from the message backup all the same', async () => {
    const pair = await createPair();
    const { alice, bob, relay, world } = pair;
    const tablet = await world.device(BOB);
    await tablet.sync();
    for (const device of [alice, bob, tablet]) await device.sync();
    await say(pair, alice);
    await tablet.sync();
    expire(relay, ALICE_AND_BOB);
    await read(bob);
    expect((await changes(bob)).at(-1)).toMatchObject({ kind: 'withheld', count: 1 });
    const { copies } = (await tablet.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
    await bob.readState();
    const { messages } = await bob.api.readBackup(copies.map((copy, at) => ({ ...copy, position: at + 1 })));
    expect(messages.map(textOf)).toHaveLength(1);
  });
});

describe('what the relay may have deleted raises no alarm', () => {
  it.each([
    ['its days are over', 91, KEPT],
    ['this device’s clock is a day behind', 89, KEPT],
    ['the operator has lowered the days meanwhile', 31, { days: 30, ownReceipt: null }],
    ['the operator had lowered them for a while, which the relay says', 8, { days: 7, ownReceipt: null }],
    ['the relay was not asked', 3, undefined],
  ] as const)('%s', async (_, days, retention) => {
    const { bob, count, from } = await awayFor(days);
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    await bob.api.processEntries(ALICE_AND_BOB, bob.relay.entries(ALICE_AND_BOB, lastSeq), retention);
    expect(await changes(bob)).toEqual([{ seq: from + 1, kind: 'expired', count, upTo: from + count }]);
    expect((await bob.api.conversation(ALICE_AND_BOB)).isDoubted).toBe(false);
  });

  it('the device’s clock is far behind what it has read before', async () => {
    const { bob, world } = await awayFor(3);
    world.clock.advance(-30 * DAY);
    await read(bob);
    expect((await changes(bob)).map(({ kind }) => kind)).toEqual(['expired']);
  });

  it('this device has acknowledged it in another place, of which this storage is an earlier copy', async () => {
    const { bob, ...pair } = await createPair();
    const { relay } = pair;
    await say({ relay, world: pair.world }, pair.alice);
    await bob.sync();
    const browser = new Browser('backup', pair.world.clock);
    await copyDatabases(bob.browser.indexedDB, browser.indexedDB);
    const api = browser.tab();
    expect(await api.resume(bob.userId)).not.toBeNull();
    const backup = Object.assign(Object.create(bob) as TestDevice, { browser, api });
    await say(pair, pair.alice);
    await bob.sync();
    const given = await receiptOf(bob);
    if (given === null) throw new Error('no receipt');
    const { epoch, position, sealed, signature } = given;
    expire(relay, ALICE_AND_BOB);
    await read(backup, { days: 90, ownReceipt: { epoch, position, sealed, signature } });
    expect((await changes(backup)).map(({ kind }) => kind)).toEqual(['expired']);
  });

  it('its sender has deleted the account, a change of the keys among it', async () => {
    const pair = await createPair();
    const { alice, bob, relay, world } = pair;
    await say(pair, alice);
    await bob.sync();
    world.clock.advance(3 * DAY);
    await say(pair, alice);
    expire(relay, ALICE_AND_BOB);
    await read(bob, KEPT, ALICE_AND_BOB, (entry) => ({ ...entry, expired: undefined }));
    expect((await changes(bob)).map(({ kind }) => kind)).not.toContain('withheld');
  });
});
