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
    const [, , former, keys] = sharedKeys;
    expect(statement).toEqual({ userId: 'anna', accountKey, formerRevision: former!.revision, keys });
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

  it('are the newest alone, so that they open nothing older', () => {
    const [first, second] = keysOf(1, 2);
    const hex = toHex(signSharedKeys(env.random(32), 'anna', [first!, second!])!);
    const isThere = [second!, first!].map(({ historyKey }) => hex.includes(toHex(historyKey)));
    expect(isThere).toEqual([true, false]);
    const { formerRevision } = verifySharedKeys(signSharedKeys(env.random(32), 'anna', [first!])!);
    expect(formerRevision).toBe(0);
  });

  it('are none where keys had no revisions yet', () => {
    expect(signSharedKeys(env.random(32), 'anna', [legacy])).toBeNull();
  });

  it('are signed in their order only, and for somebody', () => {
    const seed = env.random(32);
    expect(codeOf(() => signSharedKeys(seed, 'anna', keysOf(3, 2)))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, 'anna', keysOf(2, 2)))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, 'anna', []))).toBe('usage');
    const beyond = { ...legacy, revision: 2 ** 24 };
    expect(codeOf(() => signSharedKeys(seed, 'anna', [beyond]))).toBe('usage');
    expect(codeOf(() => signSharedKeys(seed, '', keysOf(1)))).toBe('usage');
  });

  it('have the same bytes as ever, since devices keep them', () => {
    const seven = new Uint8Array(32).fill(7);
    const keys = [{ revision: 2, stateKey: seven, historyKey: new Uint8Array(32).fill(8) }];
    expect(toHex(signSharedKeys(seven, 'anna', keys)!)).toMatchInlineSnapshot(
      `"0104616e6e6120ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c00000000000000022007070707070707070707070707070707070707070707070707070707070707072008080808080808080808080808080808080808080808080808080808080808084040b8feaff9692f1fc5fad5bbe5a50539105707d05993b716ae82a6947ea630dcd29a8a99a21304622db5c27153d9b859af2f950591366227eb52ac033ff4b53506"`,
    );
  });
});
