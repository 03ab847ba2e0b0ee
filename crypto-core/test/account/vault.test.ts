import { beforeAll, describe, expect, it } from 'vitest';
import { sealEnvelope } from '../../src/account/envelope.ts';
import { hiddenRecordKey, openRecord, sealRecord } from '../../src/account/records.ts';
import {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  recoveryAuthKey,
  recoveryKeyPair,
  recoveryProofSeed,
  recoveryWrapKey,
} from '../../src/account/recoveryKey.ts';
import { newestSharedKeys, writeSharedKeys } from '../../src/account/sharedKeys.ts';
import {
  createVault,
  createVaultKey,
  deviceUnlockKey,
  fromVersion1,
  openVault,
  rotateVault,
  sealVault,
  unwrapByRecoveryKey,
  unwrapVaultKey,
  type Vault,
  wrapForRecovery,
  wrapVaultKey,
} from '../../src/account/vault.ts';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import type { CryptoErrorCode } from '../../src/errors.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

/** Every copy of `bytes` with one bit flipped, one bit for each byte. */
function* flips(bytes: Uint8Array): Generator<Uint8Array> {
  for (let i = 0; i < bytes.length; i++) {
    const copy = bytes.slice();
    copy[i]! ^= 1 << (i % 8);
    yield copy;
  }
}

