// WebSocket frames (RFC 6455 section 5.2) and MQTT 5 packets, as little of them as a load generator needs: what it
// saves in effort is left to the server that is measured.

const fin = 0x80;
const binary = 0x02;
const close = 0x08;

/**
 * A client's frame. It is masked, as it must be, with a key of zeros, which changes no byte.
 * @param {Buffer} payload
 */
export function frame(payload) {
  const length = payload.length;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const bytes = Buffer.allocUnsafe(2 + extended + 4 + length);
  bytes[0] = fin | binary;
  bytes[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) bytes.writeUInt16BE(length, 2);
  if (extended === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  bytes.fill(0, 2 + extended, 6 + extended);
  payload.copy(bytes, 6 + extended);
  return bytes;
}

/** Takes a server's byte stream apart into the payloads of its WebSocket frames, and those into MQTT packets. */
export class PacketReader {
  #bytes = Buffer.alloc(0);
  #mqtt = Buffer.alloc(0);
  #onPacket;

  /** @param {(type: number, flags: number, body: Buffer) => void} onPacket */
  constructor(onPacket) {
    this.#onPacket = onPacket;
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    let bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      if (bytes.length < 2) break;
      let length = bytes[1] & 0x7f;
      let start = 2;
      if (length === 126) {
        if (bytes.length < 4) break;
        length = bytes.readUInt16BE(2);
        start = 4;
      } else if (length === 127) {
        if (bytes.length < 10) break;
        length = Number(bytes.readBigUInt64BE(2));
        start = 10;
      }
      if (bytes.length < start + length) break;
      const opcode = bytes[0] & 0x0f;
      if (opcode === close) throw new Error(`the server closed: ${bytes.readUInt16BE(start)}`);
      this.#packets(bytes.subarray(start, start + length));
      bytes = bytes.subarray(start + length);
    }
    this.#bytes = bytes;
  }

  #packets(payload) {
    let bytes = this.#mqtt.length === 0 ? payload : Buffer.concat([this.#mqtt, payload]);
    while (bytes.length >= 2) {
      const header = variableByteInteger(bytes, 1);
      if (header === null || bytes.length < header.end + header.value) break;
      const end = header.end + header.value;
      this.#onPacket(bytes[0] >> 4, bytes[0] & 0x0f, bytes.subarray(header.end, end));
      bytes = bytes.subarray(end);
    }
    this.#mqtt = bytes;
  }
}

function variableByteInteger(bytes, start) {
  let value = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw new Error('not MQTT');
}

function encodeVariableByteInteger(value) {
  const bytes = [];
  do {
    bytes.push((value % 128) | (value >= 128 ? 0x80 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return Buffer.from(bytes);
}

function utf8(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint16(bytes.length), bytes]);
}

function uint16(value) {
  return Buffer.from([value >> 8, value & 0xff]);
}

function packet(first, ...parts) {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([first]), encodeVariableByteInteger(body.length), body]);
}

const noProperties = Buffer.from([0]);
const userProperty = 0x26;

/** @param {{ clientId: string, token: string, keepAlive: number }} options `token` as a user property */
export function connectPacket({ clientId, token, keepAlive }) {
  const properties = Buffer.concat([Buffer.from([userProperty]), utf8('token'), utf8(token)]);
  return packet(
    0x10,
    utf8('MQTT'),
    Buffer.from([5, 0x02]),
    uint16(keepAlive),
    encodeVariableByteInteger(properties.length),
    properties,
    utf8(clientId),
  );
}

export function subscribePacket(packetId, topic, qos) {
  return packet(0x82, uint16(packetId), noProperties, utf8(topic), Buffer.from([qos]));
}

export function publishPacket(packetId, topic, payload) {
  return packet(0x32, utf8(topic), uint16(packetId), noProperties, Buffer.from(payload, 'latin1'));
}

export function pubackPacket(packetId) {
  return Buffer.from([0x40, 2, packetId >> 8, packetId & 0xff]);
}
