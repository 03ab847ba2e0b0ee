/** Bytes that arrive may be hostile: decoding them gives a value or a CryptoError, and nothing else. */
import { describe, expect, it } from 'vitest';
import { concat, toHex } from '../../src/bytes.ts';
import { CryptoError } from '../../src/errors.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { codeOf } from '../codeOf.ts';
import { fromHex, readVectors } from '../kat/vectors.ts';
import { generator, mutateBytes } from '../mutations.ts';

const vectors = readVectors<Record<string, string>[]>('mls/messages.json').slice(0, 10);
const NAMES = [
  'mls_welcome',
  'mls_group_info',
  'mls_key_package',
  'public_message_proposal',
  'public_message_commit',
  'private_message',
];

/** 'decoded' when the message encodes to exactly these bytes again. */
function outcomeOf(bytes: Uint8Array): string {
  let encoded: Uint8Array = new Uint8Array();
  const code = codeOf(() => {
    // A copy is encoded, because a commit that was read keeps its bytes.
    encoded = encodeMlsMessage(structuredClone(decodeMlsMessage(bytes)));
  });
  if (code !== 'none') return code;
  return toHex(encoded) === toHex(bytes) ? 'decoded' : 'encoded differently';
}

describe.each(NAMES)('a mutated %s', (name) => {
  it('is refused with a code, or encodes to exactly its own bytes again', () => {
    const below = generator(name.length * 7919);
    const outcomes: Record<string, number> = {};
    for (const vector of vectors) {
      const original = fromHex(vector[name]!);
      for (let round = 0; round < 300; round++) {
        let bytes = mutateBytes(original, below);
        if (below(3) === 0) bytes = mutateBytes(bytes, below);
        const outcome = outcomeOf(bytes);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    }
    expect(['decoded', 'malformed', 'unsupported']).toEqual(expect.arrayContaining(Object.keys(outcomes)));
    expect(outcomes['malformed']).toBeGreaterThan(300);
    expect(outcomes['decoded']).toBeGreaterThan(100);
  });

  it('is refused when it is cut at any length, and with a byte more', () => {
    const original = fromHex(vectors[0]![name]!);
    for (let length = 0; length < original.length; length++) {
      expect(() => decodeMlsMessage(original.subarray(0, length))).toThrow(CryptoError);
    }
    expect(() => decodeMlsMessage(concat(original, Uint8Array.of(0)))).toThrow('malformed');
  });
});
