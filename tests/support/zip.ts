import { crc32 } from 'node:zlib';

const endOfDirectory = 0x06054b50;
const inDirectory = 0x02014b50;
const atFile = 0x04034b50;

/**
 * Reads an archive whose parts are stored as they are, by its directory, and holds each part to its checksum.
 * @throws Error for any other archive
 */
export function readZip(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const end = bytes.length - 22;
  if (bytes.readUInt32LE(end) !== endOfDirectory) throw new Error('no archive');
  const parts = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== inDirectory) throw new Error('no directory');
    if (bytes.readUInt16LE(at + 10) !== 0) throw new Error('compressed');
    const [nameLength, extraLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30)];
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    if (bytes.readUInt32LE(local) !== atFile) throw new Error('no file');
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(from, from + bytes.readUInt32LE(at + 24));
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error(`checksum of ${name}`);
    if (parts.has(name)) throw new Error(`twice: ${name}`);
    parts.set(name, content);
    at += 46 + nameLength + extraLength;
  }
  return parts;
}
