import { logPositionExtension, withChainHeader } from '@sinetti/crypto-core/content';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogEntryInput } from '#workers/api/cryptoApi.ts';
import { limits } from '#workers/codec/limits.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  GROUP,
  type TestDevice,
} from './support/device.ts';
import { Rogue } from './support/rogue.ts';

const { entriesLinked } = limits;
/** Has every log count as a long one. */
const shorten = () => Object.assign(limits, { entriesLinked: 0 });
afterEach(() => Object.assign(limits, { entriesLinked }));

const findings = async (device: TestDevice, id = GROUP) =>
  (await device.api.events(id))
    .filter(({ change: { kind } }) => kind === 'missing' || kind === 'diverged')
    .map(({ change: { kind }, senderId, seq }) => ({ kind, senderId, seq }));

/**
 * Bob's phone was in the group, read something, and was taken out with Bob, who was then added again.
 * @param isTold the phone reads the commit that takes it out
 */
async function createReturn(
  meanwhile: (phone: TestDevice, alice: TestDevice) => Promise<void>,
  isTold = false,
) {
  const { alice, bob, carol, relay, world } = await createTrio();
  const phone = await world.device(BOB);
  await phone.sync();
  for (const device of [alice, bob, carol]) await device.sync();
  await meanwhile(phone, alice);
  await bob.leave(GROUP);
  await alice.sync();
  if (isTold) {
    await alice.send(GROUP, 'Bob has left.');
    const before = await phone.api.conversation(GROUP);
    await phone.api.processEntries(GROUP, relay.entries(GROUP, before.lastSeq));
  }
  const { lastSeq } = await phone.api.conversation(GROUP);
  await alice.add(GROUP, [BOB]);
  await carol.sync();
  const [welcome] = relay.mailbox(phone.deviceId).splice(0, 1);
  const state = await phone.api.joinByWelcome(welcome!);
  const talk = async () => {
    for (const device of [alice, phone, carol, phone, alice]) {
      for (const one of [alice, carol, phone]) await one.syncOne(GROUP);
      await device.send(GROUP, 'Here again.');
    }
    for (const one of [alice, carol, phone]) await one.syncOne(GROUP);
  };
  return { alice, carol, phone, relay, lastSeq, state, talk };
}

async function read(phone: TestDevice, alice: TestDevice): Promise<void> {
  await alice.send(GROUP, 'Before.');
  await phone.sync();
}

