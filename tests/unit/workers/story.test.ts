import { describe, expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, createPair, createWorld, DAY, textOf } from './support/device.ts';
import { StaleEpoch } from './support/relay.ts';

describe('two people', () => {
  it('start a conversation, join it by Welcome, and send both ways', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'hello');
    expect((await bob.sync()).map(textOf)).toEqual(['hello']);
    await bob.send(ALICE_AND_BOB, 'hi');
    await alice.sync();
    await bob.sync();
    for (const device of [alice, bob]) {
      expect((await device.history(ALICE_AND_BOB)).map(textOf)).toEqual(['hello', 'hi']);
      expect(await device.api.outbox()).toEqual([]);
    }
    const [hello, hi] = await alice.history(ALICE_AND_BOB);
    expect([hello?.status, hi?.status]).toEqual(['sent', 'received']);
    expect([hello?.senderId, hi?.senderId]).toEqual([ALICE, BOB]);
  });

  it('have as unread what the other one has written, and nothing of their own from any device', async () => {
    const { alice, bob, world } = await createPair();
    const phone = await world.device(BOB);
    await phone.sync();
    await alice.sync();
    await alice.send(ALICE_AND_BOB, 'one');
    for (const device of [bob, phone]) await device.sync();
    await phone.send(ALICE_AND_BOB, 'from the phone');
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'from the laptop');
    await alice.sync();
    const unreadOf = async (device: typeof bob) => (await device.api.conversation(ALICE_AND_BOB)).unread;
    expect(await unreadOf(bob)).toBe(1);
    expect(await unreadOf(alice)).toBe(2);
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    expect(await bob.api.setReadPosition(ALICE_AND_BOB, 'here', lastSeq)).toMatchObject({ unread: 0 });
  });

  it('see the members of the tree, and how far they have read', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await alice.send(ALICE_AND_BOB, 'two');
    await bob.sync();
    const state = await bob.api.conversation(ALICE_AND_BOB);
    expect(state).toMatchObject({
      status: 'joined',
      epoch: 1,
      joinedSeq: 1,
      lastSeq: 3,
      unread: 2,
      readSeq: 0,
    });
    expect(new Map(state.members.map(({ userId, deviceIds }) => [userId, deviceIds]))).toEqual(
      new Map([
        [ALICE, [alice.deviceId]],
        [BOB, [bob.deviceId]],
      ]),
    );
    expect(state.lastMessage && textOf(state.lastMessage)).toBe('two');

    expect(await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 2)).toMatchObject({ readSeq: 2, unread: 1 });
    expect(await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 9)).toMatchObject({ readSeq: 9, unread: 0 });
    // Another device had read further than this one had processed, so the next messages aren't unread.
    await alice.send(ALICE_AND_BOB, 'three');
    await bob.sync();
    expect(await bob.api.conversation(ALICE_AND_BOB)).toMatchObject({ unread: 0 });
    expect(await bob.api.setReadPosition(ALICE_AND_BOB, 'here', 4)).toMatchObject({ readSeq: 9 });
    expect((await bob.api.conversations()).map(({ conversationId }) => conversationId)).toEqual([
      ALICE_AND_BOB,
    ]);
  });

  it('start at the same time: the later start joins the first one, and no message is lost', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    const fromAlice = await alice.queue(ALICE_AND_BOB, 'me first');
    const fromBob = await bob.queue(ALICE_AND_BOB, 'no, me');
    const claim = (device: typeof alice) => world.relay.claim([ALICE, BOB], device.deviceId);
    const [winner, loser] = await Promise.all([
      alice.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages: claim(alice) }),
      bob.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages: claim(bob) }),
    ]);
    expect(await bob.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'starting' });
    world.relay.submit(alice, winner);
    expect(() => world.relay.submit(bob, loser)).toThrow(StaleEpoch);

    // The other person's start replaces the device's own; later entries are left until the Welcome.
    const { state } = await bob.api.processEntries(ALICE_AND_BOB, world.relay.entries(ALICE_AND_BOB));
    expect(state).toMatchObject({ status: 'outside', lastSeq: 0 });

    await bob.flush(fromBob);
    await alice.flush(fromAlice);
    await bob.sync();
    await alice.sync();
    for (const device of [alice, bob]) {
      expect((await device.history(ALICE_AND_BOB)).map(textOf).sort()).toEqual(['me first', 'no, me']);
    }
  });

  it('resume a start that never reached the relay', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    const messageId = await alice.queue(ALICE_AND_BOB, 'finally');
    const keyPackages = world.relay.claim([ALICE, BOB], alice.deviceId);
    const lost = await alice.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages });

    const again = await (await alice.openTab()).api.prepareMessage(messageId);
    expect(again).toEqual({ kind: 'commit', submission: lost });
    await alice.flush(messageId);
    expect((await bob.sync()).map(textOf)).toEqual(['finally']);
  });

  it('renew their own leaf before the first message, then after 50 messages or 24 hours', async () => {
    const { alice, bob, relay, world } = await createPair();
    const commits = () => relay.entries(ALICE_AND_BOB).filter(({ kind }) => kind === 'commit');
    await alice.send(ALICE_AND_BOB, 'the starter has just committed');
    expect(commits()).toHaveLength(1);
    await bob.send(ALICE_AND_BOB, 'first');
    await bob.send(ALICE_AND_BOB, 'second');
    expect(commits().map(({ sender_id }) => sender_id)).toEqual([ALICE, BOB]);

    for (let i = 3; i <= 50; i++) await bob.send(ALICE_AND_BOB, `number ${i}`);
    expect(commits()).toHaveLength(2);
    await bob.send(ALICE_AND_BOB, 'number 51');
    expect(commits()).toHaveLength(3);

    world.clock.advance(DAY - 1);
    await bob.send(ALICE_AND_BOB, 'not yet');
    expect(commits()).toHaveLength(3);
    world.clock.advance(1);
    await bob.send(ALICE_AND_BOB, 'a day later');
    expect(commits()).toHaveLength(4);

    await alice.sync();
    const texts = (await alice.history(ALICE_AND_BOB)).map(textOf);
    expect(texts).toHaveLength(54);
    expect(texts.at(-1)).toBe('a day later');
  });

  it('encrypt a message again when the epoch changed, and once only in each', async () => {
    const { alice, bob, relay } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'in between');
    const first = await alice.api.prepareMessage(messageId);
    expect(await alice.api.prepareMessage(messageId)).toEqual(first);
    expect(await (await alice.openTab()).api.prepareMessage(messageId)).toEqual(first);

    await bob.send(ALICE_AND_BOB, 'my first, so I commit');
    await alice.sync();
    const second = await alice.api.prepareMessage(messageId);
    expect(first).toMatchObject({ kind: 'message', epoch: 1, messageId });
    expect(second).toMatchObject({ kind: 'message', epoch: 2, messageId });

    await alice.flush(messageId);
    expect((await bob.sync()).map(textOf)).toEqual(['my first, so I commit', 'in between']);
    expect(relay.entries(ALICE_AND_BOB).filter(({ id }) => id === messageId)).toHaveLength(1);
  });
});

