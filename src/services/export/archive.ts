import { makeZip } from 'client-zip';
import { AppError } from '../../lib/appError.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import { playableType } from '../../lib/playableType.ts';
import type { ExportedFiles } from '../../store/account.ts';
import { isPassing } from '../core/failures.ts';
import { createArchivedNames, type NamedFile } from './archivedNames.ts';
import type { ReadFile, WantedFile } from './files.ts';

/** Files beyond are told of only: the archives of client-zip count to 65,535 where they are smaller than 4 GiB. */
const mostFiles = 65_000;
/** Pieces of a file that are in memory before it begins in the archive. One that fails by then leaves nothing there. */
const heldPieces = 2;
/** Bytes of small parts that are gathered, to be written at once. */
const writtenAtOnce = 64 * 1024;
const folder = 'files/';

/**
 * The reason why a file isn't in the archive, or not all of it: the relay has it no more (`gone`), it isn't the one that was sent
 * (`damaged`), the relay could not be reached or gave no more for now (`unreachable`), it could not be read (`unread`), there are
 * more than an archive takes (`too-many`), or its message came while the archive was made (`later`).
 */
export type MissingReason = 'gone' | 'damaged' | 'unreachable' | 'unread' | 'too-many' | 'later';

export interface ArchivedFile {
  /** In the archive; null for one of which nothing is there. */
  readonly path: string | null;
  /** Null for one that is there whole. */
  readonly missing: MissingReason | null;
}

export interface ArchiveOptions {
  readonly wanted: readonly WantedFile[];
  readonly read: ReadFile;
  readonly document: {
    readonly name: string;
    /** Called once the files are written. @param of the files of a message, in its order; empty for one that came later */
    readonly text: (of: (messageId: string) => readonly ArchivedFile[]) => AsyncIterable<string>;
  };
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Bytes of files that are done, of all there are. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Writes a ZIP without ending the sink: the files one after the other, then the document that tells of them. Nothing is compressed,
 * since what people send is already, and of no file more than three pieces are in memory: one that comes, and two that wait.
 * @throws the signal's reason when it is aborted, and what the sink or the session fails with
 */
export async function writeArchive(sink: FileSink, options: ArchiveOptions): Promise<ExportedFiles> {
  const { document, now, onProgress, read, signal, wanted } = options;
  const nameFor = createArchivedNames();
  const archived = new Map<string, ArchivedFile[]>();
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  let missing = 0;

  function note({ place }: WantedFile, file: ArchivedFile): void {
    if (file.missing !== null) missing += 1;
    const files = archived.get(place.messageId) ?? [];
    files[place.index] = file;
    archived.set(place.messageId, files);
  }

  async function* entries() {
    for (const [at, file] of wanted.entries()) {
      signal.throwIfAborted();
      const before = done;
      if (at >= mostFiles) note(file, { path: null, missing: 'too-many' });
      else {
        const pieces = watched(read(file.place), (bytes) => {
          done += bytes;
          onProgress(done, total);
        });
        const begun = await begin(pieces);
        if ('missing' in begun) note(file, { path: null, missing: begun.missing });
        else {
          const path = `${folder}${nameFor(file, isPlayable(file, begun.held[0]))}`;
          const end = (reason: MissingReason | null) => note(file, { path, missing: reason });
          yield {
            name: path,
            input: onDemand(rest(begun, pieces, end)),
            lastModified: dateIn(file.writtenAt, now),
          };
        }
      }
      done = before + file.size;
      onProgress(done, total);
    }
    const of = (messageId: string) => archived.get(messageId) ?? [];
    yield { name: document.name, input: document.text(of), lastModified: new Date(now) };
  }

  onProgress(0, total);
  await pour(makeZip(entries(), { buffersAreUTF8: true }), sink, signal);
  return { written: wanted.length - missing, missing };
}

interface Begun {
  readonly held: ArrayBuffer[];
  readonly isWhole: boolean;
}

/** Reads the first pieces. */
async function begin(
  pieces: AsyncIterator<ArrayBuffer>,
): Promise<Begun | { readonly missing: MissingReason }> {
  const held: ArrayBuffer[] = [];
  try {
    while (held.length < heldPieces) {
      const { done, value } = await pieces.next();
      if (done === true) return { held, isWhole: true };
      held.push(value);
    }
    return { held, isWhole: false };
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

/** The pieces of a file that has begun. @param end called behind the last one */
async function* rest(
  { held, isWhole }: Begun,
  pieces: AsyncIterator<ArrayBuffer>,
  end: (missing: MissingReason | null) => void,
): AsyncGenerator<ArrayBuffer> {
  for (let piece = held.shift(); piece !== undefined; piece = held.shift()) yield piece;
  if (isWhole) return end(null);
  for (;;) {
    const next = await pieces.next().catch((error: unknown) => ({ reason: reasonOf(error) }));
    if ('reason' in next) return end(next.reason);
    if (next.done === true) return end(null);
    yield next.value;
  }
}

/** Reads a piece once it is asked for; of what can be iterated over, client-zip would have another one ready. */
function onDemand(pieces: AsyncGenerator<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(new Uint8Array(value));
      },
    },
    { highWaterMark: 0 },
  );
}

async function* watched(
  pieces: AsyncIterable<ArrayBuffer>,
  onPiece: (bytes: number) => void,
): AsyncGenerator<ArrayBuffer> {
  for await (const piece of pieces) {
    onPiece(piece.byteLength);
    yield piece;
  }
}

const endings: ReadonlySet<string> = new Set(['locked', 'session-ended']);

/** @throws what no other file would be read after */
function reasonOf(error: unknown): MissingReason {
  if (!(error instanceof AppError) || endings.has(error.code)) throw error;
  if (error.code === 'not-found' || error.code === 'gone' || error.code === 'unknown-message') return 'gone';
  if (error.code === 'damaged-file') return 'damaged';
  return isPassing(error.cause) ? 'unreachable' : 'unread';
}

/** Returns whether a sound or film begins as one of its type; players look into what they get, and some would fetch what it names. */
function isPlayable({ kind, type }: NamedFile, beginning: ArrayBuffer | undefined): boolean {
  if (kind === 'picture') return true;
  return beginning !== undefined && playableType(new Uint8Array(beginning), type) !== null;
}

/** A time that the format can tell, which begins in 1980. */
function dateIn(time: number, now: number): Date {
  const date = new Date(time);
  const year = date.getFullYear();
  return year >= 1980 && year < 2100 ? date : new Date(now);
}

function bufferOf({ buffer, byteLength, byteOffset }: Uint8Array): ArrayBuffer {
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? buffer : new Uint8Array(buffer, byteOffset, byteLength).slice().buffer;
}

/** Hands the archive on as it is made, no faster than the sink takes it. */
async function pour(archive: ReadableStream<Uint8Array>, sink: FileSink, signal: AbortSignal): Promise<void> {
  const reader = archive.getReader();
  let waiting: Uint8Array[] = [];
  let length = 0;

  async function flush(): Promise<void> {
    if (length === 0) return;
    const written = new Uint8Array(length);
    let at = 0;
    for (const part of waiting) {
      written.set(part, at);
      at += part.length;
    }
    waiting = [];
    length = 0;
    await sink.write(written.buffer);
  }

  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      if (value.length < writtenAtOnce) {
        waiting.push(value);
        length += value.length;
        if (length < writtenAtOnce) continue;
      }
      await flush();
      // A piece of a file goes as it is.
      if (value.length >= writtenAtOnce) await sink.write(bufferOf(value));
    }
    await flush();
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