describe('the vault', () => {
  const env = testEnv('vault');
  const vault = createVault(env);
  const vaultKey = createVaultKey(env);
  const context = encode('u1', (writer, id) => {
    writer.opaque(utf8('Sinetti vault'));
    writer.opaque(utf8(id));
  });

  it('holds keys that all differ', () => {
    const { stateKey, historyKey } = newestSharedKeys(vault.sharedKeys);
    const keys = [vault.accountSeed, vault.deviceSecret, stateKey, historyKey, vaultKey].map(toHex);
    expect(new Set(keys).size).toBe(5);
    expect(keys.every((key) => key.length === 64)).toBe(true);
  });

  it('opens for its owner, with all that it held', () => {
    const recoveryPublicKey = recoveryKeyPair(createRecoveryKey(env)).publicKey;
    const full = { ...rotateVault(vault, 2, env), recoveryPublicKey, formerStorageKey: env.random(32) };
    for (const one of [vault, full]) {
      const opened = openVault(sealVault(one, vaultKey, 'u1', env), vaultKey, 'u1');
      expect(opened).toEqual({ vault: one, formerState: null });
    }
  });

  it('draws new shared keys, and keeps those so far', () => {
    const rotated = rotateVault(vault, 5, env);
    expect(rotated.sharedKeys.map(({ revision }) => revision)).toEqual([1, 5]);
    expect(rotated.sharedKeys[0]).toEqual(vault.sharedKeys[0]);
    const keys = rotated.sharedKeys.flatMap(({ stateKey, historyKey }) => [stateKey, historyKey].map(toHex));
    expect(new Set(keys).size).toBe(4);
    for (const revision of [5, 4, 0, 2 ** 24, 5.5, Number.NaN]) {
      expect(codeOf(() => rotateVault(rotated, revision, env))).toBe('usage');
    }
  });

  it('keeps the newest 500 shared keys', () => {
    let rotated = vault;
    for (let revision = 2; revision <= 510; revision++) rotated = rotateVault(rotated, revision, env);
    expect(rotated.sharedKeys.length).toBe(500);
    expect(newestSharedKeys(rotated.sharedKeys).revision).toBe(510);
    expect(openVault(sealVault(rotated, vaultKey, 'u1', env), vaultKey, 'u1').vault).toEqual(rotated);
  });

  it('has one length however often its keys were renewed, up to some thirty times', () => {
    const lengths = new Set<number>();
    let rotated: Vault = { ...vault, recoveryPublicKey: recoveryKeyPair(createRecoveryKey(env)).publicKey };
    for (let revision = 2; revision <= 35; revision++) {
      rotated = rotateVault(rotated, revision, env);
      lengths.add(sealVault(rotated, vaultKey, 'u1', env).length);
    }
    expect(lengths.size).toBe(1);
    expect(sealVault(vault, vaultKey, 'u1', env).length).toBe([...lengths][0]);
  });

  it('opens as it was in version 1, with the same keys at each device', () => {
    const [accountSeed, storageKey, historyKey] = [env.random(32), env.random(32), env.random(32)];
    const verified = [{ userId: 'bert', accountKey: env.random(32) }];
    const sealedWith = (trailing: number[]) => {
      const plaintext = encode(null, (writer) => {
        for (const key of [accountSeed, storageKey, historyKey]) writer.opaque(key);
        writer.vector(verified, (w, { userId, accountKey }) => {
          w.opaque(utf8(userId));
          w.opaque(accountKey);
        });
        writer.u32(7);
        writer.bytes(Uint8Array.from(trailing));
      });
      return sealEnvelope(vaultKey, context, plaintext, env);
    };
    const opened = openVault(sealedWith([]), vaultKey, 'u1');
    expect(opened.formerState).toEqual({ verified, pins: [], revision: 7 });
    expect(opened.vault).toEqual({
      accountSeed,
      recoveryPublicKey: null,
      ...fromVersion1(storageKey, historyKey),
    });
    expect(opened.vault.formerStorageKey).toEqual(storageKey);
    expect(opened.vault.sharedKeys).toMatchObject([{ revision: 0, historyKey }]);
    expect(openVault(sealedWith([0, 0]), vaultKey, 'u1')).toEqual(opened);
    expect(codeOf(() => openVault(sealedWith([0, 1]), vaultKey, 'u1'))).toBe('malformed');
    expect(rotateVault(opened.vault, 1, env).sharedKeys).toHaveLength(2);
  });

  it.each<[string, Partial<Vault>, CryptoErrorCode]>([
    ['a short seed', { accountSeed: new Uint8Array(31) }, 'malformed'],
    ['no shared keys', { sharedKeys: [] }, 'malformed'],
    ['shared keys out of order', { sharedKeys: [...vault.sharedKeys, ...vault.sharedKeys] }, 'malformed'],
    ['a short public key', { recoveryPublicKey: new Uint8Array(32) }, 'malformed'],
    ['a long former key', { formerStorageKey: new Uint8Array(33) }, 'malformed'],
  ])('does not open with %s', (_, wrong, code) => {
    const sealed = sealVault({ ...vault, ...wrong }, vaultKey, 'u1', env);
    expect(codeOf(() => openVault(sealed, vaultKey, 'u1'))).toBe(code);
  });

  it('does not open in a version to come, or with bytes after it', () => {
    const plaintext = (version: number, trailing: number) =>
      encode(vault, (writer, value) => {
        writer.u16(version);
        writer.opaque(value.accountSeed);
        writer.opaque(value.deviceSecret);
        writer.vector(value.sharedKeys, writeSharedKeys);
        writer.opaque(new Uint8Array());
        writer.opaque(new Uint8Array());
        writer.u8(trailing);
      });
    const open = (version: number, trailing: number) =>
      codeOf(() =>
        openVault(sealEnvelope(vaultKey, context, plaintext(version, trailing), env), vaultKey, 'u1'),
      );
    expect([open(2, 0), open(2, 1), open(3, 0)]).toEqual(['none', 'malformed', 'unsupported']);
  });

  it('does not open for another user, under another key, or when altered', () => {
    const sealed = sealVault(vault, vaultKey, 'u1', env);
    expect(codeOf(() => openVault(sealed, vaultKey, 'u2'))).toBe('corrupt-record');
    expect(codeOf(() => openVault(sealed, createVaultKey(env), 'u1'))).toBe('corrupt-record');
    expect(codeOf(() => openVault(sealed.subarray(0, 40), vaultKey, 'u1'))).toBe('corrupt-record');
    for (const flipped of flips(sealed)) {
      const isVersion = flipped[0] !== sealed[0];
      expect(codeOf(() => openVault(flipped, vaultKey, 'u1'))).toBe(
        isVersion ? 'unsupported' : 'corrupt-record',
      );
    }
  });

  it('is sealed differently each time', () => {
    expect(toHex(sealVault(vault, vaultKey, 'u1', env))).not.toBe(
      toHex(sealVault(vault, vaultKey, 'u1', env)),
    );
  });

  it('gives each device an unlock key of its own', () => {
    const [salt, other] = [env.random(16), env.random(16)];
    const keys = [
      deviceUnlockKey(vault.deviceSecret, salt),
      deviceUnlockKey(vault.deviceSecret, other),
      deviceUnlockKey(env.random(32), salt),
      vault.deviceSecret,
    ].map(toHex);
    expect(new Set(keys).size).toBe(4);
    expect(toHex(deviceUnlockKey(vault.deviceSecret, salt))).toBe(keys[0]);
  });

  it('is wrapped for a password', () => {
    const wrapKey = env.random(32);
    const wrapped = wrapVaultKey(vaultKey, wrapKey, env);
    expect(toHex(unwrapVaultKey(wrapped, wrapKey))).toBe(toHex(vaultKey));
    expect(codeOf(() => unwrapVaultKey(wrapped, env.random(32)))).toBe('wrong-password');
    expect(codeOf(() => unwrapVaultKey(new Uint8Array(), wrapKey))).toBe('wrong-password');
  });

  it('is wrapped for a recovery key that nobody has to type', () => {
    const recoveryKey = createRecoveryKey(env);
    const { publicKey } = recoveryKeyPair(recoveryKey);
    const wrapped = wrapForRecovery(vaultKey, publicKey, 'u1', env);
    expect(wrapped.length).toBe(1 + 1120 + 48);
    expect(toHex(unwrapByRecoveryKey(wrapped, recoveryKey, 'u1'))).toBe(toHex(vaultKey));
    const failures = [
      () => unwrapByRecoveryKey(wrapped, createRecoveryKey(env), 'u1'),
      () => unwrapByRecoveryKey(wrapped, recoveryKey, 'u2'),
      () => unwrapByRecoveryKey(wrapped.subarray(0, 1100), recoveryKey, 'u1'),
      () =>
        unwrapByRecoveryKey(
          wrapped.map((byte, i) => (i === 1160 ? byte ^ 1 : byte)),
          recoveryKey,
          'u1',
        ),
      () => unwrapByRecoveryKey(new Uint8Array(), recoveryKey, 'u1'),
    ];
    expect(failures.map(codeOf)).toEqual(failures.map(() => 'bad-recovery-key'));
    expect(codeOf(() => wrapForRecovery(vaultKey, publicKey.subarray(1), 'u1', env))).toBe('malformed');
  });

  it('opens by a recovery key as it was wrapped in version 1', () => {
    const recoveryKey = createRecoveryKey(env);
    const wrapContext = encode(null, (writer) => {
      writer.opaque(utf8('Sinetti vault key'));
      writer.opaque(utf8('recovery'));
    });
    const wrapped = sealEnvelope(recoveryWrapKey(recoveryKey), wrapContext, vaultKey, env);
    expect(toHex(unwrapByRecoveryKey(wrapped, recoveryKey, 'u1'))).toBe(toHex(vaultKey));
    expect(codeOf(() => unwrapByRecoveryKey(wrapped, createRecoveryKey(env), 'u1'))).toBe('bad-recovery-key');
    expect(codeOf(() => unwrapVaultKey(wrapped, recoveryWrapKey(recoveryKey)))).toBe('wrong-password');
  });
});

