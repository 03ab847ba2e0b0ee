import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { concat, EMPTY, toHex, utf8 } from '../../src/bytes.ts';
import {
  DISPOSITION,
  decodeMimiContent,
  encodeMimiContent,
  type MimiContent,
  mimiMessageId,
  type NestedPart,
  olderMessageId,
} from '../../src/content/index.ts';
import { CryptoError } from '../../src/errors.ts';
import { codeOf } from '../codeOf.ts';
import { fromHex } from '../kat/vectors.ts';
import { generator, mutateBytes } from '../mutations.ts';

const id = new Uint8Array(32).fill(1);
const text: NestedPart = {
  kind: 'single',
  disposition: DISPOSITION.render,
  language: '',
  contentType: 'text/plain;charset=utf-8',
  content: utf8('Hyvää iltaa'),
};
const nothing: NestedPart = { kind: 'null', disposition: 0, language: '' };
const file: NestedPart = {
  kind: 'external',
  disposition: DISPOSITION.attachment,
  language: 'fi',
  contentType: 'image/webp',
  url: 'sinetti:blob/abc',
  expires: 2 ** 32 - 1,
  size: Number.MAX_SAFE_INTEGER,
  encAlg: 2 ** 16 - 1,
  key: new Uint8Array(32),
  nonce: EMPTY,
  aad: EMPTY,
  hashAlg: 1,
  contentHash: id,
  description: 'A harbour',
  filename: 'satama.webp',
};
const content: MimiContent = {
  salt: new Uint8Array(16).fill(7),
  replaces: null,
  topicId: EMPTY,
  expires: null,
  inReplyTo: null,
  extensions: new Map(),
  body: text,
};
const prefix = '8750' + '07'.repeat(16);

/** Parts within parts: the last at that level. */
function nested(depth: number): NestedPart {
  if (depth === 1) return text;
  const parts = [nested(depth - 1), nothing];
  return { kind: 'multi', disposition: 0, language: '', semantics: 'processAll', parts };
}

function several(count: number): NestedPart {
  return {
    kind: 'multi',
    disposition: 0,
    language: '',
    semantics: 'singleUnit',
    parts: Array.from({ length: count }, () => nothing),
  };
}

