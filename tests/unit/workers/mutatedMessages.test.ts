import { createHash, randomBytes } from 'node:crypto';
import { CryptoError } from '@sinetti/crypto-core';
import {
  DISPOSITION,
  type ExternalPart,
  encodeMimiContent,
  type MimiContent,
  mimiMessageId,
  type NestedPart,
} from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import type { MessageContent } from '#workers/api/messageContent.ts';
import { readPayload, readPlaintext } from '#workers/storage/payload.ts';
import { generator, mutateBytes } from '../../../crypto-core/test/mutations.ts';
import { attachedPdf } from './support/attachedPdf.ts';
import { BOB, ALICE_AND_BOB as CHAT } from './support/device.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
const messages = Number(process.env['SINETTI_MUTATED_MESSAGES'] ?? 1_500);
/** Messages of one conversation. */
const EACH = 500;
const conversations = Array.from({ length: messages / EACH }, (_value, index) => index + 1);

const utf8 = (text: string) => new TextEncoder().encode(text);
const one = (contentType: string, content: Uint8Array, disposition: number = DISPOSITION.render) =>
  ({ kind: 'single', disposition, language: '', contentType, content }) as const;
const said = (text: string, disposition?: number) => one('text/plain;charset=utf-8', utf8(text), disposition);
const several = (...parts: NestedPart[]): NestedPart => ({
  kind: 'multi',
  disposition: DISPOSITION.render,
  language: '',
  semantics: 'processAll',
  parts,
});
const nothing: NestedPart = { kind: 'null', disposition: DISPOSITION.render, language: '' };
const plain: MimiContent = {
  salt: new Uint8Array(16),
  replaces: null,
  topicId: new Uint8Array(),
  expires: null,
  inReplyTo: null,
  extensions: new Map(),
  body: nothing,
};
const picture: ExternalPart = { ...attachedPdf, disposition: DISPOSITION.render, contentType: 'image/png' };
const preview = one('image/webp', new Uint8Array(90).fill(3), DISPOSITION.preview);
const waveform = Uint8Array.from({ length: 64 }, (_value, index) => index % 32);

/** Content of each kind that a message may have, of which some is about another message. */
function contents(of: Uint8Array): readonly Partial<MimiContent>[] {
  const relative = { relative: true, time: 60 };
  return [
    { body: said('hei') },
    { body: one('text/markdown;variant=GFM-MIMI', utf8('**Hi** [@Alice](sinetti:user/a)')) },
    { inReplyTo: of, body: said('Answer.') },
    { inReplyTo: of, body: said('👍', DISPOSITION.reaction) },
    {
      inReplyTo: of,
      body: said('⭐', DISPOSITION.reaction),
      extensions: new Map([['sinetti-starred', CHAT]]),
    },
    { replaces: of, body: said('Edited.') },
    { replaces: of, body: nothing },
    { body: attachedPdf },
    { body: several(said('Look'), picture, preview, attachedPdf), expires: relative },
    {
      body: { ...picture, contentType: 'audio/ogg' },
      extensions: new Map([['sinetti-files', [[null, null, 900, waveform]]]]),
    },
    { body: said('Passed on.'), extensions: new Map([['sinetti-forwarded', true]]) },
    { body: said('Gone soon.'), expires: relative },
    { body: said('At a moment.'), expires: { relative: false, time: 2_000_000_000 } },
    { body: one('application/x-poll', utf8('?')) },
  ];
}

type Below = (limit: number) => number;

/** Changes bytes of one content, or fields of it for those of another and for the largest and the strangest. */
function mutated(of: Uint8Array, run: number, below: Below): Uint8Array {
  const all = contents(of);
  const salt = Uint8Array.from({ length: 16 }, () => below(256));
  const content = { ...plain, salt, ...all[run % all.length] };
  if (below(2) === 0) {
    let bytes = encodeMimiContent(content);
    for (let more = below(3); more >= 0; more -= 1) bytes = mutateBytes(bytes, below);
    return bytes;
  }
  const other = { ...plain, ...all[below(all.length)] };
  const fields: readonly Partial<MimiContent>[] = [
    { body: other.body },
    { extensions: other.extensions },
    { expires: other.expires },
    { expires: { relative: below(2) === 0, time: [0, 1, 366 * 86_400, 2 ** 32 - 1][below(4)] ?? 0 } },
    { inReplyTo: below(2) === 0 ? of : randomId(below) },
    { replaces: below(2) === 0 ? of : randomId(below) },
    { topicId: new Uint8Array(below(40)) },
    { body: strange(content.body, below) },
  ];
  try {
    return encodeMimiContent({
      ...content,
      ...fields[below(fields.length)],
      ...fields[below(fields.length)],
    });
  } catch (error) {
    // Content that has no encoding is none that anybody could send.
    if (!(error instanceof CryptoError)) throw error;
    return mutateBytes(encodeMimiContent(content), below);
  }
}

