import { beforeAll, describe, expect, it } from 'vitest';
import { concat, toHex } from '../../src/bytes.ts';
import { hkdfExpand, hkdfExtract } from '../../src/suite/hkdf.ts';
import * as sodium from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { fromHex, readVectors, report } from './vectors.ts';

interface File<Group extends { tests: readonly unknown[] }> {
  numberOfTests: number;
  testGroups: Group[];
}
interface Case {
  tcId: number;
  result: 'valid' | 'invalid' | 'acceptable';
}
interface AeadGroup {
  tests: (Case & Record<'key' | 'iv' | 'aad' | 'msg' | 'ct' | 'tag', string>)[];
}

beforeAll(sodium.ready);

/** Runs every case and collects the ones that went wrong, so that a failure names its vectors. */
function failures<Group extends { tests: readonly Case[] }>(
  name: string,
  passes: (test: Group['tests'][number], group: Group) => boolean,
): number[] {
  const file = readVectors<File<Group>>(`wycheproof/${name}_test.json`);
  const failed: number[] = [];
  let run = 0;
  for (const group of file.testGroups) {
    for (const test of group.tests) {
      run++;
      if (!passes(test, group)) failed.push(test.tcId);
    }
  }
  report(`wycheproof ${name}`, run, '');
  expect(run).toBe(file.numberOfTests);
  expect(run).toBeGreaterThan(0);
  return failed;
}

describe('wycheproof', () => {
  it('X25519: agrees, and refuses an all-zero shared secret', () => {
    type Group = { tests: (Case & Record<'public' | 'private' | 'shared', string>)[] };
    const failed = failures<Group>('x25519', (test) => {
      const compute = () => sodium.x25519(fromHex(test.private), fromHex(test.public));
      return /^0+$/.test(test.shared) ? codeOf(compute) === 'malformed' : toHex(compute()) === test.shared;
    });
    expect(failed).toEqual([]);
  });

  it('Ed25519: accepts the valid signatures and no others', () => {
    type Group = { publicKey: { pk: string }; tests: (Case & Record<'msg' | 'sig', string>)[] };
    const failed = failures<Group>('ed25519', (test, group) => {
      const holds = sodium.ed25519Verify(fromHex(group.publicKey.pk), fromHex(test.msg), fromHex(test.sig));
      return holds === (test.result === 'valid');
    });
    expect(failed).toEqual([]);
  });

  it.each([
    ['chacha20_poly1305', sodium.chacha20Poly1305Seal, sodium.chacha20Poly1305Open, 12],
    ['xchacha20_poly1305', sodium.xchacha20Poly1305Seal, sodium.xchacha20Poly1305Open, 24],
  ] as const)('%s: seals and opens the valid cases, refuses the others', (name, seal, open, nonceLength) => {
    const failed = failures<AeadGroup>(name, (test) => {
      const [key, nonce, aad] = [fromHex(test.key), fromHex(test.iv), fromHex(test.aad)];
      const sealed = concat(fromHex(test.ct), fromHex(test.tag));
      if (nonce.length !== nonceLength) {
        return test.result === 'invalid' && codeOf(() => open(key, nonce, aad, sealed)) === 'malformed';
      }
      if (test.result === 'invalid') return codeOf(() => open(key, nonce, aad, sealed)) === 'decrypt-failed';
      return (
        toHex(open(key, nonce, aad, sealed)) === test.msg &&
        toHex(seal(key, nonce, aad, fromHex(test.msg))) === toHex(sealed)
      );
    });
    expect(failed).toEqual([]);
  });

  it('HMAC-SHA-256: keys of every length, truncated tags included', () => {
    type Group = { tagSize: number; tests: (Case & Record<'key' | 'msg' | 'tag', string>)[] };
    const failed = failures<Group>('hmac_sha256', (test, group) => {
      const tag = sodium.hmacSha256(fromHex(test.key), fromHex(test.msg)).subarray(0, group.tagSize / 8);
      return (toHex(tag) === test.tag) === (test.result === 'valid');
    });
    expect(failed).toEqual([]);
  });

  it('HKDF-SHA-256: outputs of every size, and a refusal beyond 255 blocks', () => {
    type Group = { tests: (Case & { size: number } & Record<'ikm' | 'salt' | 'info' | 'okm', string>)[] };
    const failed = failures<Group>('hkdf_sha256', (test) => {
      const derive = () =>
        hkdfExpand(hkdfExtract(fromHex(test.salt), fromHex(test.ikm)), fromHex(test.info), test.size);
      return test.result === 'valid' ? toHex(derive()) === test.okm : codeOf(derive) === 'usage';
    });
    expect(failed).toEqual([]);
  });

  it('ML-KEM-768: has no door of its own, only X-Wing does', () => {
    expect(Object.keys(sodium).filter((name) => /mlkem/i.test(name))).toEqual([]);
  });
});
