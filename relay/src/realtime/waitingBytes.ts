import type { Duplex } from 'node:stream';

interface Waiting {
  bytes: number;
  readonly most: number;
  readonly drop: () => void;
}

/** The count of one stranger's bytes. */
export interface WaitingPlace {
  /** Counts bytes that have come. It may drop this stranger, or others. */
  take(bytes: number): void;
  /** Counts them no more; calling it again is harmless. */
  leave(): void;
}

/**
 * Bytes received before anybody is known to have sent them: of one socket, a CONNECT and what follows it at once; and of all
 * sockets, and bodies of calls, together.
 */
export const waitingLimits = { ofOne: 64 * 1024, ofAll: 16 * 1024 * 1024 } as const;

/**
 * The sockets that nobody has logged in on yet, and the bodies of calls by nobody in particular that have begun to come. They
 * are strangers', who may leave messages half sent for as long as they are let wait, so that what they hold has a bound together.
 * When it is reached, those go that hold most, the oldest of them first: a log-in is short, and however much strangers send, they
 * push out their own before an honest one.
 */
export class WaitingBytes {
  readonly #limits: { readonly ofOne: number; readonly ofAll: number };
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;

  constructor(limits: { readonly ofOne: number; readonly ofAll: number } = waitingLimits) {
    this.#limits = limits;
  }

  /** Bytes that all of them hold. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param transport the connection below the socket
   * @param received bytes that came with the handshake
   * @param drop ends the socket, and lets go of its memory
   * @returns a function that says that the socket waits no more; calling it again is harmless
   */
  add(transport: Duplex, received: number, drop: () => void): () => void {
    const place = this.enter(drop, this.#limits.ofOne);
    const onData = (chunk: Buffer) => place.take(chunk.length);
    const leave = () => {
      transport.off('data', onData);
      transport.off('close', leave);
      place.leave();
    };
    transport.on('data', onData);
    transport.once('close', leave);
    place.take(received);
    return leave;
  }

  /**
   * @param drop ends what sends, and lets go of its memory
   * @param most the most bytes that it may have sent by itself
   */
  enter(drop: () => void, most = Number.POSITIVE_INFINITY): WaitingPlace {
    const entry: Waiting = { bytes: 0, most, drop };
    this.#waiting.add(entry);
    return {
      take: (bytes) => {
        if (!this.#waiting.has(entry)) return;
        entry.bytes += bytes;
        this.#bytes += bytes;
        if (entry.bytes > entry.most) this.#drop(entry);
        while (this.#bytes > this.#limits.ofAll) this.#drop(this.#largest());
      },
      leave: () => this.#remove(entry),
    };
  }

  #largest(): Waiting {
    let largest: Waiting | null = null;
    for (const entry of this.#waiting) {
      if (largest === null || entry.bytes > largest.bytes) largest = entry;
    }
    if (largest === null) throw new Error('Nobody waits, but they hold bytes.');
    return largest;
  }

  #drop(entry: Waiting): void {
    if (this.#remove(entry)) entry.drop();
  }

  #remove(entry: Waiting): boolean {
    if (!this.#waiting.delete(entry)) return false;
    this.#bytes -= entry.bytes;
    return true;
  }
}
