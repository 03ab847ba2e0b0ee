import { CryptoError } from '@sinetti/crypto-core';
import {
  DISPOSITION,
  encodeMimiContent,
  type MimiContent,
  type NestedPart,
} from '@sinetti/crypto-core/content';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutMarks } from '#src/lib/markdown.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { limits } from '#workers/codec/limits.ts';
import {
  encodeTextPayload,
  payloadBytes,
  payloadContent,
  payloadOf,
  readPlaintext,
  saysTheSame,
} from '#workers/storage/payload.ts';
import { ALICE_AND_BOB, textOf } from './support/device.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const salt = new Uint8Array(16).fill(7);
const id = new Uint8Array(32).fill(1);
const utf8 = (text: string) => new TextEncoder().encode(text);

function single(
  contentType: string,
  content: Uint8Array,
  disposition: number = DISPOSITION.render,
): NestedPart {
  return { kind: 'single', disposition, language: '', contentType, content };
}

const plain: MimiContent = {
  salt,
  replaces: null,
  topicId: new Uint8Array(),
  expires: null,
  inReplyTo: null,
  extensions: new Map(),
  body: single('text/plain;charset=utf-8', utf8('hei')),
};

/** Returns how somebody's message is shown. */
function shown(change: Partial<MimiContent>): string {
  const content = payloadContent(payloadOf(encodeMimiContent({ ...plain, ...change })) ?? '');
  return content.kind === 'text' ? content.text : `(${content.kind})`;
}

describe('the payload of a text', () => {
  it('is MIMI content, which reads as it was written', () => {
    const payload = encodeTextPayload('hei', salt);
    expect(payloadBytes(payload)).toEqual(encodeMimiContent(plain));
    expect(payloadOf(payloadBytes(payload))).toBe(payload);
    expect(payloadContent(payload)).toEqual({ kind: 'text', text: 'hei' });
  });

  it('has U+FFFD in the place of a lone surrogate', () => {
    expect(payloadContent(encodeTextPayload('a\ud800b', salt))).toEqual({ kind: 'text', text: 'a\ufffdb' });
  });

  const types = (text: string) =>
    /text\/(?:plain;charset=utf-8|markdown;variant=GFM-MIMI)/.exec(
      new TextDecoder().decode(payloadBytes(encodeTextPayload(text, salt))),
    )?.[0];

  it.each([
    '**a**',
    'a *b c* d',
    '_a_',
    '~~a~~',
    '`a`',
    '- a',
    'b\n1. a',
    '> a',
    '```\na',
    '[a](https://a.example)',
  ])('is Markdown where it is formatted: %j', (text) => {
    expect(types(text)).toBe('text/markdown;variant=GFM-MIMI');
    expect(payloadContent(encodeTextPayload(text, salt))).toEqual({ kind: 'text', text, isMarkdown: true });
  });

  it.each([
    '2 * 3 * 4',
    'snake_case_name',
    'a - b',
    '-5',
    '#1',
    '~ 5 ~',
    '[sic]',
    '*',
    '_',
    'C:\\_a',
    'a > b',
    '20.30',
  ])('is plain where it is not: %j', (text) => {
    expect(types(text)).toBe('text/plain;charset=utf-8');
    expect(payloadContent(encodeTextPayload(text, salt))).toEqual({ kind: 'text', text });
  });

  it('is plain only where Markdown would show it as it stands, of 10,000 texts', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '_',
      '~',
      '~~',
      '`',
      '```',
      '>',
      '- ',
      '+ ',
      '1.',
      '1) ',
      '[',
      '](',
      ')',
      '\n',
      '  ',
      ' ',
      'a',
      'ä',
      '😀',
      '.',
      '(',
      '"',
      '#',
      '|',
      '<b>',
      '&amp;',
      'https://a.example',
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 20 }), (pieces) => {
        const content = payloadContent(encodeTextPayload(pieces.join(''), salt));
        if (content.kind !== 'text' || content.isMarkdown) return;
        const squeezed = (text: string) => text.replace(/\s/g, '');
        // An item without anything in it would show as a bare dot.
        const text = content.text.replace(/^\s*(?:[-+*]|1[.)])\s*$/gm, '');
        expect(squeezed(withoutMarks(text, String))).toBe(squeezed(text));
      }),
      { numRuns: 10_000 },
    );
  });

  it('begins with the mark that the text begins with', () => {
    expect(payloadContent(encodeTextPayload('\ufeffhei', salt))).toEqual({ kind: 'text', text: '\ufeffhei' });
  });

  it('of 64 KiB is as long as it may be', () => {
    const longest = 'ä'.repeat(limits.text / 2);
    const payload = encodeTextPayload(longest, salt);
    expect(payload.length).toBeLessThan(limits.payload);
    expect(payloadContent(payload)).toEqual({ kind: 'text', text: longest });
    for (const text of ['', `${longest}.`]) {
      expect(() => encodeTextPayload(text, salt)).toThrow(CryptoApiError);
    }
  });

  it('says the same as another of the text, and nothing else does', () => {
    const payload = encodeTextPayload('hei', salt);
    const again = encodeTextPayload('hei', new Uint8Array(16));
    expect(again).not.toBe(payload);
    expect(saysTheSame(payload, again)).toBe(true);
    expect(saysTheSame(payload, encodeTextPayload('moi', salt))).toBe(false);
    const unknown = JSON.stringify({ v: 2, type: 'text' });
    expect(saysTheSame(unknown, unknown)).toBe(false);
  });
});

