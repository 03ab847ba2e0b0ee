import type { Extension } from '@sinetti/crypto-core';
import { groupBindingExtension, messageTimerExtension } from '@sinetti/crypto-core/account';
import {
  DISPOSITION,
  encodeMimiContent,
  mimiMessageId,
  PINNED_MESSAGES_EXTENSION,
  pinnedMessagesExtension,
} from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import { change, MemoryCopies } from './support/changes.ts';
import {
  ALICE,
  BOB,
  ALICE_AND_BOB as CHAT,
  createPair,
  createTrio,
  DAVE,
  GROUP,
  type TestDevice,
} from './support/device.ts';
import {
  createHour,
  HOUR,
  lines,
  pass,
  readHere,
  setPinned,
  setTimer,
  syncAll,
} from './support/disappearing.ts';
import { OWN } from './support/ownDevices.ts';
import { createPairWithRogue } from './support/roguePair.ts';

/** The texts of what is pinned, as above the messages. */
async function pinnedTexts(device: TestDevice, conversationId = CHAT): Promise<string[]> {
  const { pinned } = await device.api.conversation(conversationId);
  return pinned.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));
}

const eventsOf = async (device: TestDevice, conversationId = CHAT) =>
  (await device.api.events(conversationId)).map(({ change: what, senderId }) => [senderId, what]);

async function say(device: TestDevice, conversationId: string, ...texts: readonly string[]) {
  const ids: string[] = [];
  for (const text of texts) ids.push(await device.send(conversationId, text));
  await device.sync();
  return ids;
}

