import { describe, expect, it } from 'vitest';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  DAY,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';

const ALICE_AND_CAROL = `direct:${ALICE}:${CAROL}`;

type Pair = Awaited<ReturnType<typeof createPair>>;

describe('the outbox', () => {
  it('keeps a message through failure and reload until the log has it', async () => {
    const { alice } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'patience');
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'sending', seq: null });
    expect(await alice.api.messageFailed(messageId, 'network')).toMatchObject({
      status: 'failed',
      failure: 'network',
    });
    const reloaded = await alice.openTab();
    expect(await reloaded.waiting(messageId)).toMatchObject({
      status: 'failed',
      content: { text: 'patience' },
    });
    expect((await reloaded.api.conversation(ALICE_AND_BOB)).lastMessage).toMatchObject({ messageId });

    await reloaded.flush(messageId);
    expect(await reloaded.waiting(messageId)).toMatchObject({ status: 'sent', seq: 2 });
    await reloaded.sync();
    expect(await reloaded.api.outbox()).toEqual([]);
    expect(await reloaded.api.prepareMessage(messageId)).toMatchObject({ kind: 'sent', message: { seq: 2 } });
    // Late answers for a message that the log has change nothing.
    expect(await reloaded.api.messageFailed(messageId, 'timeout')).toMatchObject({ status: 'sent' });
    expect(
      await reloaded.api.messageAccepted(messageId, { seq: 2, timestamp: '2026-03-01T00:00:00.000Z' }),
    ).toMatchObject({ status: 'sent', seq: 2 });
  });

  it('gives up a message that a copy had sent before this device came, without what stands at a place that the relay makes up', async () => {
    const { alice, world } = await createPair();
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
    await alice.send(ALICE_AND_BOB, 'sent by the copy');
    const { entries } = alice.relay.log(ALICE_AND_BOB);
    const sent = entries.findLast(({ kind }) => kind === 'application');
    if (sent === undefined) throw new Error('nothing was sent');
    const phone = await world.device(ALICE);
    const messageId = sent.id;
    await phone.queue(ALICE_AND_BOB, 'sent by the copy', messageId);
    const other = await phone.queue(ALICE_AND_BOB, 'another');
    await phone.start(ALICE_AND_BOB);
    await phone.sync();
    const { joinedSeq } = await phone.api.conversation(ALICE_AND_BOB);
    expect(joinedSeq).toBeGreaterThan(sent.seq);

    await phone.flush(messageId);
    expect((await phone.api.outbox()).map((message) => message.messageId)).toEqual([other]);
    expect((await phone.history(ALICE_AND_BOB)).map(textOf)).toEqual(['sent by the copy']);
    await phone.api.messageAccepted(other, { seq: sent.seq, timestamp: sent.timestamp });
    expect((await phone.history(ALICE_AND_BOB)).map(textOf)).toEqual(['sent by the copy']);
    expect(await phone.waiting(other)).toMatchObject({ status: 'sent' });
  });

  it('takes no word of a relay that has gone back, and stores a message where another one was read', async () => {
    const { alice, relay } = await createPair();
    for (const text of ['first', 'second']) {
      await alice.send(ALICE_AND_BOB, text);
      await alice.sync();
    }
    relay.log(ALICE_AND_BOB).entries.splice(-1);
    const messageId = await alice.queue(ALICE_AND_BOB, 'never arrives');
    await expect(alice.flush(messageId)).rejects.toMatchObject({ code: 'position-taken' });
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'sending', seq: null });
    expect(await alice.api.messageFailed(messageId, 'position-taken')).toMatchObject({
      status: 'failed',
      failure: 'position-taken',
    });
  });

  it('fails a message that the relay said it has, where the log goes on without it, and sends it again', async () => {
    const { alice, bob, relay } = await createPair();
    await bob.sync();
    await alice.send(ALICE_AND_BOB, 'first');
    await Promise.all([alice.sync(), bob.sync()]);
    const messageId = await alice.queue(ALICE_AND_BOB, 'dropped');
    await alice.flush(messageId);
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'sent' });
    relay.log(ALICE_AND_BOB).entries.splice(-1);
    await alice.sync();
    // Nothing says so yet: the relay may be slow.
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'sent' });

    await bob.send(ALICE_AND_BOB, 'instead of it');
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const { messages } = await alice.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, lastSeq));
    const failed = { status: 'failed', failure: 'position-taken', seq: null };
    expect(messages).toContainEqual(expect.objectContaining({ messageId, ...failed }));
    expect(await (await alice.openTab()).waiting(messageId)).toMatchObject(failed);

    await alice.flush(messageId);
    await Promise.all([alice.sync(), bob.sync()]);
    expect(await alice.api.outbox()).toEqual([]);
    for (const device of [alice, bob]) {
      expect((await device.history(ALICE_AND_BOB)).map(textOf)).toEqual([
        'first',
        'instead of it',
        'dropped',
      ]);
    }
  });

  it('loses no message of a device out of step whose acknowledgement names a place that another one takes', async () => {
    const { alice, bob, relay } = await createPair();
    await bob.sync();
    await alice.send(ALICE_AND_BOB, 'first');
    await Promise.all([alice.sync(), bob.sync()]);
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const messageId = await alice.queue(ALICE_AND_BOB, 'under way');
    await alice.api.prepareMessage(messageId);
    bob.submit((await bob.api.setTimer(ALICE_AND_BOB, 3600))!);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'in its place');
    const [commit, other] = relay.entries(ALICE_AND_BOB, lastSeq);
    await alice.api.processEntries(ALICE_AND_BOB, [{ ...commit!, content: 'AAAA' }]);
    const { seq, timestamp } = other!;
    expect(await alice.api.messageAccepted(messageId, { seq, timestamp })).toMatchObject({ status: 'sent' });
    await alice.api.processEntries(ALICE_AND_BOB, [other!]);
    await alice.sync();
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'failed', failure: 'position-taken' });
    await alice.flush(messageId);
    await Promise.all([alice.sync(), bob.sync()]);
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['first', 'in its place', 'under way']);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toContain('under way');
  });

  it('loses none of a device that was taken out and comes back, either', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    const phone = await world.device(BOB);
    for (const device of [phone, alice, bob, carol]) await device.sync();
    const messageId = await phone.queue(GROUP, 'under way');
    const earlier = await phone.queue(GROUP, 'had arrived');
    for (const id of [messageId, earlier]) await phone.api.prepareMessage(id);
    const before = await phone.api.conversation(GROUP);
    await bob.leave(GROUP);
    await alice.sync();
    await alice.send(GROUP, 'Bob has left.');
    const { state } = await phone.api.processEntries(GROUP, relay.entries(GROUP, before.lastSeq));
    expect(state.status).toBe('outside');
    // Behind the commit that takes it out are a message, the one that lets it in again, and another message.
    const seq = state.lastSeq + 3;
    const accepted = await phone.api.messageAccepted(messageId, {
      seq,
      timestamp: '2026-03-01T00:00:00.000Z',
    });
    expect(accepted).toMatchObject({ status: 'sent' });
    await phone.api.messageAccepted(earlier, { seq: seq - 2, timestamp: '2026-03-01T00:00:00.000Z' });
    await alice.add(GROUP, [BOB]);
    await phone.api.joinByWelcome(relay.mailbox(phone.deviceId).splice(0, 1)[0]!);
    await alice.send(GROUP, 'in its place');
    await phone.syncOne(GROUP);
    expect((await phone.history(GROUP)).map(textOf)).toEqual(['had arrived', 'in its place']);
    expect((await phone.api.outbox()).map(textOf)).toEqual(['under way']);
    expect(await phone.waiting(messageId)).toMatchObject({ status: 'failed', failure: 'position-taken' });
  });

  it('gives up a message that another device has sent by the same id', async () => {
    const { alice, world } = await createPair();
    const phone = await world.device(ALICE);
    await phone.start(ALICE_AND_BOB);
    await Promise.all([phone.sync(), alice.sync()]);
    const messageId = await phone.queue(ALICE_AND_BOB, 'in both');
    await alice.queue(ALICE_AND_BOB, 'in both', messageId);
    await alice.flush(messageId);
    await phone.sync();
    expect(await phone.api.outbox()).toEqual([]);
    expect((await phone.history(ALICE_AND_BOB)).map(textOf)).toEqual(['in both']);
  });

  it('encrypts a message at once where nothing has to go first, as preparing it would', async () => {
    const { alice } = await createPair();
    const write = async (device: TestDevice, text: string) => {
      const messageId = device.relay.uuid();
      const sentAt = '2026-03-01T10:00:00.000Z';
      return device.api.queueMessage({ conversationId: ALICE_AND_BOB, messageId, text, sentAt });
    };
    const first = await write(alice, 'first');
    expect(first.ready).toMatchObject({ kind: 'message', messageId: first.message.messageId });
    expect(await alice.api.prepareMessage(first.message.messageId)).toEqual(first.ready);
    // In any tab, the first message waits before this one.
    expect((await write(await alice.openTab(), 'second')).ready).toBeNull();
  });

  it.each([
    ['outside', async ({ world }: Pair) => world.device(ALICE)],
    ['whose own leaf has to be renewed', async ({ bob }: Pair) => bob],
    [
      'whose commit is pending',
      async ({ alice, bob, world }: Pair) => {
        await bob.send(ALICE_AND_BOB, 'before');
        await alice.sync();
        world.clock.advance(DAY);
        const messageId = await alice.queue(ALICE_AND_BOB, 'makes it');
        await alice.api.prepareMessage(messageId);
        await alice.api.discardMessage(messageId);
        return alice;
      },
    ],
  ])('encrypts a message later on a device %s', async (_name, deviceOf) => {
    const device = await deviceOf(await createPair());
    const messageId = device.relay.uuid();
    const sentAt = '2026-03-01T10:00:00.000Z';
    const text = 'hello';
    const queued = await device.api.queueMessage({ conversationId: ALICE_AND_BOB, messageId, text, sentAt });
    expect(queued.ready).toBeNull();
  });

  it('queues the same message once, and refuses another under its id', async () => {
    const { alice } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'once');
    await alice.queue(ALICE_AND_BOB, 'once', messageId);
    expect(await alice.api.outbox()).toHaveLength(1);
    await expect(alice.queue(ALICE_AND_BOB, 'another', messageId)).rejects.toMatchObject({ code: 'usage' });
    await alice.flush(messageId);
    await alice.sync();
    await expect(alice.queue(ALICE_AND_BOB, 'once', messageId)).rejects.toMatchObject({ code: 'usage' });
  });

  it('lists messages in the order of writing', async () => {
    const { alice } = await createPair();
    for (const text of ['a', 'b', 'c']) await alice.queue(ALICE_AND_BOB, text);
    expect((await alice.api.outbox()).map(textOf)).toEqual(['a', 'b', 'c']);
  });

  it('lists the messages of one conversation when asked for it', async () => {
    const { alice } = await createPair();
    for (const text of ['a', 'b']) await alice.queue(ALICE_AND_BOB, text);
    await alice.queue(ALICE_AND_CAROL, 'c');
    expect((await alice.api.outbox(ALICE_AND_BOB)).map(textOf)).toEqual(['a', 'b']);
    expect((await alice.api.outbox(ALICE_AND_CAROL)).map(textOf)).toEqual(['c']);
    expect((await alice.api.outbox()).map(textOf)).toEqual(['a', 'b', 'c']);
  });

  it('answers the state of the conversation with a queued message and without a discarded one', async () => {
    const { alice } = await createPair();
    const [messageId, sentAt] = [alice.relay.uuid(), '2026-03-01T10:00:00.000Z'];
    const queued = { conversationId: ALICE_AND_BOB, messageId, text: 'hello', sentAt };
    const { state } = await alice.api.queueMessage(queued);
    expect(state).toEqual(await alice.api.conversation(ALICE_AND_BOB));
    expect(state.lastMessage).toMatchObject({ messageId });
    expect((await alice.api.queueMessage(queued)).state).toEqual(state);
    const without = await alice.api.discardMessage(messageId);
    expect(without).toEqual(await alice.api.conversation(ALICE_AND_BOB));
    expect(without?.lastMessage).toBeNull();
    await expect(alice.api.discardMessage(alice.relay.uuid())).resolves.toBeNull();
  });

  it('deletes a discarded message, unless the log has it after all', async () => {
    const { alice, bob, relay } = await createPair();
    const unsent = await alice.queue(ALICE_AND_BOB, 'never prepared');
    await alice.api.discardMessage(unsent);
    await expect(alice.api.prepareMessage(unsent)).rejects.toMatchObject({ code: 'unknown-message' });

    const inFlight = await alice.queue(ALICE_AND_BOB, 'too late to stop');
    const prepared = await alice.api.prepareMessage(inFlight);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    await alice.api.discardMessage(inFlight);
    // An answer to the attempt that was under way doesn't bring it back.
    await expect(alice.api.messageFailed(inFlight, 'timeout')).rejects.toMatchObject({
      code: 'unknown-message',
    });
    expect(await alice.api.outbox()).toEqual([]);
    relay.send(alice, prepared);
    expect((await alice.sync()).map(textOf)).toEqual(['too late to stop']);

    const stopped = await alice.queue(ALICE_AND_BOB, 'stopped');
    await alice.api.prepareMessage(stopped);
    await alice.api.discardMessage(stopped);
    // A new epoch deletes the record, since the log can't take its ciphertext any more.
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'commits first');
    await alice.sync();
    await expect(alice.api.prepareMessage(stopped)).rejects.toMatchObject({ code: 'unknown-message' });
    await alice.api.discardMessage(stopped);
  });

  it('refuses to discard a message that was sent', async () => {
    const { alice } = await createPair();
    const messageId = await alice.send(ALICE_AND_BOB, 'sent');
    await expect(alice.api.discardMessage(messageId)).rejects.toMatchObject({ code: 'usage' });
  });

  it('accepts any text of up to 64 KiB, and refuses longer and empty ones', async () => {
    const { alice, bob } = await createPair();
    const texts = ['ä'.repeat(32 * 1024), '"\\\u202e<b>\u0000', '\u0000'.repeat(64 * 1024), '👩‍👩‍👧', ' '];
    for (const text of texts) await alice.send(ALICE_AND_BOB, text);
    await alice.send(ALICE_AND_BOB, 'lone \ud800 surrogate');
    expect((await bob.sync()).map(textOf)).toEqual([...texts, 'lone \ufffd surrogate']);
    for (const text of ['', 'x'.repeat(64 * 1024 + 1), 'ä'.repeat(32 * 1024 + 1)]) {
      await expect(alice.queue(ALICE_AND_BOB, text)).rejects.toMatchObject({ code: 'usage' });
    }
  });
});
