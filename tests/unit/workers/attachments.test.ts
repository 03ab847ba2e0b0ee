import {
  type CborValue,
  DISPOSITION,
  decodeMimiContent,
  type ExternalPart,
  encodeMimiContent,
  type MimiContent,
  type NestedPart,
} from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import type { MessageContent } from '#workers/api/cryptoApi.ts';
import { shownName } from '#workers/storage/attachments.ts';
import { payloadContent, payloadOf } from '#workers/storage/payload.ts';

const plain: MimiContent = {
  salt: new Uint8Array(16),
  replaces: null,
  topicId: new Uint8Array(),
  expires: null,
  inReplyTo: null,
  extensions: new Map(),
  body: { kind: 'null', disposition: 0, language: '' },
};

const picture: ExternalPart = {
  kind: 'external',
  disposition: DISPOSITION.render,
  language: '',
  contentType: 'image/webp',
  url: 'sinetti:blob/AAAAAAAAAAAAAAAAAAAAAA',
  expires: 0,
  size: 70_000,
  encAlg: 29,
  key: new Uint8Array(32).fill(3),
  nonce: new Uint8Array(),
  aad: new Uint8Array(),
  hashAlg: 1,
  contentHash: new Uint8Array(32).fill(4),
  description: 'A lake',
  filename: 'lake.webp',
};

const utf8 = (text: string) => new TextEncoder().encode(text);
const single = (disposition: number, contentType: string, content: Uint8Array): NestedPart => ({
  kind: 'single',
  disposition,
  language: '',
  contentType,
  content,
});
const caption = single(DISPOSITION.render, 'text/plain;charset=utf-8', utf8('hei'));
const preview = single(DISPOSITION.preview, 'image/jpeg', utf8('preview'));
const several = (...parts: NestedPart[]): NestedPart => ({
  kind: 'multi',
  disposition: DISPOSITION.render,
  language: '',
  semantics: 'processAll',
  parts,
});

function shown(body: NestedPart, measures?: CborValue): MessageContent {
  const extensions = measures === undefined ? plain.extensions : new Map([['sinetti-files', measures]]);
  return payloadContent(payloadOf(encodeMimiContent({ ...plain, body, extensions })) ?? '');
}

const file = { name: 'lake.webp', type: 'image/webp', size: 70_000, kind: 'picture', description: 'A lake' };
const waveform = new Uint8Array(64).fill(31);

