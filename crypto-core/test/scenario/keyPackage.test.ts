import { beforeAll, describe, expect, it } from 'vitest';
import { concat } from '../../src/bytes.ts';
import { restoreKeyPackageBundle } from '../../src/group/keyPackage.ts';
import {
  createKeyPackage,
  decodeKeyPackage,
  decodeKeyPackageBundle,
  encodeKeyPackageBundle,
  isLastResort,
  keyPackageRef,
  ready,
} from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { device, keyPackageOf, SUITES } from './world.ts';

beforeAll(ready);

describe.each(SUITES)('a key package of suite %i', (suite) => {
  const env = testEnv('key package');

  it('is restored from its private record, and has the reference of its published bytes', () => {
    const bundle = keyPackageOf(device('bob', env), suite, env);
    expect(decodeKeyPackageBundle(encodeKeyPackageBundle(bundle))).toEqual(bundle);
    expect(keyPackageRef(decodeKeyPackage(bundle.bytes))).toEqual(bundle.ref);
    expect(isLastResort(bundle.keyPackage)).toBe(false);
  });

  it('shares no private key with another', () => {
    const owner = device('bob', env);
    const bundles = [1, 2, 3].map(() => keyPackageOf(owner, suite, env));
    const keys = bundles.flatMap(({ initPrivateKey, leafPrivateKey }) => [initPrivateKey, leafPrivateKey]);
    expect(new Set(keys.map(String)).size).toBe(6);
    expect(new Set(bundles.map(({ ref }) => String(ref))).size).toBe(3);
  });

  it('can be marked as the last resort', () => {
    const { credential, signatureKey } = device('bob', env);
    const lifetime = { notBefore: 0n, notAfter: 1n };
    const bundle = createKeyPackage({ suite, credential, signatureKey, lifetime, lastResort: true }, env);
    expect(isLastResort(decodeKeyPackage(bundle.bytes))).toBe(true);
  });

  it('lists its capabilities, with one GREASE value in each list that takes one', () => {
    const seen = new Set<number>();
    for (let made = 0; made < 20; made += 1) {
      const { capabilities } = keyPackageOf(device('bob', env), suite, env).keyPackage.leafNode;
      const isGrease = (value: number): boolean => value >> 8 === (value & 0xff) && (value & 0x0f) === 0x0a;
      const { versions, cipherSuites, extensions, proposals, credentials } = capabilities;
      expect(extensions.filter((value) => !isGrease(value))).toEqual([0xf0a1]);
      expect(versions).toEqual([1]);
      expect(cipherSuites.filter((value) => !isGrease(value))).toEqual([0xf04d, 0x004d, 0x0003]);
      expect(credentials.filter((value) => !isGrease(value))).toEqual([1]);
      for (const list of [cipherSuites, extensions, proposals, credentials]) {
        const grease = list.filter(isGrease);
        expect(grease).toHaveLength(1);
        for (const value of grease) seen.add(value);
      }
    }
    // 0xFAFA is for private use.
    expect(seen).not.toContain(0xfafa);
    expect(seen.size).toBeGreaterThan(8);
  });

  it('is refused with the private keys of another, with a record of another version, and when cut', () => {
    const [one, other] = ['one', 'other'].map((name) => keyPackageOf(device(name, env), suite, env));
    if (one === undefined || other === undefined) throw new Error('no bundles');
    expect(
      codeOf(() => restoreKeyPackageBundle(one.keyPackage, one.initPrivateKey, other.leafPrivateKey)),
    ).toBe('missing-key');
    expect(
      codeOf(() => restoreKeyPackageBundle(one.keyPackage, other.initPrivateKey, one.leafPrivateKey)),
    ).toBe('missing-key');
    const record = encodeKeyPackageBundle(one);
    expect(codeOf(() => decodeKeyPackageBundle(concat(Uint8Array.of(2), record.subarray(1))))).toBe(
      'unsupported',
    );
    expect(codeOf(() => decodeKeyPackageBundle(record.subarray(0, -1)))).toBe('malformed');
  });
});
