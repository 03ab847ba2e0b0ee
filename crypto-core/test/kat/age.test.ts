/** The files of age's test kit about the payload, whose STREAM files beside messages have. */
import { createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { concat } from '../../src/bytes.ts';
import {
  FILE_CHUNK_LENGTH,
  openedFileLength,
  openFileChunk,
  SEALED_FILE_CHUNK_LENGTH,
  sealFileChunk,
} from '../../src/content/index.ts';
import { CryptoError } from '../../src/errors.ts';
import { carried, readSums } from './origins.mjs';
import { fromHex, readCarried, report } from './vectors.ts';

interface Case {
  readonly expected: string;
  /** SHA-256 of what may be given out, in hexadecimal. */
  readonly released: string;
  readonly key: Uint8Array;
  /** Null where the file has none. */
  readonly sealed: Uint8Array | null;
}

/** Finds a field of the words before the file. */
function fieldOf(words: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(words)?.[1] ?? '';
}

function readCase(name: string): Case {
  const bytes = readCarried(`age/${name}`);
  const end = bytes.indexOf('\n\n');
  const words = bytes.subarray(0, end).toString();
  const packed = bytes.subarray(end + 2);
  const file = fieldOf(words, 'compressed') === 'zlib' ? inflateSync(packed) : packed;
  // The payload follows the header's last line: a nonce of 16 bytes, from which its key comes, and the STREAM.
  const payload = file.subarray(file.indexOf('\n', file.indexOf('\n--- ') + 1) + 1);
  const nonce = payload.subarray(0, 16);
  const fileKey = fromHex(fieldOf(words, 'file key'));
  return {
    expected: fieldOf(words, 'expect'),
    released: fieldOf(words, 'payload'),
    key: new Uint8Array(hkdfSync('sha256', fileKey, nonce, 'payload', 32)),
    sealed: nonce.length < 16 ? null : new Uint8Array(payload.subarray(16)),
  };
}

/** Splits into chunks, of which all but the last have this length. */
function chunksOf(bytes: Uint8Array, length: number): Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.length / length));
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * length, (index + 1) * length));
}

/** Opens chunk after chunk until one is refused. */
function open(
  key: Uint8Array,
  sealed: Uint8Array,
): { readonly plaintext: Uint8Array; readonly code: string | null } {
  const opened: Uint8Array[] = [];
  try {
    openedFileLength(sealed.length);
    for (const [index, chunk] of chunksOf(sealed, SEALED_FILE_CHUNK_LENGTH).entries()) {
      opened.push(openFileChunk({ key, sealedLength: sealed.length }, index, chunk));
    }
    return { plaintext: concat(...opened), code: null };
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return { plaintext: concat(...opened), code: error.code };
  }
}

/** Gives out what a reader gives out that doesn't know where the file ends, by another implementation of the cipher. */
function read(key: Uint8Array, sealed: Uint8Array): Uint8Array {
  const opened: Uint8Array[] = [];
  for (const [index, chunk] of chunksOf(sealed, SEALED_FILE_CHUNK_LENGTH).entries()) {
    // A shorter chunk can only be the last.
    const flags = chunk.length === SEALED_FILE_CHUNK_LENGTH ? [0, 1] : [1];
    const found = flags.map((flag) => openedAt(key, index, flag, chunk)).find((one) => one !== null);
    if (found === undefined) break;
    opened.push(found.text);
    if (found.isLast) break;
  }
  return concat(...opened);
}

function openedAt(key: Uint8Array, index: number, flag: number, chunk: Uint8Array) {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = flag;
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  try {
    decipher.setAuthTag(chunk.subarray(-16));
    const text = new Uint8Array(decipher.update(chunk.subarray(0, -16)));
    decipher.final();
    return { text, isLast: flag === 1 };
  } catch {
    return null;
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const cases = new Map(
  [...readSums(carried).keys()]
    .map((name) => /^age\/(.*)$/.exec(name)?.[1])
    .filter((name) => name !== undefined)
    .map((name) => [name, readCase(name)] as const),
);
const named = (expected: string) => [...cases].filter(([, one]) => one.expected === expected);
report('age', cases.size, '2 of which end before the payload');

describe('a payload of age', () => {
  it('is of 28 files', () => {
    expect(cases.size).toBe(28);
    expect(named('header failure').map(([, { sealed }]) => sealed)).toEqual([null, null]);
  });

  it.each(named('success'))(
    'opens, and is sealed again to the same bytes: %s',
    (_name, { key, released, sealed }) => {
      const { code, plaintext } = open(key, sealed ?? new Uint8Array());
      expect(code).toBeNull();
      expect(sha256(plaintext)).toBe(released);
      const again = chunksOf(plaintext, FILE_CHUNK_LENGTH).map((chunk, index) =>
        sealFileChunk({ key, length: plaintext.length }, index, chunk),
      );
      expect(Buffer.compare(concat(...again), sealed ?? new Uint8Array())).toBe(0);
    },
  );

  it.each(named('payload failure'))(
    'is refused, and gives out no more than age does: %s',
    (_name, { key, released, sealed }) => {
      const { code, plaintext } = open(key, sealed ?? new Uint8Array());
      expect(code).toMatch(/^(?:decrypt-failed|malformed)$/);
      const most = read(key, sealed ?? new Uint8Array());
      expect(sha256(most)).toBe(released);
      expect(Buffer.compare(plaintext, most.subarray(0, plaintext.length))).toBe(0);
    },
  );
});
