import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { playableType } from '../../lib/playableType.ts';
import type { NewFile } from '../../store/files.ts';
import { withoutFilmMetadata } from './filmBoxes.ts';
import { withoutGifMetadata } from './gif.ts';
import { measure } from './measure.ts';
import { drawAnew } from './picture.ts';
import { checkPicture, headOf, readPictureHeader } from './pictureHeader.ts';

/** Bytes that all previews of a message have together. */
const allPreviews = 44 * 1024;
const largestPreview = 8 * 1024;

/**
 * Makes a chosen file ready to be sent.
 * @param count of files in the message, which share the room for previews
 * @throws AppError for a picture that can't be drawn, and for a GIF or a film that can't be read to its end
 */
export async function prepare(source: File, count: number): Promise<NewFile> {
  const head = await headOf(source);
  const header = readPictureHeader(head);
  const room = Math.min(largestPreview, Math.floor(allPreviews / count));
  if (header === null) return asPlayed(source, playableType(head, source.type), room);
  // An animation would stand still, and cameras make none.
  if (header.type === 'image/gif') {
    const { facts } = asFile(source);
    const kept = withoutGifMetadata(new Uint8Array(await source.arrayBuffer()));
    if (kept === null) throw new AppError('unsupported', t('files.pictureUnreadable'));
    const { type } = header;
    const cleaned = new Blob(kept, { type });
    // The first frame counts, and what was in front of it may have been long.
    const size = await checkPicture(cleaned);
    return { source: cleaned, facts: { ...facts, type, kind: 'picture', ...size } };
  }
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
  return { source: picture, facts };
}

/**
 * A sound or film goes without what it says of itself, where that is known to be found; one that this browser can't play goes as a
 * file, since others might not either.
 */
async function asPlayed(source: File, type: string | null, room: number): Promise<NewFile> {
  const file = asFile(source);
  const kept = await withoutFilmMetadata(source);
  const measures = type === null ? null : await measure(kept ?? source, room);
  if (type === null || measures === null) return { ...file, source: kept ?? source };
  if (kept === null) throw new AppError('unsupported', t('files.unreadable'));
  const isFilm = measures.width !== undefined;
  const played = isFilm ? type : type.replace('video/', 'audio/');
  return {
    source: kept,
    facts: { ...file.facts, type: played, kind: isFilm ? 'film' : 'audio', ...measures },
  };
}

function asFile(source: File): NewFile {
  return { source, facts: { name: source.name, type: source.type, kind: 'file', description: '' } };
}
