import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutFilmMetadata } from '#src/features/files/filmBoxes.ts';
import { prepare } from '#src/features/files/prepare.ts';

type Part = string | Uint8Array<ArrayBuffer>;

const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

function joined(...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.map((part) => (typeof part === 'string' ? latin(part) : part));
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

function box(type: string, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const content = joined(...parts);
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, 8 + content.length);
  return joined(size, type, content);
}

/** One whose size has 64 bits. */
function longBox(type: string, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const content = joined(...parts);
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(16 + content.length));
  return joined('\0\0\0\x01', type, size, content);
}

const place = '+61.4978+023.7610/';
const brand = box('ftyp', 'isom\0\0\0\0');
const mdat = box('mdat', 'pictures, one after the other: ©xyz is no box here');
const xyz = box('©xyz', '\0\x12\0\0', place);

async function cleared(...parts: readonly Part[]): Promise<string | null> {
  const film = await withoutFilmMetadata(new Blob([joined(...parts)], { type: 'video/mp4' }));
  return film && String.fromCharCode(...new Uint8Array(await film.arrayBuffer()));
}

const textOf = (...parts: readonly Part[]) => String.fromCharCode(...joined(...parts));
/** In the place of a box. */
const free = (gone: Uint8Array) => box('free', '\0'.repeat(gone.length - 8));

describe('a film loses', () => {
  const described = (udta: Part, meta: Part, inTrack: Part) => [
    brand,
    box(
      'moov',
      box('mvhd', 'times'),
      udta,
      box('trak', box('tkhd', 'track'), inTrack, box('mdia', box('minf', 'x')), meta),
    ),
    mdat,
  ];
  const udta = box('udta', xyz, box('loci', '\0\0\0\0', 'Tampere\0', place));
  const meta = box('meta', box('keys', 'com.apple.quicktime.location.ISO6709'), box('ilst', place));
  const inTrack = box('udta', box('name', 'IMG of the harbour'));

  it('the place, the camera and the titles, and has empty boxes of their sizes there', async () => {
    const film = await cleared(...described(udta, meta, inTrack));
    expect(film).toBe(textOf(...described(free(udta), free(meta), free(inTrack))));
    expect(film).not.toContain('61.4978');
    expect(film).not.toContain('Tampere');
  });

  it('what stands beside the film or in its fragments, XMP among it, and what has a long size', async () => {
    const xmp = box(
      'uuid',
      '\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac',
      `<exif:GPS ${place}>`,
    );
    const long = longBox('udta', xyz);
    const film = await cleared(brand, longBox('moov', long), xmp, box('moof', box('traf', udta)), mdat, meta);
    expect(film).toBe(
      textOf(
        brand,
        longBox('moov', longBox('free', '\0'.repeat(xyz.length))),
        free(xmp),
        box('moof', box('traf', free(udta))),
        mdat,
        free(meta),
      ),
    );
  });

  it('all of that without ftyp, as QuickTime was, with zeros behind its lists and a last box without a size', async () => {
    const open = joined('\0\0\0\0', 'mdat', 'to the end');
    const film = await cleared(box('wide'), box('moov', udta, '\0\0\0\0'), open);
    expect(film).toBe(textOf(box('wide'), box('moov', free(udta), '\0\0\0\0'), open));
  });
});

it('nothing else is changed, and the file keeps its type', async () => {
  const film = new Blob([joined(brand, mdat)], { type: 'video/mp4' });
  expect(await withoutFilmMetadata(film)).toBe(film);
  for (const other of ['', 'udta', '%PDF-1.7 of moov', 'PK\x03\x04\x14\0\0\0', '\x1aE\xdf\xa3webm'])
    expect(await cleared(other)).toBe(other);
  const changed = await withoutFilmMetadata(
    new Blob([joined(brand, box('udta', xyz))], { type: 'video/mp4' }),
  );
  expect(changed?.type).toBe('video/mp4');
});

describe('a film that can’t be read to its end is refused', () => {
  it.each([
    ['a box beyond the end', [brand, '\0\0\x01\0moov', 'short']],
    ['a box beyond the one that it is in', [brand, box('moov', '\0\0\x01\0udta', place), mdat]],
    ['a size that is less than a head', [brand, '\0\0\0\x04moov', place]],
    ['a long size that isn’t there', [brand, '\0\0\0\x01moov']],
    ['a long size beyond all numbers', [brand, '\0\0\0\x01moov', '\xff'.repeat(8), place]],
    ['half a head', [brand, box('moov', box('udta', xyz)), 'mda']],
    ['words behind a list', [brand, box('moov', box('mvhd'), 'xyz')]],
  ] as const)('for %s', async (_, parts) => {
    expect(await cleared(...parts)).toBeNull();
  });
});

it('a film of a camera that this browser plays none of goes as a file, without the place', async () => {
  const bytes = joined(box('ftyp', 'qt  '), box('moov', box('udta', xyz)), mdat);
  const { facts, source } = await prepare(new File([bytes], 'IMG_2041.mov', { type: 'video/quicktime' }), 1);
  expect(facts).toEqual({ name: 'IMG_2041.mov', type: 'video/quicktime', kind: 'file', description: '' });
  expect(source.size).toBe(bytes.length);
  expect(await source.text()).not.toContain('61.4978');
});

it('whatever bytes there are, the film is as long as before or refused', async () => {
  const seed = joined(brand, box('moov', box('trak', box('udta', xyz)), box('meta', place)), mdat);
  const flips = fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(flips, fc.nat(seed.length), async (changes, length) => {
      const bytes = seed.slice(0, length);
      for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
      const film = await withoutFilmMetadata(new Blob([bytes]));
      expect(film === null || film.size === length).toBe(true);
    }),
    { seed: 11, numRuns: 500 },
  );
});