describe('a second browser of the same person', () => {
  it('joins by external commit, reads later messages, and shows a reason for older ones', async () => {
    const { alice, bob, relay, world } = await createPair();
    await alice.send(ALICE_AND_BOB, 'before the laptop');
    await bob.sync();

    const laptop = await world.device(ALICE);
    expect(laptop.deviceId).not.toBe(alice.deviceId);
    expect((await laptop.sync()).map(textOf)).toEqual(['(before-join)']);
    const state = await laptop.api.conversation(ALICE_AND_BOB);
    expect(state).toMatchObject({ status: 'joined', joinedSeq: 3, lastSeq: 3, unread: 0 });

    await laptop.send(ALICE_AND_BOB, 'from the laptop');
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'to both');
    await alice.sync();
    await laptop.sync();
    const expected = ['from the laptop', 'to both'];
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['before the laptop', ...expected]);
    expect((await laptop.history(ALICE_AND_BOB)).map(textOf)).toEqual(expected);
    expect((await alice.history(ALICE_AND_BOB)).at(1)).toMatchObject({
      status: 'received',
      senderId: ALICE,
      senderDeviceId: laptop.deviceId,
    });
    expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ unread: 1 });

    // The history view passes old entries in. Those from before the join get a reason, which is not stored.
    const old = await laptop.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB).slice(0, 2));
    expect(old.messages.map(textOf)).toEqual(['(before-join)']);
    const all = await laptop.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB));
    expect(all.messages.map(textOf)).toEqual(['(before-join)', ...expected]);
    expect(await laptop.history(ALICE_AND_BOB)).toHaveLength(2);
  });

  it('leaves the log alone while it is outside', async () => {
    const { world, relay } = await createPair();
    const laptop = await world.device(ALICE);
    const result = await laptop.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB));
    expect(result).toMatchObject({ messages: [], state: { status: 'outside', lastSeq: 0 } });
  });

  it('makes its external commit again when another commit came first', async () => {
    const { alice, bob, relay, world } = await createPair();
    const laptop = await world.device(ALICE);
    const { epoch, groupInfo } = relay.log(ALICE_AND_BOB);
    const late = await laptop.api.joinByExternalCommit({ conversationId: ALICE_AND_BOB, epoch, groupInfo });
    const messageId = await laptop.queue(ALICE_AND_BOB, 'made it');
    expect(await laptop.api.prepareMessage(messageId)).toEqual({ kind: 'wait' });
    await bob.send(ALICE_AND_BOB, 'commits first');
    expect(() => relay.submit(laptop, late)).toThrow(StaleEpoch);

    await laptop.sync();
    await laptop.flush(messageId);
    expect((await alice.sync()).map(textOf)).toEqual(['commits first', 'made it']);
    expect((await bob.sync()).map(textOf)).toEqual(['commits first', 'made it']);
  });

  it('rejoins in the place of its old leaf after its storage was erased', async () => {
    const { alice, bob, world } = await createPair();
    await alice.send(ALICE_AND_BOB, 'kept by Bob');
    await bob.sync();
    await alice.api.erase();
    const again = await world.device(ALICE);
    expect((await again.sync()).map(textOf)).toEqual(['(before-join)']);
    await again.send(ALICE_AND_BOB, 'new keys');
    expect((await bob.sync()).map(textOf)).toEqual(['new keys']);
  });
});

