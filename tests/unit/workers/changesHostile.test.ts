import {
  DISPOSITION,
  encodeMimiContent,
  type MimiContent,
  mimiMessageId,
} from '@sinetti/crypto-core/content';
import { describe, expect, it, vi } from 'vitest';
import { fromBase64Url } from '#workers/codec/base64url.ts';
import { limits } from '#workers/codec/limits.ts';
import { contentIdOf, payloadOf, readPayload } from '#workers/storage/payload.ts';
import { change, linesOf, payloadsKept, randomOf } from './support/changes.ts';
import { ALICE, BOB, ALICE_AND_BOB as CHAT, textOf } from './support/device.ts';
import { kept } from './support/ownDevices.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const room = `sinetti:room/${CHAT}`;
let salts = 0;

const nothing = { kind: 'null', disposition: DISPOSITION.render, language: '' } as const;
const text = (said: string, disposition: number = DISPOSITION.render) =>
  ({ kind: 'single', disposition, language: '', contentType: 'text/plain', content: utf8(said) }) as const;

function content(change: Partial<MimiContent>): MimiContent {
  const salt = new Uint8Array(16);
  new DataView(salt.buffer).setUint32(0, (salts += 1));
  return {
    salt,
    replaces: null,
    topicId: new Uint8Array(),
    expires: null,
    inReplyTo: null,
    extensions: new Map(),
    body: text('hei'),
    ...change,
  };
}

const idOf = (sender: string, said: MimiContent, at = room) =>
  mimiMessageId({ sender: `sinetti:user/${sender}`, room: at }, encodeMimiContent(said), said.salt);

async function createPlay() {
  const { alice, bob, relay } = await createPairWithRogue();
  const mine = await alice.send(CHAT, 'Mine.');
  await alice.sync();
  const stored = await kept(alice, ['messages']);
  const payload = /"payload":"(mimi:[\w-]+)"/.exec(stored)?.[1] ?? '';
  const mineId = fromBase64Url(
    contentIdOf(payload, { conversationId: CHAT, senderId: ALICE, messageId: mine }) ?? '',
  );
  const post = (said: MimiContent) => {
    bob.send(CHAT, encodeMimiContent(said));
    return idOf(BOB, said);
  };
  const say = async (change: Partial<MimiContent>) => {
    const id = post(content(change));
    await alice.sync();
    return id;
  };
  return { alice, bob, relay, post, say, mine, mineId: mineId ?? new Uint8Array(32) };
}