describe("somebody's files", () => {
  it('are one part, or several under a caption, each with the preview behind it', () => {
    expect(shown(picture)).toEqual({ kind: 'files', text: '', files: [file] });
    expect(shown(several(picture, picture))).toEqual({ kind: 'files', text: '', files: [file, file] });
    expect(shown(several(caption, picture, preview, picture))).toEqual({
      kind: 'files',
      text: 'hei',
      files: [{ ...file, preview: { type: 'image/jpeg', bytes: 'cHJldmlldw' } }, file],
    });
  });

  it('have the measures of their extension', () => {
    expect(shown(picture, [[1200, 800, null, null]])).toMatchObject({
      files: [{ width: 1200, height: 800 }],
    });
    const voice = { ...picture, contentType: 'audio/ogg; codecs=opus' };
    expect(shown(voice)).toMatchObject({ files: [{ kind: 'audio' }] });
    expect(shown(voice, [[null, null, 1500, waveform]])).toMatchObject({
      files: [{ kind: 'voice', duration: 1500, waveform: Array.from({ length: 64 }, () => 31) }],
    });
  });

  it.each<[string, CborValue]>([
    ['short', new Uint8Array(63)],
    ['long', new Uint8Array(65)],
    ['louder than loud', new Uint8Array(64).fill(32)],
    ['a list', Array.from({ length: 64 }, () => 1)],
    ['a text', '1'.repeat(64)],
    ['a number', 1],
  ])('come without a waveform that is %s, as sound', (_what, wrong) => {
    const sound = { ...picture, contentType: 'audio/webm' };
    const content = shown(sound, [[null, null, 1500, wrong]]);
    expect(content).toMatchObject({ files: [{ kind: 'audio', duration: 1500 }] });
    expect(JSON.stringify(content)).not.toContain('waveform');
  });

  it.each<[string, string, number, string]>([
    ['a raster picture', 'image/png', DISPOSITION.render, 'picture'],
    ['a film', 'VIDEO/MP4', DISPOSITION.render, 'film'],
    ['an attached picture', 'image/png', DISPOSITION.attachment, 'file'],
    ['SVG, which is a program', 'image/svg+xml', DISPOSITION.render, 'file'],
    ['a page', 'text/html', DISPOSITION.render, 'file'],
    ['XML', 'application/xhtml+xml', DISPOSITION.render, 'file'],
    ['PDF', 'application/pdf', DISPOSITION.render, 'file'],
    ['what nobody knows', 'x/y', DISPOSITION.render, 'file'],
  ])('are shown by a type that runs nothing: %s', (_what, contentType, disposition, kind) => {
    const content = shown({ ...picture, contentType, disposition });
    if (content.kind !== 'files') throw new Error('no files');
    expect(content.files[0]?.kind).toBe(kind);
    expect(content.files[0]?.type).not.toMatch(/svg|html|xml|x\/y/);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\a.exe', 'a.exe'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['a\u0000b\nc\u0085\u2028.txt', 'abc.txt'],
    [' \u2066x\u2069.png ', 'x.png'],
    ['..', '..'],
    ['', ''],
    [`${'a'.repeat(254)}\u{1f600}.png`, 'a'.repeat(254)],
    ['äänite 👩‍👩‍👧.ogg', 'äänite 👩‍👩‍👧.ogg'],
  ])('have a name without path and tricks: %j', (name, expected) => {
    expect(shownName(name)).toBe(expected);
    expect(shown({ ...picture, filename: name })).toMatchObject({ files: [{ name: expected }] });
  });

  it.each<[string, NestedPart]>([
    ['kept elsewhere', { ...picture, url: 'https://example.org/a' }],
    ['sealed in another way', { ...picture, encAlg: 1 }],
    ['hashed in another way', { ...picture, hashAlg: 2 }],
    ['of which one is to be chosen', { ...several(picture, picture), semantics: 'chooseOne' } as NestedPart],
    ['that begin with a preview', several(preview, picture)],
    ['with two previews', several(picture, preview, preview)],
    ['with a text behind them', several(picture, caption)],
    ['with a caption of HTML', several(single(1, 'text/html', utf8('<b>')), picture)],
    ['inside of others', several(several(picture, picture), picture)],
    ['that are none', several(caption, preview)],
  ])('of another client are left to a later version: %s', (_what, body) => {
    expect(shown(body)).toEqual({ kind: 'unknown' });
  });

  it.each<[string, NestedPart, CborValue?]>([
    ['a short key', { ...picture, key: new Uint8Array(31) }],
    ['a short hash', { ...picture, contentHash: new Uint8Array(31) }],
    ['a nonce', { ...picture, nonce: new Uint8Array(12) }],
    ['associated data', { ...picture, aad: new Uint8Array(1) }],
    ['an address that leads elsewhere', { ...picture, url: 'sinetti:blob/../users/me' }],
    ['an address of another length', { ...picture, url: 'sinetti:blob/AAAA' }],
    ['a size beyond a gigabyte', { ...picture, size: 2 ** 30 + 1 }],
    ['21 files', several(...Array.from({ length: 21 }, () => picture))],
    ['a preview that is SVG', several(picture, single(8, 'image/svg+xml', utf8('<svg/>')))],
    ['a preview of 9 KB', several(picture, single(8, 'image/webp', new Uint8Array(9000)))],
    [
      'measures of two',
      picture,
      [
        [1, 1, null, null],
        [1, 1, null, null],
      ],
    ],
    ['measures that are no list', picture, 'x'],
    ['no width', picture, [[0, 1, null, null]]],
    ['a width of a text', picture, [['1', 1, null, null]]],
    ['a height of a million', picture, [[1, 1_000_000, null, null]]],
    ['an empty caption', several(single(1, 'text/plain', new Uint8Array()), picture)],
  ])('that break the rules are damaged: %s', (_what, body, measures) => {
    expect(shown(body, measures)).toEqual({ kind: 'undecryptable', reason: 'damaged' });
  });

  it('are read, unknown or damaged in each of 10,000 mutations, and never anything else', () => {
    const bytes = encodeMimiContent({
      ...plain,
      body: several(caption, picture, preview, { ...picture, contentType: 'audio/ogg' }),
      extensions: new Map([
        [
          'sinetti-files',
          [
            [1200, 800, null, null],
            [null, null, 900, waveform],
          ],
        ],
      ]),
    });
    expect(decodeMimiContent(bytes).body.kind).toBe('multi');
    const below = generator(17);
    const kinds = new Map<string, number>();
    for (let run = 0; run < 10_000; run += 1) {
      const mutated = bytes.slice();
      for (let flips = below(3); flips >= 0; flips -= 1) mutated[below(mutated.length)] = below(256);
      const content = payloadContent(payloadOf(mutated) ?? '');
      kinds.set(content.kind, (kinds.get(content.kind) ?? 0) + 1);
      if (content.kind !== 'files') continue;
      for (const { kind, name, size, type } of content.files) {
        expect(name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e]/u);
        expect(size).toBeLessThanOrEqual(2 ** 30);
        expect(`${kind} ${type}`).toMatch(/^file |^\w+ (?:image|video|audio)\/(?!svg)/);
      }
    }
    expect([...kinds.keys()].toSorted()).toEqual(['files', 'undecryptable', 'unknown']);
  });
});

/** Whole numbers below a bound, from a seed. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
