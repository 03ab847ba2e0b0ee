import { groupBindingExtension } from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import type { LogEntryInput } from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, createPair, createWorld, textOf } from './support/device.ts';
import { decode, Rogue } from './support/rogue.ts';
import { createPairWithRogue } from './support/roguePair.ts';

type Pair = Awaited<ReturnType<typeof createPair>>;

function flipped(content: string, at: number): string {
  const bytes = decode(content);
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  return toBase64Url(bytes);
}

/** The entries that a hostile relay puts in the log before Bob's message `good`. */
const forgeries: Record<
  string,
  { reason: string; forge: (pair: Pair, good: LogEntryInput) => Partial<LogEntryInput> }
> = {
  'tampered at the end': {
    reason: 'damaged',
    forge: (_, good) => ({ content: flipped(good.content, -1) }),
  },
  'tampered in the header': {
    reason: 'damaged',
    forge: (_, good) => ({ content: flipped(good.content, 6) }),
  },
  truncated: { reason: 'damaged', forge: (_, good) => ({ content: good.content.slice(0, -40) }) },
  'with bytes behind it': {
    reason: 'damaged',
    forge: (_, good) => ({ content: toBase64Url(new Uint8Array([...decode(good.content), 0])) }),
  },
  empty: { reason: 'damaged', forge: () => ({ content: '' }) },
  'not base64url': { reason: 'damaged', forge: (_, good) => ({ content: `${good.content}=` }) },
  'of another id': { reason: 'damaged', forge: ({ relay }) => ({ id: relay.uuid() }) },
  'of an earlier epoch': { reason: 'damaged', forge: (_, good) => ({ epoch: good.epoch - 1 }) },
  'of a later epoch': { reason: 'damaged', forge: (_, good) => ({ epoch: good.epoch + 1 }) },
  'a commit as a message': {
    reason: 'damaged',
    forge: ({ relay }) => ({ content: relay.entries(ALICE_AND_BOB)[1]!.content }),
  },
  'of an invented device': {
    reason: 'unknown-device',
    forge: ({ relay }) => ({ sender_device_id: relay.uuid() }),
  },
  "of another person's device": { reason: 'unknown-device', forge: () => ({ sender_id: ALICE }) },
  'of another device that is in the group': {
    reason: 'rules',
    forge: ({ relay }) => {
      const laptop = relay.devices.at(-1)!;
      return { sender_id: laptop.userId, sender_device_id: laptop.deviceId };
    },
  },
  'of the own device in another name': {
    reason: 'rules',
    forge: ({ alice }) => ({ sender_id: BOB, sender_device_id: alice.deviceId }),
  },
  'of the own device, never written here': {
    reason: 'storage-erased',
    forge: ({ alice }) => ({ sender_id: ALICE, sender_device_id: alice.deviceId }),
  },
};

describe('a forged message', () => {
  it.each(Object.entries(forgeries))(
    'shows a forged message with its reason, and the next one after it: %s',
    async (_name, { reason, forge }) => {
      const pair = await createPair();
      const { alice, bob, relay, world } = pair;
      await bob.send(ALICE_AND_BOB, 'settled');
      const laptop = await world.device(ALICE);
      await laptop.sync();
      await alice.sync();
      await bob.sync();

      const messageId = await bob.queue(ALICE_AND_BOB, 'good');
      const prepared = await bob.api.prepareMessage(messageId);
      if (prepared.kind !== 'message') throw new Error(prepared.kind);
      const good = {
        id: messageId,
        kind: 'application',
        epoch: prepared.epoch,
        content: prepared.content,
        sender_id: BOB,
        sender_device_id: bob.deviceId,
      } as const;
      // The forgery comes first, since it must not use up the key of the message that it imitates.
      relay.append(bob, ALICE_AND_BOB, { ...good, ...forge(pair, { ...good, seq: 0, timestamp: '' }) });
      const genuine = relay.append(bob, ALICE_AND_BOB, good);
      const views = await alice.sync();
      expect(views.map(textOf)).toEqual([`(${reason})`, 'good']);
      expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({
        status: 'joined',
        lastSeq: genuine.seq,
      });
      // A second call answers the same.
      const again = await alice.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB).slice(-2));
      expect(again.messages).toEqual(views);
    },
  );

  it('shows a replayed message as damaged, under its own id or a new one', async () => {
    const { alice, bob, relay } = await createPair();
    const messageId = await bob.send(ALICE_AND_BOB, 'once');
    const original = relay.entries(ALICE_AND_BOB).at(-1)!;
    const { kind, epoch, content } = original;
    relay.append(bob, ALICE_AND_BOB, { id: messageId, kind, epoch, content });
    relay.append(bob, ALICE_AND_BOB, { kind, epoch, content });
    await bob.send(ALICE_AND_BOB, 'good');
    expect((await alice.sync()).map(textOf)).toEqual(['once', '(damaged)', '(damaged)', 'good']);
    // Nor can the relay repeat a message to its own sender.
    expect((await bob.sync()).map(textOf)).toEqual(['once', '(damaged)', '(storage-erased)', 'good']);
  });

  it('shows an own message that the relay altered as damaged', async () => {
    const { alice, relay } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'mine');
    const prepared = await alice.api.prepareMessage(messageId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    relay.send(alice, { ...prepared, content: flipped(prepared.content, -1) });
    await alice.send(ALICE_AND_BOB, 'good');
    expect((await alice.sync()).map(textOf)).toEqual(['(damaged)', 'good']);
  });

  it('shows a message that is too far ahead in its ratchet as damaged', async () => {
    const { alice, bob, relay } = await createPairWithRogue();
    bob.say(ALICE_AND_BOB, 'good');
    for (let skipped = 0; skipped < 1100; skipped++) bob.encrypt('withheld', '');
    bob.say(ALICE_AND_BOB, 'far');
    expect((await alice.sync()).map(textOf)).toEqual(['good', '(damaged)']);
    bob.commit(ALICE_AND_BOB, {});
    bob.say(ALICE_AND_BOB, 'good again');
    expect((await alice.sync()).map(textOf)).toEqual(['good again']);
    expect(relay.log(ALICE_AND_BOB).epoch).toBe(2);
  });
});