function randomId(below: Below): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_value, index) => (index === 0 ? 1 : below(256)));
}

function strange(body: NestedPart, below: Below): NestedPart {
  if (body.kind === 'multi') {
    const parts = body.parts.map((part) => (below(2) === 0 ? strange(part, below) : part));
    return several(...parts, ...(below(3) === 0 ? parts : []));
  }
  const disposition = below(10);
  if (body.kind === 'null') return { ...body, disposition };
  if (body.kind === 'single') {
    const contentType = ['text/html', 'text/plain', 'image/svg+xml', '', 'application/json'][below(5)] ?? '';
    return { ...body, disposition, contentType };
  }
  const changes: readonly Partial<ExternalPart>[] = [
    { size: [0, 1, 2 ** 30 + 1, Number.MAX_SAFE_INTEGER][below(4)] ?? 0 },
    { contentHash: new Uint8Array(below(64)) },
    { key: new Uint8Array(below(64)) },
    { url: ['https://example.org/a', 'sinetti:blob/../users/me', 'javascript:alert(1)'][below(3)] ?? '' },
    { filename: ['../../etc/passwd', 'photo\u202egpj.exe', 'a\u0000b', ''][below(4)] ?? '' },
    { contentType: ['image/svg+xml', 'text/html', 'IMAGE/PNG'][below(3)] ?? '' },
    { encAlg: below(40), hashAlg: below(3) },
    { disposition },
  ];
  return { ...body, ...changes[below(changes.length)] };
}

/** Returns the kind of bubble, and the code of one that can't be read. */
function outcomeOf(content: MessageContent): string {
  return content.kind === 'undecryptable' ? content.reason : content.kind;
}

/** Returns the kind of bubble that a plaintext is to have, or the kind of change, which has none. */
function expectedOf(plaintext: Uint8Array): string {
  try {
    const what = readPayload(readPlaintext(plaintext).payload);
    return what.kind === 'message' ? outcomeOf(what.content) : what.kind;
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return 'damaged';
  }
}

const changes = ['edit', 'deletion', 'reaction'];

describe(`mutated messages of a member (SINETTI_TEST_SEED=${seed} SINETTI_MUTATED_MESSAGES=${messages})`, () => {
  it.each(conversations)(
    'end in bubbles, changes and codes, and the next honest one is read: %i',
    async (conversation) => {
      const below = generator(createHash('sha256').update(`${seed} ${conversation}`).digest().readInt32BE());
      const { alice, bob } = await createPairWithRogue();
      const first = encodeMimiContent({ ...plain, body: said('First.') });
      bob.send(CHAT, first);
      const place = { sender: `sinetti:user/${BOB}`, room: `sinetti:room/${CHAT}` };
      const of = mimiMessageId(place, first, plain.salt);
      const [made, bubbles] = [new Set<string>(), ['text']];
      for (let run = 0; run < EACH; run += 1) {
        const plaintext = mutated(of, run, below);
        const expected = expectedOf(plaintext);
        made.add(expected);
        if (!changes.includes(expected)) bubbles.push(expected);
        bob.send(CHAT, plaintext);
        if (run % 100 !== 99) continue;
        bob.say(CHAT, `Honest ${run}.`);
        bubbles.push('text');
        await alice.sync();
        const last = (await alice.history(CHAT)).at(-1);
        expect(last?.content).toEqual({ kind: 'text', text: `Honest ${run}.` });
      }
      const [shown, ...others] = (await alice.history(CHAT)).map(({ content }) => outcomeOf(content));
      // The first one may have been deleted, by a deletion that a mutation left whole.
      expect(['deleted', 'text']).toContain(shown);
      expect(others).toEqual(bubbles.slice(1));
      const outcomes = ['damaged', 'files', 'text', 'unknown'];
      expect([...new Set(others)].toSorted()).toEqual(outcomes);
      expect([...made].toSorted()).toEqual([...outcomes, ...changes].toSorted());
    },
  );
});
