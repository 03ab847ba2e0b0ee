/** Pictures are drawn anew before they leave: what a camera wrote beside the pixels, as where it was, stays here. */
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { FilePreview } from '../../store/files.ts';
import { checkPixels, type PictureHeader } from './pictureHeader.ts';

/** Pixels of the longer side. */
const longestSide = 2560;
const quality = 0.85;
/** Pixels of a preview's longer side, tried in this order until it is small enough. */
const previewSides = [320, 240, 160, 96, 48, 24];

export interface DrawnPicture {
  readonly picture: Blob;
  readonly type: 'image/jpeg' | 'image/png' | 'image/webp';
  readonly width: number;
  readonly height: number;
  readonly preview: FilePreview | null;
}

/**
 * Draws a picture anew, upright, and at most 2,560 pixels long.
 * @param previewBytes that the preview may have
 * @throws AppError `usage` for more pixels than fit, `unsupported` for what the browser can't read
 */
export async function drawAnew(
  source: Blob,
  header: PictureHeader,
  previewBytes: number,
): Promise<DrawnPicture> {
  checkPixels(header);
  const { type } = header;
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(source, { imageOrientation: 'from-image' });
  } catch (error) {
    const text = type === 'image/heic' ? t('files.heic') : t('files.pictureUnreadable');
    throw new AppError('unsupported', text, { cause: error });
  }
  try {
    const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
    const drawn = await encode(bitmap, scale, quality, type === 'image/png');
    return { ...drawn, preview: await previewOf(bitmap, previewBytes) };
  } finally {
    bitmap.close();
  }
}

type Encoded = Omit<DrawnPicture, 'preview'>;

/** @param isDrawing lines and letters, and parts that nothing covers, which JPEG would fill */
async function encode(
  bitmap: ImageBitmap,
  scale: number,
  wanted: number,
  isDrawing: boolean,
): Promise<Encoded> {
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new AppError('unsupported', t('files.pictureUnreadable'));
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  const webp = await canvas.convertToBlob({ type: 'image/webp', quality: wanted });
  if (webp.type === 'image/webp') return { picture: webp, type: 'image/webp', width, height };
  // Safari answers with another type than it was asked for.
  const type = isDrawing ? 'image/png' : 'image/jpeg';
  return { picture: await canvas.convertToBlob({ type, quality: wanted }), type, width, height };
}

/** Draws a small picture of at most so many bytes; null for one that doesn't get that small. */
export async function previewOf(bitmap: ImageBitmap, most: number): Promise<FilePreview | null> {
  for (const side of previewSides) {
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
    const { picture, type } = await encode(bitmap, scale, 0.6, false);
    if (picture.size <= most) return { type, bytes: await base64Url(picture) };
  }
  return null;
}

async function base64Url(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
