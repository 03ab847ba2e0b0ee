import { describe, expect, it } from 'vitest';
import type { ConversationEvent, LogEntryInput } from '#workers/api/cryptoApi.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  createWorld,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { Rogue } from './support/rogue.ts';

/** Returns what a device has found: who said it, and what. */
async function findings(device: TestDevice, id = ALICE_AND_BOB) {
  const events = await device.api.events(id);
  return events.filter(isFinding).map(({ change, senderId, seq }) => ({ ...change, senderId, seq }));
}

function isFinding({ change }: ConversationEvent): boolean {
  return change.kind === 'missing' || change.kind === 'diverged';
}

/** Gives a device the log as a lying relay has it. */
async function give(
  device: TestDevice,
  entries: readonly LogEntryInput[],
  id = ALICE_AND_BOB,
): Promise<string[]> {
  const { lastSeq } = await device.api.conversation(id);
  const renumbered = entries.map((entry, i) => ({ ...entry, seq: lastSeq + 1 + i }));
  const { messages } = await device.api.processEntries(id, renumbered);
  return messages.map(textOf);
}

/** Alice and Bob, who have written to each other; then Alice writes some more, which Bob has not been given. */
async function createTalk(texts: readonly string[]) {
  const { alice, bob, relay, world } = await createPair();
  await alice.send(ALICE_AND_BOB, 'Here is the bill.');
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'Thank you.');
  await bob.sync();
  await alice.sync();
  const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
  for (const text of texts) {
    await alice.send(ALICE_AND_BOB, text);
    await alice.sync();
  }
  return { alice, bob, relay, world, unread: relay.entries(ALICE_AND_BOB, lastSeq) };
}

describe('a relay that drops a message and renumbers', () => {
  it('is noticed with the next one, in the place of the one that is missing', async () => {
    const { bob, unread } = await createTalk(['First.', 'DO NOT pay it, it is forged.', 'Third.']);
    const [first, , third] = unread;
    expect(await give(bob, [first!, third!])).toEqual(['First.', 'Third.']);
    expect(await findings(bob)).toEqual([
      { kind: 'missing', count: 1, senderId: ALICE, seq: first!.seq + 1 },
    ]);
  });

  it('is noticed once for each cause, and again for the next', async () => {
    const { alice, bob, relay, unread } = await createTalk(['1', '2', '3', '4', '5', '6', '7']);
    await give(bob, [unread[0]!, unread[2]!, unread[3]!, unread[4]!]);
    expect(await findings(bob)).toHaveLength(1);
    await give(bob, [unread[6]!]);
    expect(await findings(bob)).toMatchObject([
      { kind: 'missing', count: 1 },
      { kind: 'missing', count: 1 },
    ]);
    await alice.send(ALICE_AND_BOB, '8');
    await give(bob, [relay.entries(ALICE_AND_BOB).at(-1)!]);
    expect(await findings(bob)).toHaveLength(2);
  });

  it('counts what is missing of several', async () => {
    const { bob, unread } = await createTalk(['1', '2', '3', '4']);
    await give(bob, [unread[3]!]);
    expect(await findings(bob)).toMatchObject([{ kind: 'missing', count: 3, senderId: ALICE }]);
  });
});

