import type { Readable } from 'node:stream';
import { ApiError } from '../errors.ts';

/** Files that are open to be read: for one account, and for all together, whose descriptors the process has a limit of. */
export const mostReads = { ofOne: 64, ofAll: 1024 } as const;

/** Milliseconds for which nobody may read any of a file that is open for them. */
export const unreadAfter = 60_000;

/** Seconds after which who was refused may try again. */
const retryAfter = 5;

/** Bounds the files that are open to be read. Who asks for one and reads nothing of it keeps it open, and may ask for many. */
export class OpenReads {
  readonly #limits: { readonly ofOne: number; readonly ofAll: number };
  readonly #ofPeople = new Map<string, number>();
  #all = 0;

  constructor(limits: { readonly ofOne: number; readonly ofAll: number } = mostReads) {
    this.#limits = limits;
  }

  /**
   * Opens a file for somebody, counts it until it is closed, and closes it if they stop reading.
   * @throws ApiError rate-limited for who reads too many, unavailable if all together do
   */
  async open<Stream extends Readable | null>(userId: string, open: () => Promise<Stream>): Promise<Stream> {
    const own = this.#ofPeople.get(userId) ?? 0;
    if (own >= this.#limits.ofOne) {
      throw new ApiError('rate-limited', 'Too many files are read at once.', { retryAfter });
    }
    if (this.#all >= this.#limits.ofAll) {
      throw new ApiError('unavailable', 'Too many files are read at the moment.', { retryAfter });
    }
    this.#ofPeople.set(userId, own + 1);
    this.#all += 1;
    let stream: Stream | null = null;
    try {
      stream = await open();
      return stream;
    } finally {
      if (stream === null) this.#end(userId);
      else {
        endUnread(stream);
        stream.once('close', () => this.#end(userId));
      }
    }
  }

  #end(userId: string): void {
    this.#all -= 1;
    const left = (this.#ofPeople.get(userId) ?? 0) - 1;
    if (left > 0) this.#ofPeople.set(userId, left);
    else this.#ofPeople.delete(userId);
  }
}

/** Closes a stream of which nobody takes anything for a while. */
function endUnread(stream: Readable): void {
  const timer = setTimeout(() => stream.destroy(), unreadAfter).unref();
  stream.on('data', () => timer.refresh());
  // Listening alone would begin to read.
  stream.pause();
  stream.once('close', () => clearTimeout(timer));
}