describe('a client that keeps no rules', () => {
  it("neither edits nor deletes somebody else's message, nor takes their reaction back", async () => {
    const { alice, mine, mineId, say } = await createPlay();
    const reaction = { kind: 'reaction', of: mine, emoji: '👍', isTaken: false } as const;
    await change(alice, CHAT, reaction);
    await alice.sync();
    const reactionId = /"payload":"(mimi:[\w-]+)"[^}]*$/.exec(await kept(alice, ['messages']))?.[1] ?? '';
    const at = { conversationId: CHAT, senderId: ALICE, messageId: '' };
    await say({ replaces: mineId, body: text('Yours.') });
    await say({ replaces: mineId, body: nothing });
    await say({ replaces: fromBase64Url(contentIdOf(reactionId, at) ?? ''), body: nothing });
    expect(await linesOf(alice, CHAT)).toEqual(['Mine. 👍a']);
  });

  it('changes nothing of another conversation', async () => {
    const { alice, say } = await createPlay();
    const said = content({ body: text('There.') });
    await say({ replaces: idOf(BOB, said, 'sinetti:room/group:elsewhere'), body: text('Here.') });
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.']);
  });

  it('has a message twice without harm, which one deletion deletes', async () => {
    const { alice, post, say } = await createPlay();
    const said = content({ body: text('Twice.') });
    const id = post(said);
    post(said);
    await say({ inReplyTo: id, body: text('Answer.') });
    await say({ replaces: id, body: text('Both.') });
    expect(await linesOf(alice, CHAT)).toEqual([
      'Mine.',
      'Both. (edited)',
      'Both. (edited)',
      'Answer. > Both.',
    ]);
    await say({ replaces: id, body: nothing });
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.', '(deleted)', '(deleted)', 'Answer. > (deleted)']);
    expect(await payloadsKept(alice)).toBe(3);
  });

  it('edits by edits of edits, and what edits a reaction does nothing', async () => {
    const { alice, say } = await createPlay();
    const first = await say({ body: text('One.') });
    let last = first;
    for (const said of ['Two.', 'Three.']) last = await say({ replaces: last, body: text(said) });
    const reaction = await say({ inReplyTo: last, body: text('👍', DISPOSITION.reaction) });
    await say({ replaces: reaction, body: text('Thumb.') });
    await say({ replaces: reaction, body: text('👎', DISPOSITION.reaction) });
    const lines = await linesOf(alice, CHAT);
    expect(lines).toEqual(['Mine.', 'Three. (edited) 👍b', '(unknown)']);
    await say({ replaces: last, body: nothing });
    expect((await linesOf(alice, CHAT))[1]).toBe('(deleted)');
    // Alice's own, the deletion, and both that were said of a reaction.
    expect(await payloadsKept(alice)).toBe(4);
  });

  it('answers what is nowhere, which is shown as an answer to nothing', async () => {
    const { alice, mineId, say } = await createPlay();
    await say({ inReplyTo: mineId.map((byte) => byte ^ 0xff), body: text('To whom?') });
    await say({ inReplyTo: new Uint8Array(32), body: text('And this?') });
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.', 'To whom? > nothing', 'And this? > nothing']);
  });

  it('reacts to what was deleted, and the reaction is neither shown nor counted nor kept', async () => {
    const { alice, mine, mineId, say } = await createPlay();
    await change(alice, CHAT, { kind: 'deletion', of: mine });
    await alice.sync();
    const before = await payloadsKept(alice);
    await say({ inReplyTo: mineId, body: text('👍', DISPOSITION.reaction) });
    expect(await linesOf(alice, CHAT)).toEqual(['(deleted)']);
    expect((await alice.history(CHAT))[0]?.reactions ?? []).toEqual([]);
    expect((await alice.api.conversation(CHAT)).unread).toBe(0);
    expect(await payloadsKept(alice)).toBe(before);
  });

  it('deletes before it writes, and nothing of that is kept', async () => {
    const { alice, say, post } = await createPlay();
    const said = content({ body: text('Late.') });
    await say({ replaces: idOf(BOB, said), body: nothing });
    await say({ replaces: idOf(BOB, said), body: text('Later.') });
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.']);
    post(said);
    await alice.sync();
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.', '(deleted)']);
  });

  it('reacts to nothing no end of times, which is stepped over at once by who reads what is shown', async () => {
    const { alice, mineId, post } = await createPlay();
    post(content({ body: text('Before.') }));
    for (let i = 0; i < 400; i += 1) {
      const of = mineId.slice();
      new DataView(of.buffer).setUint32(4, i);
      post(content({ inReplyTo: of, body: text('👍', DISPOSITION.reaction) }));
    }
    post(content({ body: text('After.') }));
    await alice.sync();
    const steps = vi.spyOn(IDBCursor.prototype, 'key', 'get');
    expect(await linesOf(alice, CHAT)).toEqual(['Mine.', 'Before.', 'After.']);
    const page = async (where: object) =>
      (await alice.api.messages(CHAT, { limit: 2, ...where })).map(textOf);
    expect(await page({})).toEqual(['Before.', 'After.']);
    expect(await page({ after: 0 })).toEqual(['Mine.', 'Before.']);
    expect((await alice.api.conversation(CHAT)).unread).toBe(2);
    expect(steps.mock.calls.length).toBeLessThan(150);
    steps.mockRestore();
  });

  it('reacts no end of times, and is shown with twenty', async () => {
    const { alice, mineId, post } = await createPlay();
    for (let i = 0; i < 1020; i += 1) {
      post(
        content({
          inReplyTo: mineId,
          body: text(String.fromCodePoint(0x1f400 + (i % 40)), DISPOSITION.reaction),
        }),
      );
      // The relay's pages are of 1,000 entries.
      if (i % 510 === 509) await alice.sync();
    }
    const [mine] = await alice.history(CHAT);
    expect(mine?.reactions).toHaveLength(20);
    expect((await alice.api.conversation(CHAT)).unread).toBe(0);
  });

  it('ends in a bubble, a change or a code with each of 10,000 mutated messages', () => {
    const random = randomOf(4);
    const id = new Uint8Array(32).fill(1);
    const seeds = [
      content({ inReplyTo: id }),
      content({ replaces: id }),
      content({ replaces: id, body: nothing }),
      content({ inReplyTo: id, body: text('👍', DISPOSITION.reaction) }),
    ].map(encodeMimiContent);
    const [kinds, named, emojis] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (let i = 0; i < 10_000; i += 1) {
      const bytes = (seeds[i % seeds.length] ?? id).slice(
        0,
        random() < 0.1 ? 20 + Math.floor(random() * 60) : 999,
      );
      for (let flips = Math.floor(random() * 4); flips >= 0; flips -= 1)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      const payload = payloadOf(bytes);
      if (payload === null) continue;
      const said = readPayload(payload);
      kinds.add(said.kind === 'message' ? said.content.kind : said.kind);
      if (said.kind !== 'message') named.add(said.of);
      if (said.kind === 'reaction') emojis.add(said.emoji);
    }
    expect([...named].filter((of) => !/^[\w-]{43}$/.test(of))).toEqual([]);
    expect([...emojis].filter((emoji) => [...new Intl.Segmenter().segment(emoji)].length !== 1)).toEqual([]);
    expect([...kinds].sort()).toEqual(['deletion', 'edit', 'reaction', 'text', 'undecryptable', 'unknown']);
  });
});

describe('edits of one message', () => {
  it('are deleted with it, however many there are, and though one came twice', async () => {
    const { alice, bob, say, post } = await createPlay();
    const id = await say({ body: text('Secret.') });
    for (let count = 0; count < limits.editsRead + 5; count++)
      post(content({ replaces: id, body: text(`Secret ${count}.`) }));
    const twice = encodeMimiContent(content({ replaces: id, body: text('Secret twice.') }));
    bob.send(CHAT, twice);
    bob.send(CHAT, twice);
    await alice.sync();
    expect(await linesOf(alice, CHAT)).toContain(`Secret ${limits.editsRead - 1}. (edited)`);
    await say({ replaces: id, body: nothing });
    post(content({ replaces: id, body: text('Secret again.') }));
    await alice.sync();
    expect(await linesOf(alice, CHAT)).toContain('(deleted)');
    const texts = (await kept(alice, ['messages'])).matchAll(/"payload":"(mimi:[\w-]+)"/g);
    const said = [...texts].map(([, payload]) => readPayload(payload ?? ''));
    expect(said.filter((one) => 'text' in one || one.kind === 'message')).toHaveLength(1);
  });
});