describe('a device that comes back', () => {
  it.each([
    ['that it was taken out', true, false],
    ['nothing of it', false, false],
    ['that it was taken out of a long log', true, true],
    ['nothing of it, of a long log', false, true],
  ])('goes on from what it had read, and raises nothing, where it has read %s', async (_, isTold, isLong) => {
    if (isLong) shorten();
    const { alice, carol, lastSeq, phone, relay, state, talk } = await createReturn(read, isTold);
    expect(state.linkFrom).toBe(isLong ? lastSeq : 0);
    await talk();
    for (const device of [alice, carol, phone]) expect(await findings(device)).toEqual([]);
    expect((await phone.api.conversation(GROUP)).linkFrom).toBeNull();
    const { events } = await phone.api.processEntries(GROUP, relay.entries(GROUP, state.joinedSeq - 1));
    expect(events.map(({ change: { kind } }) => kind)).toContain('returned');
  });

  it('takes the entry that let it in by its digest alone', async () => {
    const { phone, relay, state, talk } = await createReturn(read, true);
    const [joining] = relay.entries(GROUP, state.joinedSeq - 1);
    const [known] = relay.digests(GROUP, state.joinedSeq - 1);
    const entry = { ...joining!, content: '', digest: known!.digest };
    await phone.api.linkLog(GROUP, relay.digests(GROUP, state.linkFrom ?? 0));
    const { events, state: after } = await phone.api.processEntries(GROUP, [entry]);
    expect(events.map(({ change: { kind } }) => kind)).toEqual(['returned']);
    expect(after).toMatchObject({ status: 'joined', lastSeq: state.joinedSeq });
    expect(after.joinedAt).not.toBeNull();
    await talk();
    expect(await findings(phone)).toEqual([]);
  });

  it.each([false, true])(
    'says that the conversations differ, where it was given another one before (in a long log: %s)',
    async (isLong) => {
      if (isLong) shorten();
      const { phone, relay, state, talk } = await createReturn(async (device, alice) => {
        await alice.send(GROUP, 'Before.');
        const { lastSeq } = await device.api.conversation(GROUP);
        const entries = device.relay.entries(GROUP, lastSeq);
        await device.api.processEntries(
          GROUP,
          entries.map((entry, i) =>
            i === entries.length - 1 ? { ...entry, id: device.relay.uuid() } : entry,
          ),
        );
      });
      expect(relay.digests(GROUP, 0).length).toBeGreaterThan(state.joinedSeq - 1);
      await talk();
      expect(await findings(phone)).toEqual([{ kind: 'diverged', senderId: ALICE, seq: state.joinedSeq }]);
    },
  );

  it('says so where the relay makes up what was said meanwhile', async () => {
    const { phone, relay, state } = await createReturn(read);
    const made = relay
      .digests(GROUP, state.linkFrom ?? 0)
      .map(({ seq }) => ({ seq, digest: 'A'.repeat(43) }));
    const { events } = await phone.api.linkLog(GROUP, made);
    expect(events).toMatchObject([{ senderId: ALICE, seq: state.joinedSeq, change: { kind: 'diverged' } }]);
  });
});

describe('a device that has forked and rejoins', () => {
  /** Alice and Bob fork at a garbage commit, before which Bob is given what the relay likes, and talk on. */
  async function fork(seenByBob: (entry: LogEntryInput) => LogEntryInput) {
    const { alice, bob, relay } = await createPair();
    await alice.send(ALICE_AND_BOB, 'Before.');
    await alice.sync();
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    await bob.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, lastSeq).map(seenByBob));
    const { epoch } = relay.log(ALICE_AND_BOB);
    relay.append(alice, ALICE_AND_BOB, { kind: 'commit', epoch, content: 'AAAA' });
    for (const device of [bob, alice, bob, alice]) {
      await device.syncOne(ALICE_AND_BOB);
      if ((await device.api.conversation(ALICE_AND_BOB)).isDoubted)
        await device.api.sendAnyway(ALICE_AND_BOB);
      await device.send(ALICE_AND_BOB, 'Here again.');
    }
    for (const device of [alice, bob]) await device.syncOne(ALICE_AND_BOB);
    const kinds = (await bob.api.events(ALICE_AND_BOB)).map(({ change: { kind } }) => kind);
    expect(kinds).toContain('rejoined');
    return { alice, bob };
  }

  it('goes on from what it had read, and raises nothing', async () => {
    const { alice, bob } = await fork((entry) => entry);
    for (const device of [alice, bob]) expect(await findings(device, ALICE_AND_BOB)).toEqual([]);
  });

  it('says that the conversations differ, where it was given another one before', async () => {
    const { bob } = await fork((entry) => ({ ...entry, id: 'f0000000-0000-4000-8000-00000000000f' }));
    expect(await findings(bob, ALICE_AND_BOB)).toEqual([
      expect.objectContaining({ kind: 'diverged', senderId: ALICE }),
    ]);
  });
});

