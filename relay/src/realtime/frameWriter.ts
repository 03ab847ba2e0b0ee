import type { Duplex } from 'node:stream';

/** FIN with opcode binary (RFC 6455 section 5.2). */
const wholeBinaryFrame = 0x82;

/** Bytes that may gather before they are handed to the system. */
const maxGathered = 64 * 1024;

/**
 * Writes binary WebSocket messages to the connection below a WebSocket, one frame each. What is written in one turn of
 * the event loop goes out in one system call, which is most of what a small message costs. It may be mixed with the
 * WebSocket's own `send` and `close` as long as no compression is agreed on: both write whole frames at once.
 */
export class FrameWriter {
  readonly #transport: Duplex;
  readonly #flush: () => void;
  #gathered = 0;

  constructor(transport: Duplex) {
    this.#transport = transport;
    this.#flush = () => {
      if (this.#gathered === 0) return;
      this.#gathered = 0;
      transport.uncork();
    };
  }

  write(message: Buffer): void {
    if (this.#gathered === 0) {
      this.#transport.cork();
      // After the microtasks, in which the messages of one committed group are published.
      process.nextTick(this.#flush);
    }
    const start = header(message.length);
    this.#transport.write(start);
    this.#transport.write(message);
    this.#gathered += start.length + message.length;
    if (this.#gathered > maxGathered) this.#flush();
  }
}

/** A server's frames are not masked. */
function header(length: number): Buffer {
  if (length < 126) return Buffer.from([wholeBinaryFrame, length]);
  if (length < 0x1_0000) return Buffer.from([wholeBinaryFrame, 126, length >> 8, length & 0xff]);
  const long = Buffer.alloc(10);
  long[0] = wholeBinaryFrame;
  long[1] = 127;
  long.writeUInt32BE(length, 6);
  return long;
}
