import type { FilePreview } from '../../store/files.ts';

/** The address of a preview, for an element that shows pictures. */
export function previewUrl({ bytes, type }: FilePreview): string {
  return `data:${type};base64,${bytes.replaceAll('-', '+').replaceAll('_', '/')}`;
}
