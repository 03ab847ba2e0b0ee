import { beforeAll, describe, expect, it } from 'vitest';
import { signDeviceRevocation } from '../../src/account/deviceRevocation.ts';
import { createSharedKeys } from '../../src/account/sharedKeys.ts';
import { signSharedKeys, verifySharedKeys } from '../../src/account/sharedKeysStatement.ts';
import { toHex } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('shared keys statement');
const keysOf = (...revisions: number[]) => revisions.map((revision) => createSharedKeys(revision, env));
const legacy = { ...createSharedKeys(1, env), revision: 0 };

beforeAll(ready);

describe('shared keys that the account key signed', () => {
  it('name their person and the account key', () => {
    const seed = env.random(32);
    const sharedKeys = [legacy, ...keysOf(2, 3, 7)];
    const statement = verifySharedKeys(signSharedKeys(seed, 'anna', sharedKeys)!);
    const accountKey = getSuite(0x0003).signatureKeyPair(seed).publicKey;
    expect(statement).toEqual({ userId: 'anna', accountKey, sharedKeys });
  });

  it('refuse every flipped bit, every cut and anything appended', () => {
    const bytes = signSharedKeys(env.random(32), 'anna', keysOf(1, 2))!;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = bytes.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(['malformed', 'unsupported', 'bad-signature']).toContain(
        codeOf(() => verifySharedKeys(altered)),
      );
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(() => verifySharedKeys(bytes.subarray(0, length)))).toBe('malformed');
    }
    expect(codeOf(() => verifySharedKeys(Uint8Array.of(...bytes, 0)))).toBe('malformed');
  });

  it('are not read from another statement of the account key', () => {
    const revocation = signDeviceRevocation(env.random(32), { userId: 'anna', deviceId: 'phone' });
    expect(codeOf(() => verifySharedKeys(revocation))).not.toBe('none');
  });

  it('are the newest 64', () => {
    const revisions = Array.from({ length: 70 }, (_, i) => i + 1);
    const bytes = signSharedKeys(env.random(32), 'anna', keysOf(...revisions))!;
    expect(verifySharedKeys(bytes).sharedKeys.map(({ revision }) => revision)).toEqual(revisions.slice(6));
  });

  it('are none where keys had no revisions yet', () => {
    expect(signSharedKeys(env.random(32), 'anna', [legacy])).toBeNull();
  });

  it('are signed in their order only, and for somebody', () => {
    const seed = env.random(32);
    expect(codeOf(() => signSharedKeys(seed, 'anna', keysOf(3, 2)))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, 'anna', keysOf(2, 2)))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, 'anna', []))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, '', keysOf(1)))).toBe('usage');
  });

  it('have the same bytes as ever, since devices keep them', () => {
    const seven = new Uint8Array(32).fill(7);
    const keys = [{ revision: 2, stateKey: seven, historyKey: new Uint8Array(32).fill(8) }];
    expect(toHex(signSharedKeys(seven, 'anna', keys)!)).toMatchInlineSnapshot(
      `"0104616e6e6120ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c404600000002200707070707070707070707070707070707070707070707070707070707070707200808080808080808080808080808080808080808080808080808080808080808404001ca224b7b9e132e7987a9b125fdf727d4cc8a82be34c4188012e8b8e2ee078d7c7b020edd678b16f75c594ebb3ebf4fd715d4ad21f3dff80c70862449827409"`,
    );
  });
});