describe('a relay that shows two people different logs', () => {
  it('is noticed where it gives messages in another order', async () => {
    const { bob, unread } = await createTalk(['1', '2', '3']);
    await give(bob, [unread[1]!, unread[0]!, unread[2]!]);
    // The second says, before the first has come, that there is one before it.
    expect(await findings(bob)).toMatchObject([{ kind: 'missing', count: 1, senderId: ALICE }]);
  });

  it('is noticed where it gives answers in another order', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    for (const device of [alice, carol]) {
      await device.send(GROUP, 'Hello.');
      for (const one of [alice, bob, carol]) await one.sync();
    }
    const { lastSeq } = await bob.api.conversation(GROUP);
    await alice.send(GROUP, 'Shall we go?');
    await carol.send(GROUP, 'No.');
    await alice.sync();
    await alice.send(GROUP, 'Why not?');
    const [question, answer, last] = relay.entries(GROUP, lastSeq);
    expect(await give(bob, [answer!, question!, last!], GROUP)).toEqual(['No.', 'Shall we go?', 'Why not?']);
    expect(await findings(bob, GROUP)).toMatchObject([{ kind: 'diverged', senderId: ALICE }]);
  });

  it('is noticed where it puts another entry into the place of one', async () => {
    const { bob, relay, unread } = await createTalk(['1', '2', '3']);
    await give(bob, [
      { ...unread[0]!, content: unread[1]!.content, id: relay.uuid() },
      unread[1]!,
      unread[2]!,
    ]);
    expect(await findings(bob)).toMatchObject([{ kind: 'diverged', senderId: ALICE }]);
  });

  it('is noticed where it gives a message twice, once', async () => {
    const { alice, bob, relay, unread } = await createTalk(['1', '2']);
    await give(bob, [unread[0]!, { ...unread[0]!, id: relay.uuid() }, unread[1]!]);
    await alice.send(ALICE_AND_BOB, '3');
    await give(bob, [relay.entries(ALICE_AND_BOB).at(-1)!]);
    expect(await findings(bob)).toMatchObject([{ kind: 'diverged', senderId: ALICE }]);
    for (const text of ['4', '5', '6', '7']) {
      await alice.sync();
      await alice.send(ALICE_AND_BOB, text);
      await give(bob, [relay.entries(ALICE_AND_BOB).at(-1)!]);
    }
    // Its positions differ from then on, which shows once more.
    expect((await findings(bob)).length).toBeLessThanOrEqual(2);
  });

  it('is noticed by whoever reads next, also where one of them was left out', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    await carol.send(GROUP, 'From Carol.');
    for (const device of [alice, bob, carol]) await device.sync();
    const { lastSeq } = await bob.api.conversation(GROUP);
    await carol.send(GROUP, 'For Alice only.');
    await alice.sync();
    await alice.send(GROUP, 'Understood.');
    const [hidden, answer] = relay.entries(GROUP, lastSeq).filter(({ kind }) => kind === 'application');
    expect([hidden?.sender_id, answer?.sender_id]).toEqual([CAROL, ALICE]);
    const entries = relay.entries(GROUP, lastSeq).filter((entry) => entry !== hidden);
    await give(bob, entries, GROUP);
    expect(await findings(bob, GROUP)).toMatchObject([{ kind: 'diverged', senderId: ALICE }]);
  });

  it('is noticed where it gives another entry at a position that was read', async () => {
    const { alice, bob, relay } = await createTalk([]);
    await bob.send(ALICE_AND_BOB, 'Yes.');
    await alice.sync();
    const last = relay.entries(ALICE_AND_BOB).at(-1)!;
    await alice.api.processEntries(ALICE_AND_BOB, [last]);
    expect(await findings(alice)).toEqual([]);
    for (let times = 0; times < 2; times++)
      await alice.api.processEntries(ALICE_AND_BOB, [{ ...last, id: relay.uuid() }]);
    expect(await findings(alice)).toMatchObject([{ kind: 'diverged', senderId: BOB, seq: last.seq }]);
  });

  it('is compared with anew after a difference, so that the next one is noticed too', async () => {
    const { alice, bob, relay, unread } = await createTalk(['1', '2', '3']);
    await give(bob, [unread[1]!, unread[0]!, unread[2]!]);
    for (const text of ['4', '5', '6', '7']) {
      await alice.send(ALICE_AND_BOB, text);
      await alice.sync();
    }
    const next = relay.entries(ALICE_AND_BOB, unread[2]!.seq);
    await give(bob, [next[0]!, next[2]!, next[1]!, next[3]!]);
    expect(await findings(bob)).toHaveLength(2);
  });
});

describe('a direct conversation in which something was found', () => {
  it('is in doubt until the person sends anyway, and a group never is', async () => {
    const { bob, unread } = await createTalk(['1', '2']);
    expect((await bob.api.conversation(ALICE_AND_BOB)).isDoubted).toBe(false);
    await give(bob, [unread[1]!]);
    expect((await bob.api.conversation(ALICE_AND_BOB)).isDoubted).toBe(true);
    const input = { conversationId: ALICE_AND_BOB, sentAt: '2026-03-01T10:00:00.000Z', text: 'Yes.' };
    expect((await bob.api.queueMessage({ ...input, messageId: bob.relay.uuid() })).ready).toBeNull();
    expect((await bob.api.sendAnyway(ALICE_AND_BOB)).isDoubted).toBe(false);
  });
});

describe('an honest relay', () => {
  it('raises nothing over epochs, answers and own messages', async () => {
    const { alice, bob } = await createTalk(['1', '2']);
    for (let round = 0; round < 60; round++) {
      await bob.sync();
      await bob.send(ALICE_AND_BOB, `b${round}`);
      await alice.sync();
      await alice.send(ALICE_AND_BOB, `a${round}`);
    }
    await bob.sync();
    expect([...(await findings(alice)), ...(await findings(bob))]).toEqual([]);
    expect((await alice.api.conversation(ALICE_AND_BOB)).epoch).toBeGreaterThan(3);
  });

  it('raises nothing where the content of a deleted account is gone, which is said', async () => {
    const { alice, bob, relay } = await createTalk(['1', '2']);
    const log = relay.log(ALICE_AND_BOB).entries;
    const [digest] = relay.digests(ALICE_AND_BOB, log.length - 2);
    log[log.length - 2] = { ...log[log.length - 2]!, content: '', digest: digest!.digest };
    await alice.send(ALICE_AND_BOB, '3');
    expect((await bob.sync()).map(textOf)).toEqual(['(deleted)', '2', '3']);
    expect(await findings(bob)).toEqual([]);
  });
});

