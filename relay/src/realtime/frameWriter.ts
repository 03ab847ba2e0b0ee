import type { Duplex } from 'node:stream';

/** FIN with opcode binary (RFC 6455 section 5.2). */
const wholeBinaryFrame = 0x82;

/** Bytes that may gather before they are handed to the system. */
const maxGathered = 64 * 1024;

/** Bytes up to which a message is copied behind its header: that costs less than one more buffer to hand over. */
const maxCopied = 4 * 1024;

/**
 * Writes binary WebSocket messages to the connection below a WebSocket, one frame each. What is written in one turn of
 * the event loop goes out in one system call, which is most of what a small message costs. It may be mixed with the
 * WebSocket's own `send` and `close` as long as no compression is agreed on: both write whole frames at once.
 */
export class FrameWriter {
  readonly #transport: Duplex;
  #gathered = 0;

  constructor(transport: Duplex) {
    this.#transport = transport;
  }

  write(message: Buffer): void {
    if (this.#gathered === 0) {
      this.#transport.cork();
      // After the microtasks, in which the messages of one committed group are published.
      process.nextTick(flush, this);
    }
    const isCopied = message.length <= maxCopied;
    const start = header(message.length, isCopied ? message.length : 0);
    if (isCopied) start.set(message, start.length - message.length);
    this.#transport.write(start);
    if (!isCopied) this.#transport.write(message);
    this.#gathered += start.length + (isCopied ? 0 : message.length);
    if (this.#gathered > maxGathered) this.flush();
  }

  /** Hands over what has gathered, if anything has. */
  flush(): void {
    if (this.#gathered === 0) return;
    this.#gathered = 0;
    this.#transport.uncork();
  }
}

/** One function for all writers: one of each connection's own would be held as long as the connection. */
const flush = (writer: FrameWriter) => writer.flush();

/**
 * The header of a frame, not masked, as a server's are not.
 * @param room bytes to leave behind it
 */
function header(length: number, room: number): Buffer {
  const extended = length < 126 ? 0 : length < 0x1_0000 ? 2 : 8;
  const bytes = Buffer.allocUnsafe(2 + extended + room);
  bytes[0] = wholeBinaryFrame;
  bytes[1] = extended === 0 ? length : extended === 2 ? 126 : 127;
  if (extended === 2) bytes.writeUInt16BE(length, 2);
  if (extended === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}
