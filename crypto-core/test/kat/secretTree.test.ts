import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { senderDataKey } from '../../src/framing/privateMessage.ts';
import { SecretTree } from '../../src/schedule/secretTree.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { fromHex, mlsVectors } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  sender_data: Record<'sender_data_secret' | 'ciphertext' | 'key' | 'nonce', string>;
  encryption_secret: string;
  leaves: ({ generation: number } & Record<
    'handshake_key' | 'handshake_nonce' | 'application_key' | 'application_nonce',
    string
  >)[][];
}

beforeAll(ready);

describe.each(mlsVectors<Vector>('secret-tree'))('secret-tree of $leaves.length leaves', (vector) => {
  const suite = getSuite(vector.cipher_suite);

  it('derives the sender data key', () => {
    const { sender_data_secret, ciphertext, key, nonce } = vector.sender_data;
    const derived = senderDataKey(suite, fromHex(sender_data_secret), fromHex(ciphertext));
    expect([toHex(derived.key), toHex(derived.nonce)]).toEqual([key, nonce]);
  });

  it('derives every key, in order and by the receiving path', () => {
    const tree = SecretTree.create(suite, vector.leaves.length, fromHex(vector.encryption_secret));
    let keys = 0;
    vector.leaves.forEach((generations, index) => {
      for (const expected of generations) {
        for (const type of ['handshake', 'application'] as const) {
          const derived = tree.openKey(toLeafIndex(index), type, expected.generation);
          expect([toHex(derived.key), toHex(derived.nonce)]).toEqual([
            expected[`${type}_key`],
            expected[`${type}_nonce`],
          ]);
          derived.accept();
          keys++;
        }
      }
    });
    expect(keys).toBeGreaterThan(0);
  });
});
