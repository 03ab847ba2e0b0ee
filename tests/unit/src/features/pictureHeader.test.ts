import { describe, expect, it } from 'vitest';
import { checkPicture, readPictureHeader } from '#src/features/files/pictureHeader.ts';
import { prepare } from '#src/features/files/prepare.ts';
import { previewUrl } from '#src/features/files/preview.ts';
import { base64Url, gif, heif, jpeg, png, webp } from '../support/pictures.ts';

type Maker = (width: number, height: number) => Uint8Array<ArrayBuffer>;

const formats: readonly (readonly [name: string, type: string, make: Maker])[] = [
  ['PNG', 'image/png', png],
  ['JPEG', 'image/jpeg', jpeg],
  ['JPEG behind much of what a camera writes', 'image/jpeg', (...size) => jpeg(...size, 2_000)],
  ['GIF', 'image/gif', gif],
  [
    'GIF with a first frame that is larger than its screen',
    'image/gif',
    (...size) => gif(1, 1, [0, 0, ...size]),
  ],
  ['GIF with a first frame outside its screen', 'image/gif', (w, h) => gif(1, 1, [w - 1, h - 1, 1, 1])],
  ['lossy WebP', 'image/webp', webp.lossy],
  ['lossless WebP', 'image/webp', webp.lossless],
  ['extended WebP', 'image/webp', webp.extended],
  ['AVIF', 'image/avif', (...size) => heif('avif', ...size)],
  ['HEIC', 'image/heic', (...size) => heif('heic', ...size)],
];

describe.each(formats)('the header of a %s', (_name, type, make) => {
  it('says its type and size', () => {
    expect(readPictureHeader(make(1200, 800))).toEqual({ type, size: { width: 1200, height: 800 } });
  });

  it('is refused for more pixels than there is memory', async () => {
    // As many as lossless WebP can say.
    const side = type === 'image/webp' ? 16_000 : 30_000;
    await expect(checkPicture(new Blob([make(side, side)]))).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`${side.toLocaleString('en')} × ${side.toLocaleString('en')} pixels`),
    });
    expect(await checkPicture(new Blob([make(10_000, 10_000)]))).toEqual({ width: 10_000, height: 10_000 });
  });

  it('says no other size wherever it breaks off', async () => {
    const whole = make(1200, 800);
    const sizes = Array.from(whole, (_, length) => {
      const size = readPictureHeader(whole.subarray(0, length))?.size ?? null;
      return size === null ? 'none' : `${size.width} × ${size.height}`;
    });
    expect(['none', 'none,1200 × 800']).toContain([...new Set(sizes)].join());
    await expect(checkPicture(new Blob([whole.slice(0, 14)]))).rejects.toMatchObject({ code: 'unsupported' });
  });
});

it.each([
  ['nothing', ''],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'],
  ['a page', '<!doctype html><script>alert(1)</script>'],
  ['a PDF', '%PDF-1.7'],
])('of %s is that of no picture', async (_name, text) => {
  await expect(checkPicture(new Blob([text]))).rejects.toMatchObject({
    code: 'unsupported',
    message: 'This picture can’t be read.',
  });
});

it.each(formats.filter(([, type]) => type !== 'image/webp'))(
  'a %s of 30,000 × 30,000 pixels is not sent',
  async (_name, type, make) => {
    const file = new File([make(30_000, 30_000)], 'big', { type });
    await expect(prepare(file, 1)).rejects.toThrow('too large to be read here: 30,000 × 30,000 pixels');
  },
);

describe('a preview', () => {
  const preview = (bytes: Uint8Array) => previewUrl({ type: 'image/webp', bytes: base64Url(bytes) });

  it('is shown if it is small', () => {
    const bytes = webp.lossy(320, 214);
    expect(preview(bytes)).toBe(`data:image/webp;base64,${Buffer.from(bytes).toString('base64')}`);
  });

  it('is not if its few bytes claim to be many pixels, or are no picture', () => {
    expect(preview(webp.lossless(16_000, 16_000))).toBeUndefined();
    expect(preview(png(30_000, 30_000))).toBeUndefined();
    expect(preview(Buffer.from('<svg/>'))).toBeUndefined();
  });
});