describe('the recovery key', () => {
  const env = testEnv('recovery');

  it('is read back from its text', () => {
    for (let i = 0; i < 50; i++) {
      const key = createRecoveryKey(env);
      const text = encodeRecoveryKey(key);
      expect(text).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){13}[0-9A-HJKMNP-TV-Z]{4}$/);
      expect(toHex(decodeRecoveryKey(text))).toBe(toHex(key));
    }
  });

  it('is read as people type it', () => {
    const key = new Uint8Array(32).fill(0x08);
    const text = encodeRecoveryKey(key);
    expect(text).toContain('0');
    expect(text).toContain('1');
    const typed = ` ${text.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}\n`;
    expect(toHex(decodeRecoveryKey(typed))).toBe(toHex(key));
  });

  it('notices every single wrong character', () => {
    const text = encodeRecoveryKey(createRecoveryKey(env));
    for (let i = 0; i < text.length; i++) {
      if (text[i] === '-') continue;
      const wrong = text[i] === 'A' ? 'B' : 'A';
      expect(codeOf(() => decodeRecoveryKey(text.slice(0, i) + wrong + text.slice(i + 1)))).toBe(
        'bad-recovery-key',
      );
    }
  });

  it.each(['', 'ABCD', 'U'.repeat(56), '\u00e5'.repeat(56), '0'.repeat(57)])('refuses %j', (text) => {
    expect(codeOf(() => decodeRecoveryKey(text))).toBe('bad-recovery-key');
  });

  it('gives a wrap key, an auth key, a proof seed and a private key that differ from each other and from itself', () => {
    const key = createRecoveryKey(env);
    const { privateKey } = recoveryKeyPair(key);
    const keys = [key, recoveryWrapKey(key), recoveryAuthKey(key), recoveryProofSeed(key), privateKey];
    expect(new Set(keys.map(toHex)).size).toBe(5);
    expect(keys.every(({ length }) => length === 32)).toBe(true);
  });

  it('has the same text and keys as ever, since people hold printed ones', () => {
    expect(encodeRecoveryKey(new Uint8Array(32).map((_, i) => i))).toMatchInlineSnapshot(
      `"000G-40R4-0M30-E209-185G-R38E-1W81-24GK-2GAH-C5RR-34D1-P70X-3RFJ-K472"`,
    );
    expect(toHex(recoveryWrapKey(new Uint8Array(32)))).toMatchInlineSnapshot(
      `"90832cb8083273b1ffd60ca5df02bd5ddd18a0829453c35725e43b0704263f2f"`,
    );
    expect(toHex(recoveryAuthKey(new Uint8Array(32)))).toMatchInlineSnapshot(
      `"c6b7063daf86497a0409844ae949f1ed1760a27cc676267c1eabbce182836416"`,
    );
    expect(toHex(recoveryProofSeed(new Uint8Array(32)))).toMatchInlineSnapshot(
      `"3c2ffcd766a237e8a685a3956252e07b8b3b80c7fc351c421cefe17c926839de"`,
    );
    expect(toHex(recoveryKeyPair(new Uint8Array(32)).privateKey)).toMatchInlineSnapshot(
      `"c10ad51da0e15b5950f3c38acddab5b866b025e54a9e22e981ba54d83ffba4ad"`,
    );
  });
});