describe('a hostile commit in a direct conversation', () => {
  /**
   * Expects that Alice has forked, shows the reason for the next message, and sends nothing before a rejoin.
   */
  async function expectRejoin(
    { alice, bob }: Awaited<ReturnType<typeof createPairWithRogue>>,
    reason: string,
  ) {
    const before = await alice.api.conversation(ALICE_AND_BOB);
    bob.say(ALICE_AND_BOB, 'unheard');
    const { lastSeq } = before;
    const { messages, state } = await alice.api.processEntries(
      ALICE_AND_BOB,
      alice.relay.entries(ALICE_AND_BOB, lastSeq),
    );
    expect(state.status).toBe('forked');
    expect(messages.map(textOf)).toEqual([`(${reason})`]);
    const messageId = await alice.queue(ALICE_AND_BOB, 'waits');
    expect(await alice.api.prepareMessage(messageId)).toEqual({ kind: 'outside' });
  }

  it('forks at a commit that is garbage, and rejoins by external commit', async () => {
    const pair = await createPairWithRogue();
    const { alice, bob, relay } = pair;
    bob.say(ALICE_AND_BOB, 'heard');
    await alice.sync();
    // The relay can't tell the difference, so it counts the epoch on, as the committer does.
    const real = relay.entries(ALICE_AND_BOB).length;
    bob.commit(ALICE_AND_BOB, {});
    Object.assign(relay.log(ALICE_AND_BOB).entries[real]!, { content: 'AAAA' });
    await expectRejoin(pair, 'damaged');

    await alice.sync();
    const commit = relay.entries(ALICE_AND_BOB).at(-1)!;
    expect(commit).toMatchObject({ kind: 'commit', sender_id: ALICE });
    bob.follow(commit.content);
    bob.say(ALICE_AND_BOB, 'heard again');
    expect((await alice.sync()).map(textOf)).toEqual(['heard again']);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['heard', '(damaged)', 'heard again']);
    expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined', joinedSeq: 0 });
    await alice.flush((await alice.api.outbox())[0]!.messageId);
  });

  it('refuses a commit that adds a stranger to a direct conversation', async () => {
    const pair = await createPairWithRogue();
    pair.bob.commit(ALICE_AND_BOB, { adds: [await Rogue.create(pair.relay, CAROL, 'carol')] });
    await expectRejoin(pair, 'rules');
    // Alice can't rejoin as long as the stranger is in the tree.
    await expect(pair.alice.joinByExternalCommit(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'policy' });
  });

  it('refuses an external commit of a stranger', async () => {
    const pair = await createPairWithRogue();
    const carol = await Rogue.create(pair.relay, CAROL, 'carol');
    carol.joinFromOutside(ALICE_AND_BOB);
    await expectRejoin({ ...pair, bob: carol }, 'rules');
    await expect(pair.alice.joinByExternalCommit(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'policy' });
  });

  it('refuses an external commit under the certificate of a device, and another key than that certifies', async () => {
    const pair = await createPairWithRogue();
    pair.bob.swapKey();
    pair.bob.joinFromOutside(ALICE_AND_BOB);
    await expectRejoin(pair, 'unknown-device');
    await expect(pair.alice.joinByExternalCommit(ALICE_AND_BOB)).rejects.toMatchObject({
      code: 'invalid-credential',
    });
  });

  it("refuses a commit that changes the group's extensions", async () => {
    const pair = await createPairWithRogue();
    pair.bob.commit(ALICE_AND_BOB, { extensions: [groupBindingExtension({ creatorId: BOB })] });
    await expectRejoin(pair, 'rules');
    await pair.alice.sync();
    expect(await pair.alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined', epoch: 3 });
  });

  it('refuses a commit that ends the conversation', async () => {
    const pair = await createPairWithRogue();
    pair.bob.commit(ALICE_AND_BOB, {
      reInit: { groupId: new Uint8Array(40), suite: 0x0003, extensions: [] },
    });
    await expectRejoin(pair, 'rules');
    await pair.alice.sync();
    await pair.alice.send(ALICE_AND_BOB, 'not so soon');
    expect(await pair.alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined', epoch: 3 });
  });

  it('refuses a commit that removes a device of somebody else', async () => {
    const pair = await createPairWithRogue();
    pair.bob.commit(ALICE_AND_BOB, { removes: [pair.alice.deviceId] });
    await expectRejoin(pair, 'rules');
    await pair.alice.sync();
    expect(await pair.alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined' });
  });

  it('waits at a device of a participant under another account key, and refuses it on the word', async () => {
    const pair = await createPairWithRogue();
    const impostor = await Rogue.create(pair.relay, BOB, 'not bob');
    impostor.joinFromOutside(ALICE_AND_BOB);
    const { lastSeq } = await pair.alice.api.conversation(ALICE_AND_BOB);
    impostor.say(ALICE_AND_BOB, 'unread');
    const entries = pair.relay.entries(ALICE_AND_BOB, lastSeq);
    expect(await pair.alice.api.processEntries(ALICE_AND_BOB, entries)).toMatchObject({
      messages: [],
      state: { status: 'joined', refusal: 'identity-changed', lastSeq },
    });
    const messageId = await pair.alice.queue(ALICE_AND_BOB, 'waits');
    await expect(pair.alice.api.prepareMessage(messageId)).rejects.toMatchObject({
      code: 'identity-changed',
    });
    await pair.alice.api.refuseAccountKey(BOB, (await pair.alice.api.safetyNumbers(BOB)).offered!);
    const { messages, state } = await pair.alice.api.processEntries(ALICE_AND_BOB, entries);
    expect(state.status).toBe('forked');
    expect(messages.map(textOf)).toEqual(['(unknown-device)']);
    await expect(pair.alice.joinByExternalCommit(ALICE_AND_BOB)).rejects.toMatchObject({
      code: 'identity-changed',
    });
  });

  it('ignores a commit of an earlier epoch', async () => {
    const { alice, bob, relay } = await createPairWithRogue();
    bob.commit(ALICE_AND_BOB, {});
    await alice.sync();
    relay.append(bob, ALICE_AND_BOB, { kind: 'commit', epoch: 0, content: 'AAAA' });
    bob.say(ALICE_AND_BOB, 'good');
    expect((await alice.sync()).map(textOf)).toEqual(['good']);
  });

  it('forks at a commit of a later epoch', async () => {
    const pair = await createPairWithRogue();
    pair.relay.append(pair.bob, ALICE_AND_BOB, { kind: 'commit', epoch: 7, content: 'AAAA' });
    await expectRejoin(pair, 'damaged');
    expect(await pair.alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ epoch: 1, lastSeq: 3 });
  });
});

describe("a person's own other device", () => {
  it('may remove this device, which keeps its messages and may join again', async () => {
    const { alice, bob, relay } = await createPairWithRogue();
    bob.say(ALICE_AND_BOB, 'heard');
    const phone = await Rogue.ofPerson(relay, ALICE);
    phone.joinFromOutside(ALICE_AND_BOB);
    phone.commit(ALICE_AND_BOB, { removes: [alice.deviceId] });
    phone.say(ALICE_AND_BOB, 'unheard');
    const { messages, state } = await alice.api.processEntries(
      ALICE_AND_BOB,
      relay.entries(ALICE_AND_BOB, 1),
    );
    expect(messages.map(textOf)).toEqual(['heard']);
    expect(state).toMatchObject({ status: 'outside', lastSeq: 4, members: [] });

    // The pin outlives the membership, so nobody else gets in under Bob's user id.
    const impostor = await Rogue.create(relay, BOB, 'not bob');
    const keyPackage = toBase64Url(impostor.bundle.bytes);
    await expect(
      alice.api.startConversation({
        conversationId: ALICE_AND_BOB,
        keyPackages: [{ userId: BOB, deviceId: impostor.deviceId, keyPackage }],
      }),
    ).rejects.toMatchObject({ code: 'identity-changed' });

    expect((await alice.sync()).map(textOf)).toEqual(['(before-join)']);
    phone.follow(relay.entries(ALICE_AND_BOB).at(-1)!.content);
    phone.say(ALICE_AND_BOB, 'welcome back');
    expect((await alice.sync()).map(textOf)).toEqual(['welcome back']);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['heard', 'welcome back']);
  });
});