describe("somebody's MIMI content", () => {
  it.each<[string, Partial<MimiContent>]>([
    ['plain text', {}],
    ['plain text without a charset', { body: single('text/plain', utf8('hei')) }],
    ['plain text with another spelling of it', { body: single('Text/Plain; charset="UTF-8"', utf8('hei')) }],
    ['Markdown', { body: single('text/markdown;variant=GFM-MIMI', utf8('hei')) }],
    ['text of no disposition', { body: single('text/plain', utf8('hei'), DISPOSITION.unspecified) }],
    ['a reply', { inReplyTo: id }],
    ['text in a topic, with an extension', { topicId: id, extensions: new Map([['x', 1]]) }],
  ])('is shown as a text: %s', (_what, change) => {
    expect(shown(change)).toBe('hei');
  });

  it.each<[string, Partial<MimiContent>]>([
    ['a reaction', { inReplyTo: id, body: single('text/plain', utf8('👍'), DISPOSITION.reaction) }],
    ['an edit', { replaces: id }],
    ['a deletion', { replaces: id, body: { kind: 'null', disposition: 0, language: '' } }],
    ['a picture', { body: single('image/png', id) }],
    ['HTML', { body: single('text/html', utf8('<b>hei</b>')) }],
    ['text in another charset', { body: single('text/plain;charset=iso-8859-1', utf8('hei')) }],
    ['an attached text', { body: single('text/plain', utf8('hei'), DISPOSITION.attachment) }],
    ['a disposition from the future', { body: single('text/plain', utf8('hei'), 99) }],
    [
      'several parts',
      {
        body: {
          kind: 'multi',
          disposition: 1,
          language: '',
          semantics: 'processAll',
          parts: [plain.body, plain.body],
        },
      },
    ],
  ])('is something that this version does not know: %s', (_what, change) => {
    expect(shown(change)).toBe('(unknown)');
  });

  it.each<[string, Partial<MimiContent>]>([
    ['no text', { body: single('text/plain', new Uint8Array()) }],
    ['text beyond 64 KiB', { body: single('text/plain', new Uint8Array(limits.text + 1).fill(0x61)) }],
    ['text that is no UTF-8', { body: single('text/plain', Uint8Array.of(0xff)) }],
  ])('is damaged with %s', (_what, change) => {
    expect(shown(change)).toBe('(undecryptable)');
  });

  it('is damaged when it is cut, and unknown with a tag in it', () => {
    const bytes = encodeMimiContent(plain);
    const cut = payloadOf(bytes.subarray(0, -1)) ?? '';
    expect(payloadContent(cut)).toEqual({ kind: 'undecryptable', reason: 'damaged' });
    const tagged = Uint8Array.from(Buffer.from(`8750${'07'.repeat(16)}f640f6f6a101c00083006000`, 'hex'));
    expect(payloadContent(payloadOf(tagged) ?? '')).toEqual({ kind: 'unknown' });
  });

  it('is not what a text only claims to be', () => {
    const claimed = encodeTextPayload('hei', salt);
    expect(payloadOf(utf8(claimed))).toBeNull();
    expect(() => readPlaintext(utf8(claimed))).toThrow(CryptoError);
  });
});