describe('MIMI content', () => {
  it('has these bytes', () => {
    expect(toHex(encodeMimiContent(content))).toBe(
      `${prefix}f640f6f6a0` +
        '85016001' +
        `7818${toHex(utf8('text/plain;charset=utf-8'))}` +
        `4d${toHex(utf8('Hyvää iltaa'))}`,
    );
  });

  it.each<[string, Partial<MimiContent>]>([
    ['a reply', { inReplyTo: id }],
    ['a deletion', { replaces: id, body: nothing }],
    ['a reaction', { inReplyTo: id, body: { ...text, disposition: DISPOSITION.reaction } }],
    ['a message that expires', { expires: { relative: true, time: 2 ** 32 - 1 } }],
    [
      'a message with a topic and extensions',
      {
        topicId: id,
        extensions: new Map<number | string, never[] | string>([
          [-1, []],
          [1, 'sinetti:user/a'],
          ['é', 'x'],
        ]),
      },
    ],
    ['a file', { body: file }],
    ['a disposition that is not known', { body: { ...text, disposition: 255 } }],
    ['parts at four levels', { body: nested(4) }],
    ['127 parts beside each other', { body: several(127) }],
  ])('reads as it was written: %s', (_what, change) => {
    const one = { ...content, ...change };
    expect(decodeMimiContent(encodeMimiContent(one))).toEqual(one);
  });

  it.each<[string, Partial<MimiContent>]>([
    ['a short salt', { salt: new Uint8Array(15) }],
    ['a message id of another length', { replaces: new Uint8Array(31) }],
    ['an answer to a message id of another length', { inReplyTo: new Uint8Array(33) }],
    ['a time beyond 32 bits', { expires: { relative: false, time: 2 ** 32 } }],
    ['an extension without a name', { extensions: new Map([['', null]]) }],
    ['an extension with the number 0', { extensions: new Map([[0, null]]) }],
    ['an extension with a name of 256 octets', { extensions: new Map([['é'.repeat(128), null]]) }],
    ['parts at five levels', { body: nested(5) }],
    ['129 parts', { body: several(128) }],
    ['one part as several', { body: several(1) }],
    ['a disposition beyond 8 bits', { body: { ...text, disposition: 256 } }],
  ])('is not written with %s', (_what, change) => {
    expect(codeOf(() => encodeMimiContent({ ...content, ...change }))).toBe('usage');
  });

  it.each([
    ['six fields', `8650${'07'.repeat(16)}f640f6f6a0`, 'malformed'],
    ['a salt of 15 octets', `874f${'07'.repeat(15)}f640f6f6a083006000`, 'malformed'],
    ['a message id of 31 octets', `${prefix}581f${'01'.repeat(31)}40f6f6a083006000`, 'malformed'],
    ['a message id that is undefined', `${prefix}f740f6f6a083006000`, 'malformed'],
    ['a topic that is text', `${prefix}f660f6f6a083006000`, 'malformed'],
    ['an expiration of three', `${prefix}f64083f50000f6a083006000`, 'malformed'],
    ['an expiration that is neither relative nor absolute', `${prefix}f64082f600f6a083006000`, 'malformed'],
    ['a time of 33 bits', `${prefix}f64082f51b0000000100000000f6a083006000`, 'malformed'],
    ['extensions that are an array', `${prefix}f640f6f68083006000`, 'malformed'],
    ['an extension with the number 0', `${prefix}f640f6f6a100f683006000`, 'malformed'],
    ['an extension with an empty name', `${prefix}f640f6f6a160f683006000`, 'malformed'],
    ['an extension at five levels', `${prefix}f640f6f6a101818181a083006000`, 'malformed'],
    ['an extension with a tag', `${prefix}f640f6f6a101c00083006000`, 'unsupported'],
    ['nothing, with more in it', `${prefix}f640f6f6a08400600000`, 'malformed'],
    ['a single part without content', `${prefix}f640f6f6a08400600160`, 'malformed'],
    ['a cardinality that is not known', `${prefix}f640f6f6a083006004`, 'unsupported'],
    ['part semantics that are not known', `${prefix}f640f6f6a08500600303828300600083006000`, 'unsupported'],
    ['one part as several', `${prefix}f640f6f6a0850060030081830060`, 'malformed'],
    ['bytes after its end', `${prefix}f640f6f6a08300600000`, 'malformed'],
  ])('is refused with %s', (_what, hex, code) => {
    expect(codeOf(() => decodeMimiContent(fromHex(hex)))).toBe(code);
  });

  it('is read with parts at four levels, and refused with one more', () => {
    const around = (depth: number) => `${prefix}f640f6f6a0850060030282${partHex(nested(depth))}83006000`;
    expect(decodeMimiContent(fromHex(around(3))).body.kind).toBe('multi');
    expect(codeOf(() => decodeMimiContent(fromHex(around(4))))).toBe('malformed');
  });

  it('is read with 128 parts, and refused with one more', () => {
    const parts = (count: number) =>
      `${prefix}f640f6f6a0850060030198${count.toString(16)}${'83006000'.repeat(count)}`;
    expect(decodeMimiContent(fromHex(parts(127))).body.kind).toBe('multi');
    expect(codeOf(() => decodeMimiContent(fromHex(parts(128))))).toBe('unsupported');
  });

  it('has 1024 names and values of extensions, at all levels, and not one more', () => {
    const extensions = (items: number) => new Map([[1, [new Map([[1, Array<null>(items).fill(null)]])]]]);
    const hex = (items: string) => `${prefix}f640f6f6a10181a10199${items}83006000`;
    const most = { ...content, extensions: extensions(1019) };
    expect(decodeMimiContent(encodeMimiContent(most))).toEqual(most);
    expect(codeOf(() => encodeMimiContent({ ...content, extensions: extensions(1020) }))).toBe('usage');
    expect(decodeMimiContent(fromHex(hex(`03fb${'f6'.repeat(1019)}`))).extensions.size).toBe(1);
    expect(codeOf(() => decodeMimiContent(fromHex(hex(`03fc${'f6'.repeat(1020)}`))))).toBe('unsupported');
  });

  it('ends in itself or in a code for each of 10,000 mutated messages', () => {
    const below = generator(17);
    const messages = [
      content,
      { ...content, body: file, inReplyTo: id },
      { ...content, body: nested(4), expires: { relative: true, time: 60 } },
    ].map(encodeMimiContent);
    const codes = new Map<string, number>();
    for (let run = 0; run < 10_000; run += 1) {
      const mutated = mutateBytes(messages[run % messages.length] ?? EMPTY, below);
      let outcome = 'read';
      try {
        expect(toHex(encodeMimiContent(decodeMimiContent(mutated)))).toBe(toHex(mutated));
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        outcome = error.code;
      }
      codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
    }
    expect([...codes.keys()].toSorted()).toEqual(['malformed', 'read', 'unsupported']);
  });
});

describe('a MIMI message id', () => {
  it('is of who wrote it, where, what and its salt', () => {
    const message = encodeMimiContent(content);
    const place = { sender: 'sinetti:user/a', room: 'sinetti:room/b' };
    const ids = [
      mimiMessageId(place, message, content.salt),
      mimiMessageId({ ...place, sender: 'sinetti:user/c' }, message, content.salt),
      mimiMessageId({ ...place, room: 'sinetti:room/c' }, message, content.salt),
      mimiMessageId({ sender: 'sinetti:user/as', room: 'inetti:room/b' }, message, content.salt),
      mimiMessageId(place, concat(message, message), content.salt),
      mimiMessageId(place, message, new Uint8Array(16)),
    ].map(toHex);
    expect(new Set(ids).size).toBe(ids.length);
    for (const one of ids) expect(one).toMatch(/^01[0-9a-f]{62}$/);
  });

  it('is of room and UUID for one from before there was MIMI content', () => {
    const hash = createHash('sha256').update('sinetti v1sinetti:room/bthe-uuid').digest('hex');
    expect(toHex(olderMessageId('sinetti:room/b', 'the-uuid'))).toBe(`01${hash.slice(0, 62)}`);
  });
});

/** A part, without what comes before it in a message. */
function partHex(body: NestedPart): string {
  return toHex(encodeMimiContent({ ...content, body })).slice(`${prefix}f640f6f6a0`.length);
}
