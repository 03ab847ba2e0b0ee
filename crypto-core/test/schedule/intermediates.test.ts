import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY } from '../../src/bytes.ts';
import { ready } from '../../src/index.ts';
import { deriveEpoch, deriveJoinerSecret, deriveWelcomeSecret } from '../../src/schedule/keySchedule.ts';
import { type CipherSuite, getSuite } from '../../src/suite/suites.ts';

beforeAll(ready);

/** A suite that remembers each secret which it has derived. */
function watched(): { suite: CipherSuite; derived: Uint8Array[] } {
  const suite = getSuite(0x0003);
  const derived: Uint8Array[] = [];
  const kept = (secret: Uint8Array): Uint8Array => {
    derived.push(secret);
    return secret;
  };
  return {
    suite: {
      ...suite,
      mac: (key, data) => kept(suite.mac(key, data)),
      kdf: { ...suite.kdf, extract: (salt, ikm) => kept(suite.kdf.extract(salt, ikm)) },
    },
    derived,
  };
}

const input = (octet: number): Uint8Array => new Uint8Array(32).fill(octet);
const isZero = (secret: Uint8Array): boolean => secret.every((octet) => octet === 0);

describe('the key schedule', () => {
  it.each<[string, (suite: CipherSuite) => Uint8Array[], number]>([
    ['a joiner secret', (suite) => [deriveJoinerSecret(suite, input(1), input(2), EMPTY)], 1],
    ['a welcome secret', (suite) => [deriveWelcomeSecret(suite, input(1), input(2))], 1],
    ['an epoch', (suite) => Object.values(deriveEpoch(suite, input(1), input(2), EMPTY)), 2],
  ])('derives %s and wipes the secrets in between', (_, derive, between) => {
    const { suite, derived } = watched();
    const results = derive(suite);
    const others = derived.filter((secret) => !results.includes(secret));
    expect([others.length, others.every(isZero)]).toEqual([between, true]);
    expect(results.some(isZero)).toBe(false);
  });
});
