import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AccountState,
  isSignedAccountState,
  openAccountState,
  sealAccountState,
  signAccountState,
  verifyAccountState,
} from '../../src/account/accountState.ts';
import { issueDeviceCertificate } from '../../src/account/deviceCertificate.ts';
import { createSharedKeys, sealShared } from '../../src/account/sharedKeys.ts';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import { encode, type Writer } from '../../src/codec/writer.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

const env = testEnv('account state');
const [first, second] = [1, 4].map((revision) => createSharedKeys(revision, env)) as [
  ReturnType<typeof createSharedKeys>,
  ReturnType<typeof createSharedKeys>,
];
const idOf = (at: number) => `0a52f3a8-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;

const state: AccountState = {
  verified: ['bert', 'céline'].map((userId) => ({ userId, accountKey: env.random(32) })),
  pins: [
    { userId: 'bert', keys: [{ standing: 'present', accountKey: env.random(32) }] },
    {
      userId: 'céline',
      keys: (['former', 'present', 'offered', 'refused'] as const).map((standing) => ({
        standing,
        accountKey: env.random(32),
      })),
    },
  ],
  revision: 7,
};

describe('the account state', () => {
  it('remembers whom the person has met and verified', () => {
    const sealed = sealAccountState(state, [first, second], 'u1', env);
    expect(openAccountState(sealed, [first, second], 'u1')).toEqual(state);
    expect(codeOf(() => openAccountState(sealed, [first, second], 'u2'))).toBe('corrupt-record');
    expect(codeOf(() => openAccountState(sealed, [first], 'u1'))).toBe('missing-key');
  });

  it('has one length however many people are in it, up to some fifty', () => {
    const lengthOf = (count: number) => {
      const pins = Array.from({ length: count }, (_, at) => ({
        userId: idOf(at),
        keys: [{ standing: 'present' as const, accountKey: env.random(32) }],
      }));
      return sealAccountState({ verified: [], pins, revision: count }, [first], 'u1', env).length;
    };
    expect(new Set([0, 1, 20, 55].map(lengthOf)).size).toBe(1);
    expect(lengthOf(60)).toBe(lengthOf(110));
    expect(lengthOf(60)).toBeGreaterThan(lengthOf(0));
  });

  it('holds some thousands of people', () => {
    const pins = Array.from({ length: 12_000 }, (_, at) => ({
      userId: idOf(at),
      keys: [{ standing: 'present' as const, accountKey: first.stateKey }],
    }));
    const sealed = sealAccountState({ verified: [], pins, revision: 1 }, [first], 'u1', env);
    expect(sealed.length).toBeLessThan(1024 * 1024);
    expect(openAccountState(sealed, [first], 'u1').pins).toHaveLength(12_000);
  });

  const sealedWith = (version: number, ...fields: ((writer: Writer) => void)[]) => {
    const plaintext = encode(null, (writer) => {
      writer.u16(version);
      writer.u32(7);
      writer.vector([], () => undefined);
      for (const write of fields) write(writer);
    });
    return sealShared('state', [first], 'u1', plaintext, env);
  };
  const open = (...given: Parameters<typeof sealedWith>) =>
    codeOf(() => openAccountState(sealedWith(...given), [first], 'u1'));
  const pinsOf =
    (...standings: number[]) =>
    (writer: Writer) =>
      writer.vector([standings], (w, keys) => {
        w.opaque(Uint8Array.of(97));
        w.vector(keys, (inner, standing) => {
          inner.u8(standing);
          inner.opaque(first.stateKey);
        });
      });

  it('opens without pins, as it was before it had any', () => {
    expect(openAccountState(sealedWith(1), [first], 'u1')).toEqual({ verified: [], pins: [], revision: 7 });
  });

  it('does not open in a version to come, or with other bytes after it', () => {
    expect(open(1, (writer) => writer.bytes(Uint8Array.of(0)))).toBe('none');
    expect(open(1, (writer) => writer.bytes(Uint8Array.of(0, 1)))).toBe('malformed');
    expect(open(2, pinsOf(1))).toBe('none');
    expect(open(2, pinsOf(1), (writer) => writer.bytes(Uint8Array.of(1)))).toBe('malformed');
    expect(open(3, pinsOf(1))).toBe('unsupported');
  });

  it('has one present key for each person, and no standing that nobody knows', () => {
    for (const standings of [[], [0], [1, 1], [1, 4]])
      expect(open(2, pinsOf(...standings))).toBe('malformed');
  });
});

describe('an account state that a device has signed', () => {
  const accountSeed = env.random(32);
  const deviceSeed = env.random(32);
  const device = { userId: 'u1', deviceId: 'd1', deviceKey: publicKeyOf(deviceSeed), notBefore: 0n };
  const certificate = issueDeviceCertificate(accountSeed, device);
  const sealed = sealAccountState(state, [first], 'u1', env);
  const signed = signAccountState({ certificate, sealed, segments: null }, deviceSeed);

  it('says whose it is', () => {
    const { signer, sealed: inside } = verifyAccountState(signed);
    expect([signer.deviceId, signer.userId]).toEqual(['d1', 'u1']);
    expect(signer.accountKey).toEqual(publicKeyOf(accountSeed));
    expect(openAccountState(inside, [first], 'u1')).toEqual(state);
  });

  it('is told from one that nobody has signed', () => {
    expect([signed, sealed, Uint8Array.of(1), new Uint8Array()].map(isSignedAccountState)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('holds in no part that is changed', () => {
    for (const at of [1, 20, 150, certificate.length + 20, signed.length - 1]) {
      const changed = signed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(
        codeOf(() => verifyAccountState(changed)),
        `byte ${at}`,
      ).not.toBe('none');
    }
    const byAnother = signAccountState({ certificate, sealed, segments: null }, env.random(32));
    expect(codeOf(() => verifyAccountState(byAnother))).toBe('bad-signature');
  });
});
