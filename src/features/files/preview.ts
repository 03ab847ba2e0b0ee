import type { FilePreview } from '../../store/files.ts';
import { readPictureHeader } from './pictureHeader.ts';

/** Pixels in all, some times those that a preview has: a few bytes can claim to be as many as fill the memory. */
const mostPixels = 1_000_000;

/** The address of a preview, for an element that shows pictures; undefined for what is no small picture. */
export function previewUrl({ bytes, type }: FilePreview): string | undefined {
  const base64 = bytes.replaceAll('-', '+').replaceAll('_', '/');
  const size = readPictureHeader(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))?.size;
  if (size === undefined || size === null || size.width * size.height > mostPixels) return undefined;
  return `data:${type};base64,${base64}`;
}
