import { describe, expect, it } from 'vitest';
import type { ConversationChange, ConversationEvent } from '#workers/api/cryptoApi.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  createWorld,
  DAVE,
  GROUP,
} from './support/device.ts';
import { Rogue } from './support/rogue.ts';
import { dump } from './support/storage.ts';

const changes = (events: readonly ConversationEvent[]): ConversationChange[] =>
  events.map(({ change }) => change);

describe('the events of a group', () => {
  it('keep who was added and removed, for later tabs and sessions of every member', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    const dave = await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    for (const device of [bob, carol, dave]) await device.sync();
    await carol.leave(GROUP);
    await alice.sync();
    const removal = await alice.api.nextCommit(GROUP);
    if (removal === null) throw new Error('nobody to remove');
    alice.submit(removal);
    for (const device of [alice, bob, dave]) await device.sync();

    const daveCame = { kind: 'members', added: [DAVE], removed: [] };
    const carolLeft = { kind: 'members', added: [], removed: [CAROL] };
    const others = { kind: 'members', added: [BOB, CAROL], removed: [] };
    const afterReload = await bob.openTab();
    expect(changes(await alice.api.events(GROUP))).toEqual([others, daveCame, carolLeft]);
    expect(changes(await afterReload.api.events(GROUP))).toEqual([daveCame, carolLeft]);
    // A person's own arrival is no event on their device.
    expect(changes(await dave.api.events(GROUP))).toEqual([carolLeft]);
    const [first] = await bob.api.events(GROUP);
    const entry = relay.entries(GROUP).find(({ seq }) => seq === first?.seq);
    expect(first).toMatchObject({
      conversationId: GROUP,
      senderId: ALICE,
      senderDeviceId: alice.deviceId,
      timestamp: entry?.timestamp,
    });
  });

  it('are answered once, with the entries that they happened in', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await world.device(DAVE);
    const { lastSeq } = await bob.api.conversation(GROUP);
    await alice.add(GROUP, [DAVE]);
    const entries = relay.entries(GROUP, lastSeq);
    const first = await bob.api.processEntries(GROUP, entries);
    expect(changes(first.events)).toEqual([{ kind: 'members', added: [DAVE], removed: [] }]);
    expect((await bob.api.processEntries(GROUP, entries)).events).toEqual([]);
    expect(await bob.api.events(GROUP)).toEqual(first.events);
  });

  it('do not include a new device of a member, a renewed leaf or a direct message', async () => {
    const { alice, bob, world } = await createTrio();
    const before = await alice.api.events(GROUP);
    const phone = await world.device(BOB);
    await phone.sync();
    await bob.sync();
    await bob.send(GROUP, 'a commit goes first');
    await alice.sync();
    expect(await alice.api.events(GROUP)).toEqual(before);

    const pair = await createPair();
    const laptop = await pair.world.device(ALICE);
    await laptop.sync();
    await pair.bob.sync();
    expect(await pair.bob.api.events(ALICE_AND_BOB)).toEqual([]);
  });

  it('tell a device of a return when its person left on another device and was added again', async () => {
    const { alice, bob, relay, world } = await createTrio();
    const phone = await world.device(BOB);
    await phone.sync();
    await bob.leave(GROUP);
    await alice.sync();
    await alice.add(GROUP, [BOB]);
    const { joinedAt } = await phone.api.conversation(GROUP);
    expect(joinedAt).not.toBeNull();
    const [welcome] = relay.mailbox(phone.deviceId);
    const { joinedSeq, status } = await phone.api.joinByWelcome(welcome!);
    expect(status).toBe('joined');
    expect(await phone.api.events(GROUP)).toEqual([]);
    const entry = relay.entries(GROUP, joinedSeq - 1);
    const { events } = await phone.api.processEntries(GROUP, entry);
    expect(changes(events)).toEqual([{ kind: 'returned' }]);
    expect(events[0]).toMatchObject({ seq: joinedSeq, senderId: ALICE, timestamp: entry[0]?.timestamp });
    expect((await phone.api.processEntries(GROUP, entry)).events).toEqual([]);
    expect(await phone.api.events(GROUP)).toEqual(events);
    // The same Welcome lets nobody in a second time.
    // Messages from before the removal stay readable.
    expect((await phone.api.joinByWelcome(welcome!)).joinedAt).toBe(joinedAt);
    await bob.sync();
    expect(await bob.api.events(GROUP)).toEqual([]);
  });

  it('are sealed, and deleted with the conversation', async () => {
    const { alice } = await createTrio();
    expect(await alice.api.events(GROUP)).toHaveLength(1);
    expect((await dump(alice.browser)).includes(Buffer.from('senderDeviceId'))).toBe(false);
    await alice.api.forgetConversation(GROUP);
    expect(await alice.api.events(GROUP)).toEqual([]);
  });
});

