/** A picture's type and size by its first bytes, however it is called: a decoder that is asked to find out fills the memory first. */
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { gifSize } from './gif.ts';

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export interface PictureHeader {
  readonly type: 'image/avif' | 'image/gif' | 'image/heic' | 'image/jpeg' | 'image/png' | 'image/webp';
  /** Pixels; null where they stand further in than is read. */
  readonly size: PictureSize | null;
}

/** Bytes of a file that are read for it: in photographs the previews of cameras come first. */
const headerLength = 256 * 1024;

/** Pixels in all: four bytes of memory each, and a phone has room for some. */
const mostPixels = 100_000_000;

/**
 * Makes sure that a picture has no more pixels than fit, before anybody asks for the memory.
 * @returns its size
 * @throws AppError `usage` for more, `unsupported` for no picture, or one that doesn't say how many
 */
export function checkPixels(header: PictureHeader | null): PictureSize {
  const size = header?.size ?? null;
  if (size === null) throw new AppError('unsupported', t('files.pictureUnreadable'));
  if (size.width * size.height > mostPixels)
    throw new AppError('usage', t('files.pictureTooLarge', { ...size }));
  return size;
}

/** As {@link checkPixels}, of a whole picture. */
export async function checkPicture(picture: Blob): Promise<PictureSize> {
  return checkPixels(readPictureHeader(await headOf(picture)));
}

/** The bytes of a file by which its type is known. */
export async function headOf(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.slice(0, headerLength).arrayBuffer());
}

/** Null for what is no picture that browsers show. */
export function readPictureHeader(bytes: Uint8Array<ArrayBuffer>): PictureHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (at: number, text: string) =>
    at + text.length <= bytes.length &&
    Array.from(text).every((letter, i) => bytes[at + i] === letter.charCodeAt(0));
  if (has(0, '\x89PNG\r\n\x1a\n') && has(12, 'IHDR')) {
    return { type: 'image/png', size: sizeAt(view, 24, () => [view.getUint32(16), view.getUint32(20)]) };
  }
  if (has(0, 'GIF87a') || has(0, 'GIF89a')) return { type: 'image/gif', size: gifSize(bytes) };
  if (has(0, 'RIFF') && has(8, 'WEBP')) return { type: 'image/webp', size: webpSize(view, has) };
  if (has(0, '\xff\xd8\xff')) return { type: 'image/jpeg', size: jpegSize(view) };
  if (!has(4, 'ftyp')) return null;
  const brands = Array.from({ length: 12 }, (_, i) => 8 + 4 * i).filter((at) => at !== 12);
  if (brands.some((at) => has(at, 'avif') || has(at, 'avis')))
    return { type: 'image/avif', size: boxSize(view, has) };
  const isHeic = brands
    .slice(0, 4)
    .some((at) => has(at, 'heic') || has(at, 'heix') || has(at, 'mif1') || has(at, 'hevc'));
  return isHeic ? { type: 'image/heic', size: boxSize(view, has) } : null;
}

type Has = (at: number, text: string) => boolean;

function sizeAt(
  view: DataView,
  length: number,
  read: () => readonly [number, number],
): PictureHeader['size'] {
  if (view.byteLength < length) return null;
  const [width, height] = read();
  return { width, height };
}

function webpSize(view: DataView, has: Has): PictureHeader['size'] {
  const u24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  return sizeAt(view, 30, () => {
    if (has(12, 'VP8X')) return [u24(24) + 1, u24(27) + 1];
    if (has(12, 'VP8L')) {
      const bits = view.getUint32(21, true);
      return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1];
    }
    return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  });
}

function jpegSize(view: DataView): PictureHeader['size'] {
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    // Padding, and marks without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** The largest of the sizes in the boxes of HEIF: thumbnails have theirs there too. */
function boxSize(view: DataView, has: Has): PictureHeader['size'] {
  let size: PictureHeader['size'] = null;
  for (let at = 0; at + 16 <= view.byteLength; at += 1) {
    if (!has(at, 'ispe')) continue;
    const [width, height] = [view.getUint32(at + 8), view.getUint32(at + 12)];
    if (size === null || width * height > size.width * size.height) size = { width, height };
  }
  return size;
}
