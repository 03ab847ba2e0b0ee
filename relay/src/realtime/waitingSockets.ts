import type { Duplex } from 'node:stream';

interface Waiting {
  bytes: number;
  readonly drop: () => void;
}

/** Bytes received before a token is found good: of one socket, a CONNECT and what follows it at once; and of all together. */
export const waitingBytes = { ofOne: 64 * 1024, ofAll: 16 * 1024 * 1024 } as const;

/**
 * The sockets that nobody has logged in on yet. They are strangers', who may leave messages half sent for as long as they are
 * let wait, so that what they hold has a bound together. When it is reached, those go that hold most, the oldest of them first: a
 * log-in is short, and however much strangers send, they push out their own sockets before an honest one.
 */
export class WaitingSockets {
  readonly #limits: { readonly ofOne: number; readonly ofAll: number };
  /** In the order of their arrival. */
  readonly #waiting = new Map<Duplex, Waiting>();
  #bytes = 0;

  constructor(limits: { readonly ofOne: number; readonly ofAll: number } = waitingBytes) {
    this.#limits = limits;
  }

  /**
   * @param transport the connection below the socket
   * @param received bytes that came with the handshake
   * @param drop ends the socket, and lets go of its memory
   * @returns a function that says that the socket waits no more; calling it again is harmless
   */
  add(transport: Duplex, received: number, drop: () => void): () => void {
    const entry: Waiting = { bytes: 0, drop };
    const take = (length: number) => {
      entry.bytes += length;
      this.#bytes += length;
      if (entry.bytes > this.#limits.ofOne) this.#drop(transport);
      while (this.#bytes > this.#limits.ofAll) this.#drop(this.#largest());
    };
    const onData = (chunk: Buffer) => take(chunk.length);
    const leave = () => {
      transport.off('data', onData);
      transport.off('close', leave);
      const left = this.#waiting.get(transport);
      if (left === undefined) return;
      this.#waiting.delete(transport);
      this.#bytes -= left.bytes;
    };
    this.#waiting.set(transport, entry);
    transport.on('data', onData);
    transport.once('close', leave);
    take(received);
    return leave;
  }

  #largest(): Duplex {
    let largest: { transport: Duplex; bytes: number } | null = null;
    for (const [transport, { bytes }] of this.#waiting) {
      if (largest === null || bytes > largest.bytes) largest = { transport, bytes };
    }
    if (largest === null) throw new Error('No socket waits, but they hold bytes.');
    return largest.transport;
  }

  #drop(transport: Duplex): void {
    const entry = this.#waiting.get(transport);
    if (entry === undefined) return;
    this.#waiting.delete(transport);
    this.#bytes -= entry.bytes;
    entry.drop();
  }
}