describe('the calls of a conversation', () => {
  it("refuse groups without a name, other people's conversations and starts without anybody", async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const start = (conversationId: string) =>
      alice.api.startConversation({ conversationId, keyPackages: [] });
    await expect(start(`group:${ALICE}`)).rejects.toMatchObject({ code: 'usage' });
    await expect(start(`direct:${BOB}:${CAROL}`)).rejects.toMatchObject({ code: 'usage' });
    await expect(start(`direct:${BOB}:${ALICE}`)).rejects.toMatchObject({ code: 'usage' });
    await expect(start(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'usage' });
  });

  it('name the position of a missing entry, and process no entry then', async () => {
    const { alice, bob, relay } = await createPair();
    for (const text of ['one', 'two', 'three', 'four']) await alice.send(ALICE_AND_BOB, text);
    const [, one, two, , four] = relay.entries(ALICE_AND_BOB);
    const give = (...entries: (typeof one)[]) =>
      bob.api.processEntries(
        ALICE_AND_BOB,
        entries.filter((entry) => entry !== undefined),
      );
    await expect(give(two)).rejects.toMatchObject({ code: 'gap', detail: '2' });
    await expect(give(one, two, four)).rejects.toMatchObject({ code: 'gap', detail: '4' });
    await expect(give(two, one)).rejects.toMatchObject({ code: 'usage' });
    expect(await bob.api.conversation(ALICE_AND_BOB)).toMatchObject({ lastSeq: 1 });
    const twice = await give(one, one, two);
    expect(twice.messages.map(textOf)).toEqual(['one', 'two']);
    expect((await bob.sync()).map(textOf)).toEqual(['three', 'four']);
  });

  it('answer a Welcome that was processed before with the state as it is', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    await alice.start(ALICE_AND_BOB);
    const [welcome] = world.relay.mailbox(bob.deviceId);
    if (welcome === undefined) throw new Error('no Welcome');
    const joined = await bob.api.joinByWelcome(welcome);
    expect(joined).toMatchObject({ status: 'joined', epoch: 1, joinedSeq: 1, lastSeq: 1 });
    expect(joined.members.map(({ userId }) => userId).sort()).toEqual([ALICE, BOB]);
    await bob.send(ALICE_AND_BOB, 'in');
    await bob.sync();
    expect(await bob.api.joinByWelcome(welcome)).toMatchObject({ status: 'joined', epoch: 2, lastSeq: 3 });
  });
});