describe('a pinned message', () => {
  it('is pinned for everybody in a group by any member, told in the log, and unpinned by another one', async () => {
    const { alice, bob, carol } = await createTrio();
    const [id = ''] = await say(alice, GROUP, 'At seven.');
    await syncAll(bob, carol);
    await setPinned(carol, GROUP, id);
    await syncAll(alice, bob);
    for (const device of [alice, bob, carol]) {
      expect(await pinnedTexts(device, GROUP)).toEqual(['At seven.']);
      expect((await eventsOf(device, GROUP)).at(-1)).toEqual([
        carol.userId,
        { kind: 'pinned', isPinned: true },
      ]);
    }
    const seq = (await alice.history(GROUP)).find(({ messageId }) => messageId === id)?.seq ?? 0;
    const pinningOf = async (device: TestDevice) => (await device.api.messageEvidence(GROUP, seq)).pinned;
    const { timestamp } = (await alice.api.events(GROUP)).at(-1) ?? {};
    for (const device of [alice, bob, carol])
      expect(await pinningOf(device)).toEqual({ userId: carol.userId, timestamp });
    await setPinned(bob, GROUP, id, false);
    await syncAll(alice, carol);
    for (const device of [alice, bob, carol]) {
      expect(await pinningOf(device)).toBeNull();
      expect(await pinnedTexts(device, GROUP)).toEqual([]);
      expect((await eventsOf(device, GROUP)).at(-1)).toEqual([
        bob.userId,
        { kind: 'pinned', isPinned: false },
      ]);
    }
  });

  it('is nobody’s any more for a device that was out meanwhile: somebody else may have pinned it anew', async () => {
    const { alice, bob, relay } = await createPair();
    const [id = ''] = await say(alice, CHAT, 'At seven.');
    await setPinned(alice, CHAT, id);
    await syncAll(alice, bob);
    const { lastSeq } = await alice.api.conversation(CHAT);
    await setPinned(bob, CHAT, id, false);
    await setPinned(bob, CHAT, id);
    await bob.sync();
    const missed = relay.entries(CHAT, lastSeq).map((entry) => ({ ...entry, content: 'AAAA' }));
    const { state } = await alice.api.processEntries(CHAT, missed);
    expect(state.status).toBe('forked');
    await alice.sync();
    expect(await pinnedTexts(alice)).toEqual(['At seven.']);
    const pinningOf = async () => (await alice.api.messageEvidence(CHAT, 2)).pinned;
    expect(await pinningOf()).toBeNull();
    await setPinned(alice, CHAT, id, false);
    await setPinned(alice, CHAT, id);
    await alice.sync();
    expect(await pinningOf()).toMatchObject({ userId: ALICE });

    // As another device it comes in anew, with its messages and events.
    await alice.api.markCopied();
    await alice.logIn();
    await alice.registerAnew();
    await alice.sync();
    expect(await pinnedTexts(alice)).toEqual(['At seven.']);
    expect(await pinningOf()).toBeNull();
  });

  it('is there on all devices of a person, on one that comes later, and for who joins later once they can read it', async () => {
    const { alice, bob, carol, world } = await createTrio();
    const [id = ''] = await say(bob, GROUP, 'The rules.');
    await syncAll(alice, carol);
    await setPinned(bob, GROUP, id);
    await alice.sync();
    const copies = new MemoryCopies();
    await copies.upload(alice);
    const phone = await world.device(ALICE);
    await phone.sync();
    // It names a message that isn't here yet.
    expect((await phone.api.conversation(GROUP)).pinned).toEqual([]);
    await copies.download(phone);
    expect(await pinnedTexts(phone, GROUP)).toEqual(['The rules.']);
    const dave = await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    await dave.sync();
    expect(await dave.api.conversation(GROUP)).toMatchObject({ pinned: [], isPinnedFull: false });
    await syncAll(bob);
    const [later = ''] = await say(bob, GROUP, 'New rules.');
    await setPinned(bob, GROUP, later);
    await syncAll(dave, phone);
    expect(await pinnedTexts(dave, GROUP)).toEqual(['New rules.']);
    expect(await pinnedTexts(phone, GROUP)).toEqual(['New rules.', 'The rules.']);
  });

  it('is as it was edited, and is pinned no more in sight once it was deleted', async () => {
    const { alice, bob } = await createPair();
    const [of = ''] = await say(alice, CHAT, 'At six.');
    await bob.sync();
    await setPinned(bob, CHAT, of);
    await alice.sync();
    await change(alice, CHAT, { kind: 'edit', of, text: 'At seven.' });
    await bob.sync();
    expect(await pinnedTexts(bob)).toEqual(['At seven.']);
    await change(alice, CHAT, { kind: 'deletion', of });
    expect(await pinnedTexts(alice)).toEqual([]);
    await bob.sync();
    expect(await pinnedTexts(bob)).toEqual([]);
    await expect(bob.api.setPinned(CHAT, of, true)).rejects.toMatchObject({ code: 'unknown-message' });
  });

  it('shows nothing where it was deleted for oneself, and stays for the other person', async () => {
    const { alice, bob } = await createPair();
    const [id = ''] = await say(alice, CHAT, 'At six.');
    await bob.sync();
    await setPinned(bob, CHAT, id);
    await alice.sync();
    const { pinned } = await alice.api.deleteMessageHere(CHAT, id);
    expect([pinned, await pinnedTexts(bob)]).toEqual([[], ['At six.']]);
  });

  it('shows nothing once its time is over', async () => {
    const { alice, bob, world } = await createHour();
    const [id = ''] = await say(alice, CHAT, 'For an hour.');
    await bob.sync();
    await readHere(bob);
    await setPinned(bob, CHAT, id);
    await alice.sync();
    expect([await pinnedTexts(alice), await pinnedTexts(bob)]).toEqual([['For an hour.'], ['For an hour.']]);
    await pass(world, HOUR, alice, bob);
    expect([await pinnedTexts(alice), await pinnedTexts(bob)]).toEqual([[], []]);
  });

  it('is the newest of three, and a fourth takes the place of one that is gone, else of the oldest', async () => {
    const { alice, bob } = await createPair();
    const [one = '', two = '', three = '', four = '', five = ''] = await say(
      alice,
      CHAT,
      'one',
      'two',
      'three',
      'four',
      'five',
    );
    await bob.sync();
    for (const id of [one, two]) await setPinned(alice, CHAT, id);
    expect((await alice.api.conversation(CHAT)).isPinnedFull).toBe(false);
    await setPinned(alice, CHAT, three);
    expect(await pinnedTexts(alice)).toEqual(['three', 'two', 'one']);
    expect((await alice.api.conversation(CHAT)).isPinnedFull).toBe(true);
    await change(alice, CHAT, { kind: 'deletion', of: two });
    await syncAll(alice, bob);
    expect((await bob.api.conversation(CHAT)).isPinnedFull).toBe(false);
    await setPinned(bob, CHAT, four);
    expect(await pinnedTexts(bob)).toEqual(['four', 'three', 'one']);
    await setPinned(bob, CHAT, five);
    await alice.sync();
    for (const device of [alice, bob]) expect(await pinnedTexts(device)).toEqual(['five', 'four', 'three']);
  });

  it('of two that are pinned at once is pinned beside the other', async () => {
    const { alice, bob } = await createPair();
    const [one = '', two = ''] = await say(alice, CHAT, 'one', 'two');
    await bob.sync();
    const first = await alice.api.setPinned(CHAT, one, true);
    const second = await bob.api.setPinned(CHAT, two, true);
    expect([alice.submit(first!), bob.submit(second!)]).toEqual([true, false]);
    await syncAll(alice, bob);
    await setPinned(bob, CHAT, two);
    await alice.sync();
    for (const device of [alice, bob]) expect(await pinnedTexts(device)).toEqual(['two', 'one']);
    // Nothing more is to be done.
    expect(await alice.api.setPinned(CHAT, two, true)).toBeNull();
  });

  it('stays where the timer is set and somebody is added', async () => {
    const { alice, bob, carol, world } = await createTrio();
    const [id = ''] = await say(alice, GROUP, 'Stays.');
    await syncAll(bob, carol);
    await setPinned(bob, GROUP, id);
    await syncAll(alice, carol);
    await setTimer(carol, GROUP, 3600);
    await alice.sync();
    await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    await setTimer(alice, GROUP, 0);
    await syncAll(bob, carol);
    for (const device of [alice, bob, carol]) expect(await pinnedTexts(device, GROUP)).toEqual(['Stays.']);
  });

  it('is one that is in the log of two people or a group', async () => {
    const { alice } = await createPair();
    const waiting = await alice.queue(CHAT, 'On its way.');
    const code = (of: string, conversationId = CHAT) =>
      alice.api.setPinned(conversationId, of, true).then(
        () => null,
        (error: { code: string }) => error.code,
      );
    expect(await code(waiting)).toBe('usage');
    expect(await code(alice.relay.uuid())).toBe('unknown-message');
    expect(await code(waiting, OWN)).toBe('usage');
    await expect(alice.api.setPinned(CHAT, waiting, 1 as unknown as boolean)).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('a sender that keeps no rules', () => {
  const id = (last: number) => Uint8Array.from({ length: 32 }, (_octet, at) => (at === 0 ? 1 : last));
  const raw = (bytes: readonly number[]): Extension => ({
    type: PINNED_MESSAGES_EXTENSION,
    data: Uint8Array.from(bytes),
  });
  const all = (count: number) => Array.from({ length: count }, (_id, at) => [...id(at % 256)]).flat();

  it.each<[string, readonly Extension[]]>([
    ['thousands', [raw([1, 0x80, 1, 0xf4, 0, ...all(4000)])]],
    ['four', [raw([1, 0x40, 128, ...all(4)])]],
    ['two at once', [pinnedMessagesExtension([id(1), id(2)])]],
    ['one twice', [raw([1, 0x40, 64, ...id(1), ...id(1)])]],
    ['one of another length', [raw([1, 31, ...id(1).subarray(1)])]],
    ['none in words', [raw([1, 0])]],
    ['something of a later version', [raw([2, 32, ...id(1)])]],
    ['one beside a timer', [pinnedMessagesExtension([id(1)]), messageTimerExtension(60)]],
    [
      'one beside another extension',
      [pinnedMessagesExtension([id(1)]), groupBindingExtension({ creatorId: BOB })],
    ],
  ])('finds nobody who follows it where it pins %s', async (_what, extensions) => {
    const { alice, bob } = await createPairWithRogue();
    bob.commit(CHAT, { extensions });
    const { lastSeq } = await alice.api.conversation(CHAT);
    const { events, state } = await alice.api.processEntries(CHAT, alice.relay.entries(CHAT, lastSeq));
    expect(state).toMatchObject({ status: 'forked', pinned: [] });
    expect(events).toMatchObject([{ change: { kind: 'refused' } }]);
    // The conversation goes on.
    await alice.sync();
    await alice.send(CHAT, 'Still here.');
    await alice.sync();
    expect(await lines(alice)).toEqual(['Still here.']);
  });

  it('changes no more of what is pinned than one line in the chat can tell', async () => {
    const { alice, bob } = await createPairWithRogue();
    const pins: Uint8Array[] = [];
    for (const last of [1, 2, 3]) {
      pins.push(id(last));
      bob.commit(CHAT, { extensions: [pinnedMessagesExtension(pins)] });
    }
    await alice.sync();
    const isFollowed = async (...ids: readonly number[]) => {
      bob.commit(CHAT, { extensions: ids.length === 0 ? [] : [pinnedMessagesExtension(ids.map(id))] });
      const { lastSeq } = await alice.api.conversation(CHAT);
      const { state } = await alice.api.processEntries(CHAT, alice.relay.entries(CHAT, lastSeq));
      return state.status === 'joined';
    };
    expect(await isFollowed(2, 3, 4)).toBe(true);
    expect(await isFollowed(3, 4)).toBe(true);
    // The order is another one.
    expect(await isFollowed(4, 3)).toBe(false);
  });

  it('takes the place of nobody else’s while there is room', async () => {
    const { alice, bob } = await createPairWithRogue();
    bob.commit(CHAT, { extensions: [pinnedMessagesExtension([id(1)])] });
    await alice.sync();
    bob.commit(CHAT, { extensions: [pinnedMessagesExtension([id(2)])] });
    const { lastSeq } = await alice.api.conversation(CHAT);
    const { state } = await alice.api.processEntries(CHAT, alice.relay.entries(CHAT, lastSeq));
    expect(state.status).toBe('forked');
  });

  it('has nothing shown where it pins what is no message here: of another conversation, an edit, or nothing', async () => {
    const { alice, bob } = await createPairWithRogue();
    const text = (words: string, replaces: Uint8Array | null, room = CHAT) => {
      const salt = crypto.getRandomValues(new Uint8Array(16));
      const body = {
        kind: 'single',
        disposition: DISPOSITION.render,
        language: '',
        contentType: 'text/plain',
        content: new TextEncoder().encode(words),
      } as const;
      const data = encodeMimiContent({
        salt,
        replaces,
        topicId: new Uint8Array(),
        expires: null,
        inReplyTo: null,
        extensions: new Map(),
        body,
      });
      const place = { sender: `sinetti:user/${BOB}`, room: `sinetti:room/${room}` };
      return { data, contentId: mimiMessageId(place, data, salt) };
    };
    const said = text('Mine.', null);
    const edit = text('Edited.', said.contentId);
    for (const { data } of [said, edit]) bob.send(CHAT, data);
    await alice.sync();
    const elsewhere = text('Elsewhere.', null, GROUP).contentId;
    const pins: Uint8Array[] = [];
    for (const one of [elsewhere, edit.contentId, id(9)]) {
      pins.push(one);
      bob.commit(CHAT, { extensions: [pinnedMessagesExtension(pins)] });
      await alice.sync();
    }
    expect(await alice.api.conversation(CHAT)).toMatchObject({ status: 'joined', pinned: [] });
    // They are in nobody's way.
    const [of = ''] = (await alice.history(CHAT)).map(({ messageId }) => messageId);
    await setPinned(alice, CHAT, of);
    expect(await pinnedTexts(alice)).toEqual(['Edited.']);
  });

  it('pins nothing for who joins by a state that nobody can read', async () => {
    const { alice, bob } = await createPairWithRogue();
    bob.commit(CHAT, { extensions: [raw([1, 0x80, 1, 0xf4, 0, ...all(4000)])] });
    await alice.sync();
    // Alice has come back from outside, into the state that she had refused.
    expect(await alice.api.conversation(CHAT)).toMatchObject({ status: 'joined', pinned: [], timer: 0 });
    const [of = ''] = await say(alice, CHAT, 'Mine.');
    await setPinned(alice, CHAT, of);
    expect(await pinnedTexts(alice)).toEqual(['Mine.']);
  });

  it('pins nothing where a device knows of no pinned messages', async () => {
    const { alice, bob } = await createPairWithRogue();
    const [of = ''] = await say(alice, CHAT, 'Mine.');
    for (const { content, kind } of alice.relay.entries(CHAT, 1)) if (kind === 'commit') bob.follow(content);
    bob.commit(CHAT, { leaf: { capabilities: { extensions: [0xf0a1, 0xf0a4] } } });
    await alice.sync();
    await expect(setPinned(alice, CHAT, of)).rejects.toMatchObject({ code: 'invalid-proposal' });
    expect((await alice.api.conversation(CHAT)).pinned).toEqual([]);
  });
});
