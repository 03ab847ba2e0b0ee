import { t } from '../../i18n/i18n.ts';
import type { NewFile } from '../../store/files.ts';
import { drawAnew } from './picture.ts';
import { headerLength, readPictureHeader } from './pictureHeader.ts';

/** Bytes that all previews of a message have together. */
const allPreviews = 44 * 1024;
const largestPreview = 8 * 1024;

export interface Prepared {
  readonly file: NewFile;
  /** A sentence on what goes along with it; null for nothing. */
  readonly note: string | null;
}

/**
 * Makes a chosen file ready to be sent.
 * @param count of files in the message, which share the room for previews
 * @throws AppError for a picture that can't be drawn
 */
export async function prepare(source: File, count: number): Promise<Prepared> {
  const header = readPictureHeader(new Uint8Array(await source.slice(0, headerLength).arrayBuffer()));
  if (header === null) return { file: asFile(source), note: null };
  // An animation would stand still, and cameras make none.
  if (header.type === 'image/gif') {
    const file = asFile(source);
    const { size } = header;
    return {
      file: { ...file, facts: { ...file.facts, type: 'image/gif', kind: 'picture', ...size } },
      note: t('files.gif'),
    };
  }
  const room = Math.min(largestPreview, Math.floor(allPreviews / count));
  const { height, picture, preview, type, width } = await drawAnew(source, header, room);
  const facts = {
    name: `${source.name.replace(/\.[^.]*$/, '') || t('files.picture')}.${type.slice('image/'.length)}`,
    type,
    kind: 'picture' as const,
    description: '',
    width,
    height,
    ...(preview === null ? {} : { preview }),
  };
  return { file: { source: picture, facts }, note: null };
}

function asFile(source: File): NewFile {
  return { source, facts: { name: source.name, type: source.type, kind: 'file', description: '' } };
}
