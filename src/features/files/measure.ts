import type { FileFacts } from '../../store/files.ts';
import { previewOf } from './picture.ts';

/** Milliseconds of what a message may tell: a week. */
const longest = 7 * 24 * 60 * 60 * 1000;
/** Milliseconds after which a file that the browser makes nothing of is taken for none. */
const patience = 10_000;
/** Seconds into a film at which its still is taken: many begin in black. */
const stillAt = 1;

type Measures = Pick<FileFacts, 'duration' | 'height' | 'preview' | 'width'>;

/**
 * Measures a sound or film, whose still is its preview. A sound has no width.
 * @param previewBytes that the preview may have
 * @returns null for what this browser can't play
 */
export async function measure(source: Blob, previewBytes: number): Promise<Measures | null> {
  const film = document.createElement('video');
  const url = URL.createObjectURL(source);
  film.preload = 'auto';
  film.muted = true;
  film.src = url;
  try {
    await happens(film, 'loadeddata');
    const { duration, videoHeight: height, videoWidth: width } = film;
    const isKnown = Number.isFinite(duration) && duration > 0 && duration * 1000 <= longest;
    const length = isKnown ? { duration: Math.max(1, Math.round(duration * 1000)) } : {};
    if (width === 0) return length;
    if (isKnown) {
      const moved = happens(film, 'seeked');
      film.currentTime = Math.min(stillAt, duration / 10);
      await moved;
    }
    const bitmap = await createImageBitmap(film);
    try {
      const preview = await previewOf(bitmap, previewBytes);
      return { ...length, width, height, ...(preview === null ? {} : { preview }) };
    } finally {
      bitmap.close();
    }
  } catch {
    return null;
  } finally {
    film.removeAttribute('src');
    film.load();
    URL.revokeObjectURL(url);
  }
}

function happens(film: HTMLVideoElement, event: 'loadeddata' | 'seeked'): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nothing happens')), patience);
    const settle = (then: () => void) => () => {
      clearTimeout(timer);
      then();
    };
    film.addEventListener(event, settle(resolve), { once: true });
    film.addEventListener(
      'error',
      settle(() => reject(new Error('not playable'))),
      { once: true },
    );
  });
}
