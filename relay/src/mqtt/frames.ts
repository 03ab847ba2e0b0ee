import { malformed, PacketError, ReasonCode } from './reasonCodes.ts';

/** One MQTT control packet, cut out of the stream and not yet interpreted. */
export interface Frame {
  /** Control packet type, 0 to 15. */
  readonly type: number;
  /** The low four bits of the first byte. */
  readonly flags: number;
  /** Variable header and payload. */
  readonly body: Uint8Array;
}

interface FixedHeader {
  readonly headerLength: number;
  readonly packetLength: number;
}

const nothing = new Uint8Array(0);

/**
 * Cuts a byte stream into control packets (MQTT 5 section 2.1). WebSocket message borders mean nothing to MQTT
 * [MQTT-6.0.0-2], so a packet may come in pieces and a piece may hold several packets. The announced length is
 * checked before a packet is awaited, so that never more than one packet of `maximumPacketSize` is held back.
 */
export class FrameSplitter {
  /** Bytes, the fixed header included. Read anew for every packet. */
  maximumPacketSize: number;
  #buffer: Uint8Array = nothing;
  #length = 0;
  #needed = 0;

  constructor(maximumPacketSize: number) {
    this.maximumPacketSize = maximumPacketSize;
  }

  /**
   * Adds a chunk and yields every packet that is now complete. Bodies are views that stay valid.
   * @throws PacketError Malformed Packet or Packet too large; the stream can't be read on after it
   */
  *push(chunk: Uint8Array): Generator<Frame, void> {
    if (chunk.length === 0) return;
    this.#append(chunk);
    if (this.#length < this.#needed) return;
    let bytes = this.#buffer.subarray(0, this.#length);
    for (;;) {
      const header = readFixedHeader(bytes, this.maximumPacketSize);
      if (header === null || bytes.length < header.packetLength) {
        this.#needed = header?.packetLength ?? 0;
        break;
      }
      const first = bytes[0] ?? 0;
      const body = bytes.subarray(header.headerLength, header.packetLength);
      bytes = bytes.subarray(header.packetLength);
      yield { type: first >> 4, flags: first & 0x0f, body };
    }
    // An empty view would keep the last chunk for as long as the connection is idle.
    this.#buffer = bytes.length === 0 ? nothing : bytes;
    this.#length = bytes.length;
  }

  /**
   * Growing by doubling, rather than keeping the chunks, bounds what a packet sent byte by byte costs. A grown
   * buffer is always a new one: yielded bodies may still look into the old.
   */
  #append(chunk: Uint8Array): void {
    if (this.#length === 0) {
      this.#buffer = chunk;
      this.#length = chunk.length;
      return;
    }
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(length, this.#length * 2));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }
}

/** @returns null while the header itself is incomplete */
function readFixedHeader(bytes: Uint8Array, maximumPacketSize: number): FixedHeader | null {
  let remainingLength = 0;
  for (let index = 1; index <= 4; index += 1) {
    const byte = bytes[index];
    if (byte === undefined) return null;
    remainingLength += (byte & 0x7f) * 0x80 ** (index - 1);
    if ((byte & 0x80) === 0) {
      if (byte === 0 && index > 1) throw malformed('remaining length is not minimal');
      const packetLength = 1 + index + remainingLength;
      if (packetLength > maximumPacketSize) {
        throw new PacketError(ReasonCode.PacketTooLarge, 'packet is larger than Maximum Packet Size');
      }
      return { headerLength: 1 + index, packetLength };
    }
  }
  throw malformed('remaining length is too long');
}