describe('a device that is let in later', () => {
  it('hashes on from where the member who added it had read', async () => {
    const { alice, bob, world } = await createTalk(['1', '2']);
    await bob.sync();
    const second = await world.device(BOB);
    await second.sync();
    await second.send(ALICE_AND_BOB, 'From my phone.');
    await alice.sync();
    await alice.send(ALICE_AND_BOB, '3');
    await second.sync();
    await bob.sync();
    for (const device of [alice, bob, second]) expect(await findings(device)).toEqual([]);
    expect((await second.api.conversation(ALICE_AND_BOB)).linkFrom).toBeNull();
  });

  it('notices a message that is dropped right after it came', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    await carol.send(GROUP, 'Before Dave.');
    const dave = await world.device('d0000000-0000-4000-8000-000000000004');
    for (const device of [alice, bob, carol]) await device.sync();
    await alice.add(GROUP, [dave.userId]);
    for (const device of [bob, carol, dave]) await device.sync();
    const { lastSeq } = await dave.api.conversation(GROUP);
    await bob.send(GROUP, 'Not for Dave.');
    await carol.sync();
    await carol.send(GROUP, 'Hello Dave.');
    const entries = relay.entries(GROUP, lastSeq).filter(({ sender_id }, i, all) => {
      const isHidden = sender_id === BOB && all[i]?.kind === 'application';
      return !isHidden;
    });
    await give(dave, entries, GROUP);
    expect(await findings(dave, GROUP)).toMatchObject([{ kind: 'diverged', senderId: CAROL }]);
  });

  it('reads nothing on while the relay keeps back how it came to be let in', async () => {
    const { alice, bob, relay } = await createPairOutside();
    await alice.send(ALICE_AND_BOB, '1');
    const [welcome] = relay.mailbox(bob.deviceId);
    await bob.api.joinByWelcome(welcome!);
    const entries = relay.entries(ALICE_AND_BOB, welcome!.seq);
    await expect(bob.api.processEntries(ALICE_AND_BOB, entries)).rejects.toMatchObject({ code: 'gap' });
    await bob.link(ALICE_AND_BOB);
    await bob.api.processEntries(ALICE_AND_BOB, entries);
    expect(await findings(bob)).toEqual([]);
  });

  it('notices digests that the relay has made up', async () => {
    const { alice, bob, relay } = await createPairOutside();
    await alice.send(ALICE_AND_BOB, '1');
    await alice.sync();
    await alice.send(ALICE_AND_BOB, '2');
    const [welcome] = relay.mailbox(bob.deviceId);
    await bob.api.joinByWelcome(welcome!);
    await bob.api.linkLog(ALICE_AND_BOB, [{ seq: 1, digest: 'A'.repeat(43) }]);
    await bob.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, welcome!.seq));
    expect(await findings(bob)).toMatchObject([{ kind: 'diverged', senderId: ALICE }]);
  });
});

describe('a conversation from before the running hash was kept', () => {
  /** Two devices of Alice's that were added by a client which says nothing of the log. */
  async function createOld() {
    const { relay, device } = createWorld();
    const bob = await Rogue.create(relay, BOB, 'bob');
    const [one, two] = [await device(ALICE), await device(ALICE)];
    const claimed = relay.claim([ALICE], '').map(({ keyPackage }) => keyPackage);
    const { commit, groupInfo, welcome } = bob.found(ALICE_AND_BOB, claimed);
    relay.submit(bob, {
      conversationId: ALICE_AND_BOB,
      epoch: 0,
      commit,
      groupInfo,
      signature: '',
      tree: null,
      welcomes: [{ deviceIds: [one.deviceId, two.deviceId], welcome }],
      sealedName: null,
      addedIds: [],
      removedIds: [],
    });
    for (const device of [one, two]) await device.sync();
    return { one, two, relay };
  }

  it('starts it with the first header, and raises nothing', async () => {
    const { one, two } = await createOld();
    for (let round = 0; round < 4; round++) {
      for (const [from, to] of [[one, two] as const, [two, one] as const]) {
        await from.send(ALICE_AND_BOB, `${round}`);
        await from.sync();
        await to.sync();
      }
    }
    expect([...(await findings(one)), ...(await findings(two))]).toEqual([]);
  });

  it('notices from then on what is dropped', async () => {
    const { one, two, relay } = await createOld();
    for (const [from, to] of [[one, two] as const, [two, one] as const]) {
      await from.send(ALICE_AND_BOB, 'Hello.');
      await from.sync();
      await to.sync();
    }
    const { lastSeq } = await two.api.conversation(ALICE_AND_BOB);
    for (const text of ['1', '2', '3']) {
      await one.send(ALICE_AND_BOB, text);
      await one.sync();
    }
    const [first, , third] = relay.entries(ALICE_AND_BOB, lastSeq);
    await give(two, [first!, third!]);
    expect(await findings(two)).toMatchObject([{ kind: 'missing', count: 1, senderId: ALICE }]);
  });
});

async function createPairOutside() {
  const world = createWorld();
  const alice = await world.device(ALICE);
  const bob = await world.device(BOB);
  await alice.start(ALICE_AND_BOB);
  return { alice, bob, relay: world.relay };
}
