import { malformed } from './reasonCodes.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Strict reader of the data types of MQTT 5 section 1.5. Every method throws a Malformed Packet `PacketError`. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  byte(): number {
    const value = this.#bytes[this.#position];
    if (value === undefined) throw malformed('packet ends early');
    this.#position += 1;
    return value;
  }

  twoByteInteger(): number {
    return this.byte() * 0x100 + this.byte();
  }

  fourByteInteger(): number {
    return this.twoByteInteger() * 0x1_0000 + this.twoByteInteger();
  }

  /** Refuses an encoding longer than necessary [MQTT-1.5.5-1]. */
  variableByteInteger(): number {
    let value = 0;
    for (let index = 0; index < 4; index += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * 0x80 ** index;
      if ((byte & 0x80) === 0) {
        if (byte === 0 && index > 0) throw malformed('variable byte integer is not minimal');
        return value;
      }
    }
    throw malformed('variable byte integer is too long');
  }

  /** The next `length` bytes, as a view of the packet. */
  bytes(length: number): Uint8Array {
    if (length > this.remaining) throw malformed('length points past the packet');
    const view = this.#bytes.subarray(this.#position, this.#position + length);
    this.#position += length;
    return view;
  }

  binaryData(): Uint8Array {
    return this.bytes(this.twoByteInteger());
  }

  /** Refuses ill-formed UTF-8 [MQTT-1.5.4-1] and U+0000 [MQTT-1.5.4-2]. */
  utf8String(): string {
    const bytes = this.binaryData();
    if (bytes.includes(0)) throw malformed('string holds U+0000');
    try {
      return utf8.decode(bytes);
    } catch {
      throw malformed('string is not UTF-8');
    }
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /** A reader of the next `length` bytes alone. */
  section(length: number): ByteReader {
    return new ByteReader(this.bytes(length));
  }

  end(): void {
    if (this.remaining !== 0) throw malformed('bytes after the end of the packet');
  }
}