describe('sealed records', () => {
  const env = testEnv('records');
  const storageKey = env.random(32);

  it('open in their own place only', () => {
    const sealed = sealRecord(storageKey, 'messages', 'm1', utf8('hello'), env);
    expect(fromUtf8(openRecord(storageKey, 'messages', 'm1', sealed))).toBe('hello');
    for (const [store, key] of [
      ['messages', 'm2'],
      ['message', 'sm1'],
      ['groups', 'm1'],
    ] as const) {
      expect(codeOf(() => openRecord(storageKey, store, key, sealed))).toBe('corrupt-record');
    }
    expect(codeOf(() => openRecord(env.random(32), 'messages', 'm1', sealed))).toBe('corrupt-record');
  });

  it('refuse every flipped bit and every cut', () => {
    const sealed = sealRecord(storageKey, 'messages', 'm1', utf8('hello'), env);
    for (const flipped of flips(sealed)) {
      expect(['corrupt-record', 'unsupported']).toContain(
        codeOf(() => openRecord(storageKey, 'messages', 'm1', flipped)),
      );
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(codeOf(() => openRecord(storageKey, 'messages', 'm1', sealed.subarray(0, length)))).toBe(
        'corrupt-record',
      );
    }
  });

  it('can be kept under hidden keys that are the same each time and show nothing', () => {
    const hidden = (key: Uint8Array, store: string, name: string) => toHex(hiddenRecordKey(key, store, name));
    expect(hidden(storageKey, 'notes', 'a')).toBe(hidden(storageKey, 'notes', 'a'));
    const others = [
      hidden(storageKey, 'notes', 'a'),
      hidden(storageKey, 'notes', 'b'),
      hidden(storageKey, 'note', 'sa'),
      hidden(env.random(32), 'notes', 'a'),
    ];
    expect(new Set(others).size).toBe(others.length);
    expect(hidden(new Uint8Array(32), 'notes', 'a')).toMatchInlineSnapshot(
      `"7ee18d2dcdd799d87ca5273c121ca3c0"`,
    );
  });

  it('may be empty', () => {
    expect(
      openRecord(storageKey, 's', 'k', sealRecord(storageKey, 's', 'k', new Uint8Array(), env)).length,
    ).toBe(0);
  });
});
