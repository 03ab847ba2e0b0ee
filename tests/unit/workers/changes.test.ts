import { beforeEach, describe, expect, it } from 'vitest';
import {
  change,
  lineOf,
  linesOf,
  MemoryCopies,
  payloadsKept,
  queueChange,
  randomOf,
  reply,
} from './support/changes.ts';
import { ALICE, ALICE_AND_BOB as CHAT, createPair, type TestDevice, type World } from './support/device.ts';

let world: World;
let alice: TestDevice;
let bob: TestDevice;

beforeEach(async () => {
  ({ world, alice, bob } = await createPair());
});

async function sync(...devices: TestDevice[]): Promise<void> {
  for (const device of [alice, bob, ...devices]) await device.sync();
}

async function say(device: TestDevice, text: string): Promise<string> {
  const id = await device.send(CHAT, text);
  await sync();
  return id;
}

async function expectBoth(lines: string[]): Promise<void> {
  await sync();
  expect([await linesOf(alice, CHAT), await linesOf(bob, CHAT)]).toEqual([lines, lines]);
}

describe('a reply', () => {
  it('shows what it answers, as that is by now', async () => {
    const first = await say(alice, 'Shall we?');
    await reply(bob, CHAT, 'Yes.', first);
    await expectBoth(['Shall we?', 'Yes. > Shall we?']);
    await change(alice, CHAT, { kind: 'edit', of: first, text: 'Shall we row?' });
    await expectBoth(['Shall we row? (edited)', 'Yes. > Shall we row?']);
    await change(alice, CHAT, { kind: 'deletion', of: first });
    await expectBoth(['(deleted)', 'Yes. > (deleted)']);
    await bob.api.deleteMessageHere(CHAT, first);
    expect(await linesOf(bob, CHAT)).toEqual(['Yes. > nothing']);
  });

  it('answers a message that waits in the outbox', async () => {
    const waiting = await alice.queue(CHAT, 'Waits.');
    const message = {
      conversationId: CHAT,
      messageId: world.relay.uuid(),
      sentAt: '2026-03-01T10:00:00.000Z',
    };
    const { message: shown, ready } = await alice.api.queueMessage({
      ...message,
      text: 'Too.',
      inReplyTo: waiting,
    });
    expect([lineOf(shown), ready]).toEqual(['Too. > Waits.', null]);
    for (const id of [waiting, message.messageId]) await alice.flush(id);
    await expectBoth(['Waits.', 'Too. > Waits.']);
  });

  it('is refused to what is not here, or was deleted', async () => {
    const id = await say(alice, 'Gone.');
    await change(alice, CHAT, { kind: 'deletion', of: id });
    await sync();
    await expect(reply(bob, CHAT, 'To that.', id)).rejects.toMatchObject({ code: 'unknown-message' });
    await expect(reply(bob, CHAT, 'To what?', world.relay.uuid())).rejects.toMatchObject({
      code: 'unknown-message',
    });
  });
});

describe('a reaction', () => {
  it('counts each emoji once a person, and is taken back', async () => {
    const id = await say(alice, 'Sun.');
    await change(bob, CHAT, { kind: 'reaction', of: id, emoji: '☀️', isTaken: false });
    await change(alice, CHAT, { kind: 'reaction', of: id, emoji: '☀️', isTaken: false });
    await change(bob, CHAT, { kind: 'reaction', of: id, emoji: '👍🏽', isTaken: false });
    await expectBoth(['Sun. ☀️ba 👍🏽b']);
    const again = { conversationId: CHAT, messageId: world.relay.uuid(), sentAt: '2026-03-01T10:00:00.000Z' };
    const change0 = { kind: 'reaction', of: id, emoji: '☀️', isTaken: false } as const;
    expect((await bob.api.queueChange({ ...again, change: change0 })).ready).toBeNull();
    expect(await bob.api.outbox(CHAT)).toEqual([]);
    await change(bob, CHAT, { ...change0, isTaken: true });
    await expectBoth(['Sun. ☀️a 👍🏽b']);
  });

  it('is no message: neither unread, nor the last one, nor one of a page', async () => {
    const id = await say(alice, 'Sun.');
    const { state: before } = await bob.api.processEntries(CHAT, []);
    await change(alice, CHAT, { kind: 'reaction', of: id, emoji: '👍', isTaken: false });
    await bob.sync();
    const state = await bob.api.conversation(CHAT);
    expect(state.unread).toBe(before.unread);
    expect(state.lastMessage).toMatchObject({
      messageId: id,
      reactions: [{ emoji: '👍', userIds: [ALICE] }],
    });
    expect([await bob.api.messageCount(CHAT), (await bob.history(CHAT)).length]).toEqual([1, 1]);
  });

  it('tells the page of the message that it is to', async () => {
    const id = await say(alice, 'Sun.');
    await change(bob, CHAT, { kind: 'reaction', of: id, emoji: '👍', isTaken: false });
    expect((await alice.syncOne(CHAT)).map(lineOf)).toEqual(['Sun. 👍b']);
  });

  it('is one emoji, of no more than twenty', async () => {
    const id = await say(alice, 'Sun.');
    for (const emoji of ['', 'a', '1', '👍👍', '👍 ', ':-)'])
      await expect(
        change(bob, CHAT, { kind: 'reaction', of: id, emoji, isTaken: false }),
      ).rejects.toMatchObject({
        code: 'usage',
      });
    for (let i = 0; i < 22; i += 1)
      await change(bob, CHAT, {
        kind: 'reaction',
        of: id,
        emoji: String.fromCodePoint(0x1f400 + i),
        isTaken: false,
      });
    await sync();
    expect((await alice.history(CHAT))[0]?.reactions).toHaveLength(20);
  });
});