describe('a commit that is refused', () => {
  it('leaves an event with its code, and another with the members found at the rejoin', async () => {
    const world = createWorld();
    const { relay } = world;
    const alice = await world.device(ALICE);
    const carol = await world.device(CAROL);
    const bob = await Rogue.create(relay, BOB, 'bob');
    const dave = await Rogue.create(relay, DAVE, 'dave');
    bob.publish();
    await alice.createGroup(GROUP, 'Skerry', [BOB, CAROL]);
    bob.join();
    await carol.sync();
    const before = await carol.api.events(GROUP);
    bob.commit(GROUP, { adds: [dave] });
    const refused = relay.entries(GROUP).at(-1);
    const { lastSeq } = await carol.api.conversation(GROUP);
    const { events } = await carol.api.processEntries(GROUP, relay.entries(GROUP, lastSeq));
    expect(events).toEqual([
      {
        conversationId: GROUP,
        seq: refused?.seq,
        senderId: BOB,
        senderDeviceId: refused?.sender_device_id,
        timestamp: refused?.timestamp,
        change: { kind: 'refused', code: 'policy' },
      },
    ]);

    // The creator rejoins and removes the stranger; then Carol rejoins.
    await alice.sync();
    await alice.send(GROUP, 'put right');
    await carol.sync();
    const after = (await carol.api.events(GROUP)).slice(before.length + 1);
    expect(changes(after)).toEqual([{ kind: 'rejoined', added: [], removed: [] }]);
    const tab = await carol.openTab();
    expect(await tab.api.events(GROUP)).toHaveLength(before.length + 2);
  });

  it('leaves an event in a direct conversation and for an earlier epoch, too', async () => {
    const { alice, bob, relay } = await createPair();
    const [start] = relay.entries(ALICE_AND_BOB);
    relay.append(alice, ALICE_AND_BOB, { kind: 'commit', epoch: 0, content: start!.content });
    relay.append(alice, ALICE_AND_BOB, { kind: 'commit', epoch: 1, content: 'AAAA' });
    await bob.sync();
    expect(changes(await bob.api.events(ALICE_AND_BOB))).toEqual([
      { kind: 'refused', code: 'wrong-epoch' },
      { kind: 'refused', code: 'unsupported' },
      { kind: 'rejoined', added: [], removed: [] },
    ]);
  });

  it('loses its event to newer ones, so that a relay that repeats commits fills no disk', async () => {
    const { alice, bob, relay } = await createPair();
    const [start] = relay.entries(ALICE_AND_BOB);
    for (let count = 0; count < 1010; count++) {
      relay.append(alice, ALICE_AND_BOB, { kind: 'commit', epoch: 0, content: start!.content });
    }
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    const entries = relay.entries(ALICE_AND_BOB, lastSeq);
    for (const part of [entries.slice(0, 500), entries.slice(500)]) {
      await bob.api.processEntries(ALICE_AND_BOB, part);
    }
    const kept = await bob.api.events(ALICE_AND_BOB);
    expect(kept.map(({ seq }) => seq)).toEqual(entries.slice(-1000).map(({ seq }) => seq));
  });

  it('reports members who were added earlier in the same batch only once', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    relay.append(alice, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    await bob.sync();
    expect(changes(await bob.api.events(GROUP))).toEqual([
      { kind: 'members', added: [DAVE], removed: [] },
      { kind: 'refused', code: 'unsupported' },
      { kind: 'rejoined', added: [], removed: [] },
    ]);
  });
});

describe('the names of members', () => {
  const names = [
    { userId: ALICE, name: 'alice' },
    { userId: BOB, name: 'bob' },
  ];

  it('are kept after members left, renewed when they change, and deleted with the group', async () => {
    const { alice } = await createTrio();
    await alice.api.rememberMemberNames(GROUP, names);
    await alice.api.rememberMemberNames(GROUP, [{ userId: ALICE, name: 'alicia' }]);
    const tab = await alice.openTab();
    expect((await tab.api.memberNames()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { userId: ALICE, name: 'alicia' },
      { userId: BOB, name: 'bob' },
    ]);
    expect((await dump(alice.browser)).includes(Buffer.from('alicia'))).toBe(false);
    await alice.api.forgetConversation(GROUP);
    await alice.api.rememberMemberNames(GROUP, names);
    expect(await alice.api.memberNames()).toEqual([]);
  });

  it('are refused for a direct conversation, and when they are too long', async () => {
    const { alice } = await createTrio();
    const remember = (id: string, name: string) => alice.api.rememberMemberNames(id, [{ userId: BOB, name }]);
    await expect(remember(ALICE_AND_BOB, 'bob')).rejects.toMatchObject({ code: 'usage' });
    await expect(remember(GROUP, 'x'.repeat(257))).rejects.toMatchObject({ code: 'usage' });
  });
});