describe('starting and joining', () => {
  it("refuse KeyPackages that aren't the claimed device's, or that can't be read", async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await world.device(BOB);
    const { keyPackage } = world.relay.claim([BOB], alice.deviceId)[0]!;
    const start = (deviceId: string, bytes: string) =>
      alice.api.startConversation({
        conversationId: ALICE_AND_BOB,
        keyPackages: [{ userId: BOB, deviceId, keyPackage: bytes }],
      });
    await expect(start(alice.deviceId, keyPackage)).rejects.toMatchObject({ code: 'invalid-key-package' });
    await expect(start(bob.deviceId, flipped(keyPackage, -1))).rejects.toMatchObject({
      code: expect.stringMatching(/^(bad-signature|invalid-key-package)$/),
    });
    await expect(start(bob.deviceId, 'AAAA')).rejects.toMatchObject({ code: 'unsupported' });
    expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'outside' });
    await alice.start(ALICE_AND_BOB);
    expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'joined' });
  });

  it('refuse a KeyPackage and a Welcome under a certificate, and another key than that certifies', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await Rogue.create(world.relay, BOB, 'bob');
    const start = () =>
      alice.api.startConversation({
        conversationId: ALICE_AND_BOB,
        keyPackages: [{ userId: BOB, deviceId: bob.deviceId, keyPackage: toBase64Url(bob.bundle.bytes) }],
      });
    const certified = bob.bundle;
    bob.swapKey();
    await expect(start()).rejects.toMatchObject({ code: 'invalid-credential' });
    const [claimed] = world.relay.claim([ALICE], '');
    const { welcome } = bob.found(ALICE_AND_BOB, [claimed!.keyPackage]);
    await expect(
      alice.api.joinByWelcome({ conversationId: ALICE_AND_BOB, epoch: 1, seq: 1, welcome }),
    ).rejects.toMatchObject({ code: 'invalid-credential' });
    bob.bundle = certified;
    expect(await start()).toMatchObject({ conversationId: ALICE_AND_BOB });
  });

  it('refuse Welcomes of another group, another epoch or with a stranger in the tree', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const bob = await Rogue.create(world.relay, BOB, 'bob');
    const carol = await Rogue.create(world.relay, CAROL, 'carol');
    const claim = () => world.relay.claim([ALICE], '').map(({ keyPackage }) => keyPackage);
    const join = (rogue: Rogue, groupId: string, epoch: number, others: string[] = []) => {
      const { welcome } = rogue.found(groupId, [...claim(), ...others]);
      return alice.api.joinByWelcome({ conversationId: ALICE_AND_BOB, epoch, seq: 1, welcome });
    };
    await expect(join(bob, `direct:${ALICE}:${CAROL}`, 1)).rejects.toMatchObject({ code: 'wrong-group' });
    await expect(join(bob, ALICE_AND_BOB, 2)).rejects.toMatchObject({ code: 'wrong-epoch' });
    await expect(join(carol, ALICE_AND_BOB, 1)).rejects.toMatchObject({ code: 'policy' });
    await expect(join(bob, ALICE_AND_BOB, 1, [toBase64Url(carol.bundle.bytes)])).rejects.toMatchObject({
      code: 'policy',
    });
    const strangers = bob.found(ALICE_AND_BOB, [toBase64Url(carol.bundle.bytes)]);
    await expect(
      alice.api.joinByWelcome({
        conversationId: ALICE_AND_BOB,
        epoch: 1,
        seq: 1,
        welcome: strangers.welcome,
      }),
    ).rejects.toMatchObject({ code: 'missing-key' });
    expect(await alice.api.conversation(ALICE_AND_BOB)).toMatchObject({ status: 'outside', lastSeq: 0 });
    expect(await join(bob, ALICE_AND_BOB, 1)).toMatchObject({ status: 'joined' });
  });
});