describe('an edit', () => {
  it('shows the last text, with the versions before it', async () => {
    const id = await say(alice, 'One.');
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Two.' });
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Three.' });
    await expectBoth(['Three. (edited)']);
    for (const device of [alice, bob])
      expect((await device.api.messageVersions(CHAT, id)).map(({ text }) => text)).toEqual([
        'One.',
        'Two.',
        'Three.',
      ]);
  });

  it("is refused for somebody else's message, as its deletion is", async () => {
    const id = await say(alice, 'Mine.');
    for (const what of [
      { kind: 'edit', of: id, text: 'Yours.' },
      { kind: 'deletion', of: id },
    ] as const)
      await expect(queueChange(bob, CHAT, what)).rejects.toMatchObject({ code: 'not-author' });
  });

  it('shows before it is sent, and says how that went', async () => {
    const id = await say(alice, 'One.');
    const edit = await queueChange(alice, CHAT, { kind: 'edit', of: id, text: 'Two.' });
    await queueChange(alice, CHAT, { kind: 'reaction', of: id, emoji: '👍', isTaken: false });
    expect(await linesOf(alice, CHAT)).toEqual(['Two. (edited) 👍a [edit sending] [reaction sending]']);
    expect(lineOf(await alice.api.messageFailed(edit, 'network'))).toContain('[edit failed]');
    await alice.api.discardMessage(edit);
    expect(await linesOf(alice, CHAT)).toEqual(['One. 👍a [reaction sending]']);
  });
});

describe('a deletion', () => {
  it('erases text, versions and reactions on each device', async () => {
    const id = await say(alice, 'Secret.');
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Still secret.' });
    await change(bob, CHAT, { kind: 'reaction', of: id, emoji: '👍', isTaken: false });
    await sync();
    await change(alice, CHAT, { kind: 'deletion', of: id });
    await expectBoth(['(deleted)']);
    for (const device of [alice, bob]) {
      expect(await device.api.messageVersions(CHAT, id)).toEqual([]);
      expect(await payloadsKept(device)).toBe(1);
    }
    await change(alice, CHAT, { kind: 'deletion', of: await say(alice, 'Another.') });
    await expectBoth(['(deleted)', '(deleted)']);
  });

  it('leaves nothing of it in the message backup, nor to a browser that reads it late', async () => {
    const copies = new MemoryCopies();
    const id = await say(alice, 'Secret.');
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Still secret.' });
    const kept = await say(bob, 'Kept.');
    await sync();
    await copies.upload(alice);
    const before = copies.items.slice();
    await change(alice, CHAT, { kind: 'deletion', of: id });
    await change(alice, CHAT, { kind: 'reaction', of: kept, emoji: '👍', isTaken: false });
    await sync();
    await copies.upload(alice);
    expect(await alice.api.conversationsToBackUp()).toEqual([]);
    const tablet = await world.device(ALICE);
    await sync(tablet);
    await copies.download(tablet);
    expect(await linesOf(tablet, CHAT)).toEqual(['(deleted)', 'Kept. 👍a']);
    // The relay gives a former copy once more.
    await tablet.api.readBackup(before, false, 0);
    expect(await linesOf(tablet, CHAT)).toEqual(['(deleted)', 'Kept. 👍a']);
  });

  it('on this device alone leaves it to others', async () => {
    const id = await say(alice, 'Mine to forget.');
    await bob.api.deleteMessageHere(CHAT, id);
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Again.' });
    await sync();
    expect([await linesOf(alice, CHAT), await linesOf(bob, CHAT)]).toEqual([['Again. (edited)'], []]);
    expect((await bob.api.conversation(CHAT)).lastMessage).toBeNull();
    await expect(bob.api.messageVersions(CHAT, id)).rejects.toMatchObject({ code: 'unknown-message' });
  });
});

describe('changes', () => {
  it('look the same in whatever order they come from the message backup', async () => {
    const copies = new MemoryCopies();
    const [one, two] = [await say(alice, 'One.'), await say(bob, 'Two.')];
    const three = await reply(alice, CHAT, 'Three.', two);
    await change(alice, CHAT, { kind: 'edit', of: one, text: 'One, better.' });
    await change(bob, CHAT, { kind: 'reaction', of: one, emoji: '👍', isTaken: false });
    await change(alice, CHAT, { kind: 'reaction', of: two, emoji: '❤️', isTaken: false });
    await sync();
    await change(bob, CHAT, { kind: 'reaction', of: one, emoji: '👍', isTaken: true });
    await change(alice, CHAT, { kind: 'edit', of: three, text: 'Three!' });
    await change(bob, CHAT, { kind: 'edit', of: two, text: 'Two, secretly.' });
    await sync();
    // Copies of before the deletion, as another device may have left them.
    await copies.upload(alice);
    await change(bob, CHAT, { kind: 'deletion', of: two });
    await sync();
    const late = new MemoryCopies();
    late.items = copies.items.slice();
    const deletion = await alice.api.nextBackupEntries(CHAT);
    late.put(deletion?.copies ?? []);
    const expected = await linesOf(alice, CHAT);
    expect(expected).toEqual(['One, better. (edited)', '(deleted)', 'Three! (edited) > (deleted)']);
    const random = randomOf(7);
    for (let play = 0; play < 12; play += 1) {
      const tablet = await world.device(ALICE);
      await tablet.sync();
      const shuffled = late.items.map((item) => ({ item, at: random() })).sort((a, b) => a.at - b.at);
      for (const { item } of shuffled) await tablet.api.readBackup([item], false, 0);
      expect(await linesOf(tablet, CHAT)).toEqual(expected);
      expect(await payloadsKept(tablet)).toBe(await payloadsKept(alice));
    }
  });
});