describe('a GroupInfo that says something false of the log', () => {
  it('names its signer, and has nobody else doubt each other', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await alice.send(GROUP, 'Hello.');
    const carol = await Rogue.ofPerson(relay, CAROL);
    carol.joinFromOutside(GROUP);
    const position = relay.entries(GROUP).length;
    const said = { start: 0, position, hash: new Uint8Array(32).fill(7) };
    carol.commit(GROUP, { infoExtensions: [logPositionExtension(said)] });
    const phone = await world.device(BOB);
    await phone.syncOne(GROUP);
    for (const device of [phone, alice, bob, phone, alice]) {
      for (const one of [alice, bob, phone]) await one.syncOne(GROUP);
      await device.send(GROUP, 'Hello.');
    }
    for (const device of [alice, bob]) expect(await findings(device)).toEqual([]);
    expect(await findings(phone)).toEqual([expect.objectContaining({ kind: 'diverged', senderId: CAROL })]);
  });

  it.each([
    ['in that epoch', false],
    ['in the next', true],
  ])(
    'makes nobody’s header the beginning where it says a later start than there is, %s',
    async (_when, isNext) => {
      const { alice, bob, relay, world } = await createTrio();
      await alice.send(GROUP, 'Hello.');
      const carol = await Rogue.ofPerson(relay, CAROL);
      carol.joinFromOutside(GROUP);
      const start = relay.entries(GROUP).length;
      const late = { start, position: start, hash: new Uint8Array(32) };
      carol.commit(GROUP, { infoExtensions: [logPositionExtension(late)] });
      const joined = relay.entries(GROUP).length;
      const phone = await world.device(BOB);
      await phone.syncOne(GROUP);
      // It renews its leaf first.
      if (isNext) await phone.send(GROUP, 'Hello.');
      for (const { content, kind } of relay.entries(GROUP, joined))
        if (kind === 'commit') carol.follow(content);
      const position = relay.entries(GROUP).length;
      const header = { start: 0, position, hash: new Uint8Array(32).fill(7), count: 1, sentAt: 0 };
      carol.send(GROUP, withChainHeader(header, new TextEncoder().encode('{}')));
      for (const device of [phone, alice, bob, alice]) {
        for (const one of [alice, bob, phone]) await one.syncOne(GROUP);
        await device.send(GROUP, 'Hello.');
      }
      for (const one of [alice, bob, phone]) await one.syncOne(GROUP);
      for (const device of [alice, bob, phone])
        expect(await findings(device)).toEqual([expect.objectContaining({ senderId: CAROL })]);
    },
  );

  it('makes nobody’s header the beginning where it says nothing of the log at all', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await alice.send(GROUP, 'Hello.');
    const carol = await Rogue.ofPerson(relay, CAROL);
    carol.joinFromOutside(GROUP);
    const joined = relay.entries(GROUP).length;
    const phone = await world.device(BOB);
    await phone.syncOne(GROUP);
    for (const { content, kind } of relay.entries(GROUP, joined))
      if (kind === 'commit') carol.follow(content);
    const position = relay.entries(GROUP).length;
    const header = { start: 0, position, hash: new Uint8Array(32).fill(7), count: 1, sentAt: 0 };
    carol.send(GROUP, withChainHeader(header, new TextEncoder().encode('{}')));
    for (const device of [phone, alice, bob]) {
      for (const one of [alice, bob, phone]) await one.syncOne(GROUP);
      await device.send(GROUP, 'Hello.');
    }
    for (const one of [alice, bob, phone]) await one.syncOne(GROUP);
    for (const device of [alice, bob, phone])
      expect(await findings(device)).toEqual([expect.objectContaining({ senderId: CAROL })]);
  });

  it('is believed no further than the relay’s digests, however they are given', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await alice.send(GROUP, 'Hello.');
    await bob.sync();
    const phone = await world.device(BOB);
    const { epoch, groupInfo } = relay.log(GROUP);
    const submission = await phone.api.joinByExternalCommit({ conversationId: GROUP, epoch, groupInfo });
    const { seq } = relay.submit(phone, submission);
    const { state } = await phone.api.processEntries(GROUP, relay.entries(GROUP, seq - 1));
    expect(state.linkFrom).toBe(0);
    for (const digest of relay.digests(GROUP, 0)) await phone.api.linkLog(GROUP, [digest]);
    expect((await phone.api.conversation(GROUP)).linkFrom).toBeNull();
    expect(await findings(phone)).toEqual([]);
  });
});