describe('the payload of a text from before MIMI content', () => {
  it('is read', () => {
    const payload = JSON.stringify({ v: 1, type: 'text', text: 'hei', sentAt: '2026-03-01T10:00:00Z' });
    expect(payloadOf(utf8(payload))).toBe(payload);
    expect(payloadBytes(payload)).toEqual(utf8(payload));
    expect(payloadContent(payload)).toEqual({ kind: 'text', text: 'hei' });
  });

  it('has the bytes that it came as, and is damaged, where its sender had it begin like MIMI content', () => {
    expect(payloadBytes('mimi:*')).toEqual(utf8('mimi:*'));
    expect(payloadContent('mimi:*')).toEqual({ kind: 'undecryptable', reason: 'damaged' });
  });
});

describe('a payload in a conversation', () => {
  it('shows a payload of a newer version as unknown, and a broken one as damaged', async () => {
    const { alice, bob } = await createPairWithRogue();
    const sentAt = '2026-03-01T10:00:00Z';
    const text = JSON.stringify({ v: 1, type: 'text', text: 'with a header', sentAt });
    const withHeader = (fields: Buffer, content: string) =>
      Buffer.concat([Buffer.of(1), fields, Buffer.from(content)]);
    const head = Buffer.from(`8750${'07'.repeat(16)}f640f6f6a08501600169696d6167652f706e675a`, 'hex');
    const longest = Buffer.concat([head, Buffer.of(0, 1, 0xe0, 0), Buffer.alloc(120 * 1024)]);
    const payloads: [string | Uint8Array, string][] = [
      [JSON.stringify({ v: 2, type: 'text', words: [] }), '(unknown)'],
      [JSON.stringify({ v: 1, type: 'sticker', url: 'https://example.org' }), '(unknown)'],
      [JSON.stringify({ v: 1, type: 'text', text: 7, sentAt }), '(damaged)'],
      [JSON.stringify({ v: 1, type: 'text', sentAt }), '(damaged)'],
      [JSON.stringify({ type: 'text', text: 'no version', sentAt }), '(damaged)'],
      [JSON.stringify([]), '(damaged)'],
      // A chain header of a later version, a cut one, one that no sender has, and a good one.
      [Uint8Array.of(2, 1, 2, 3), '(unknown)'],
      [Uint8Array.of(1, 2, 3), '(damaged)'],
      [withHeader(Buffer.alloc(56, 1), text), '(damaged)'],
      [withHeader(Buffer.alloc(56), text), 'with a header'],
      ['null', '(damaged)'],
      ['{"v":1', '(damaged)'],
      ['', '(damaged)'],
      [new Uint8Array([0xff, 0xfe]), '(damaged)'],
      // MIMI content of all the length that a message can have, and what only begins like it.
      [longest, '(unknown)'],
      [new Uint8Array(120 * 1024).fill(0x87), '(damaged)'],
      [JSON.stringify({ v: 1, type: 'text', text: 'plain', sentAt, extra: true }), 'plain'],
      [JSON.stringify({ v: 1, type: 'text', text: '__proto__', sentAt, __proto__: 1 }), '__proto__'],
    ];
    for (const [payload] of payloads) bob.send(ALICE_AND_BOB, payload);
    expect((await alice.sync()).map(textOf)).toEqual(payloads.map(([, shown]) => shown));
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(payloads.map(([, shown]) => shown));
  });

  it('that is longer than the relay takes any is damaged, and those beside it stay readable', async () => {
    const { alice, bob } = await createPairWithRogue();
    const said = (text: string) => JSON.stringify({ v: 1, type: 'text', text, sentAt: '' });
    bob.send(ALICE_AND_BOB, said('before'));
    bob.send(ALICE_AND_BOB, new Uint8Array(limits.storedPayload).fill(0x87));
    bob.send(ALICE_AND_BOB, said('x'.repeat(limits.storedPayload)));
    bob.send(ALICE_AND_BOB, said('after'));
    const shown = ['before', '(damaged)', '(damaged)', 'after'];
    expect((await alice.sync()).map(textOf)).toEqual(shown);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(shown);
  });
});
