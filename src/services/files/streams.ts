import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorText } from '../../lib/errorText.ts';
import { playableType } from '../../lib/playableType.ts';
import { isPlayable, type MediaFacts, mediaHandleIn, mediaUrl } from '../../serviceWorker/media.ts';
import type { FileActions, FilePlace } from '../../store/files.ts';
import { openFile, type ReadableFile, type ReadingOptions } from './reading.ts';
import { pieceLength } from './sources.ts';

export interface StreamsOptions {
  readonly reading: ReadingOptions;
  /** Undefined where the browser has no service workers. */
  readonly container:
    | Pick<ServiceWorkerContainer, 'addEventListener' | 'controller' | 'removeEventListener'>
    | undefined;
  readonly newId: () => string;
  readonly isActive: () => boolean;
}

interface OpenStream {
  readonly facts: MediaFacts;
  piece(index: number): Promise<ArrayBuffer>;
}

/**
 * Plays files piece by piece: an element asks the service worker for ranges, that asks this page (src/serviceWorker/media.ts), and
 * the worker with the keys opens them. All that the service worker can ask for is a piece of a file that a player of this page has
 * open; it never has a key, nor where the file is.
 */
export function createStreams({
  container,
  isActive,
  newId,
  reading,
}: StreamsOptions): FileActions['stream'] {
  const streams = new Map<string, OpenStream>();

  function answer({ data, ports: [port] }: MessageEvent<unknown>): void {
    const handle = mediaHandleIn(data);
    if (handle === null || port === undefined) return;
    const stream = streams.get(handle);
    if (stream === undefined || !isActive()) return port.postMessage(null);
    port.addEventListener(
      'message',
      ({ data: index }: MessageEvent<unknown>) => void sendPiece(port, stream, index),
    );
    port.start();
    port.postMessage(stream.facts);
  }

  async function sendPiece(port: MessagePort, stream: OpenStream, index: unknown): Promise<void> {
    const count = Math.ceil(stream.facts.size / pieceLength);
    const isPiece = Number.isInteger(index) && Number(index) >= 0 && Number(index) < count;
    const piece = isPiece && isActive() ? await stream.piece(Number(index)).catch(() => null) : null;
    port.postMessage(piece, piece === null ? [] : [piece]);
  }

  return async (place, { size, type }) => {
    // The first visit to the app is without it.
    if (container === undefined || container.controller === null || !isPlayable(type)) return null;
    if (streams.size === 0) container.addEventListener('message', answer);
    const handle = newId();
    let problem: string | null = null;
    const piece = piecesOf(reading, place);
    streams.set(handle, {
      facts: { type, size, pieceLength },
      async piece(index) {
        try {
          const opened = await piece(index);
          if (index === 0) requirePlayable(opened, type);
          return opened;
        } catch (error) {
          problem = errorText(error, t('files.readFailed'));
          throw error;
        }
      },
    });
    return {
      url: mediaUrl(handle),
      problem: () => problem,
      end() {
        streams.delete(handle);
        if (streams.size === 0) container.removeEventListener('message', answer);
      },
    };
  };
}

/**
 * Holds the beginning of a file against the type that its sender names. Players look into what they get: of a playlist, some would fetch what
 * stands in it, and so tell its sender when it is played, and from where.
 * @throws AppError `unsupported` for neither sound nor film; pictures are not looked at
 */
export function requirePlayable(beginning: ArrayBuffer, type: string): void {
  if (isPlayable(type) && playableType(new Uint8Array(beginning), type) === null)
    throw new AppError('unsupported', t('files.unplayable'));
}

/** Opens pieces in any order. The worker lets go of the files that were opened long ago; then it is asked again. */
function piecesOf(reading: ReadingOptions, place: FilePlace): (index: number) => Promise<ArrayBuffer> {
  let opening: Promise<ReadableFile> | null = null;
  return async (index) => {
    const isFirst = opening === null;
    opening ??= openFile(reading, place);
    try {
      return await (await opening).piece(index);
    } catch (error) {
      opening = null;
      if (isFirst) throw error;
      opening = openFile(reading, place);
      return (await opening).piece(index);
    }
  };
}
