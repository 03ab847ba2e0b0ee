import { beforeAll, describe, expect, it } from 'vitest';
import { sealEnvelope } from '../../src/account/envelope.ts';
import { hiddenRecordKey, openRecord, sealRecord } from '../../src/account/records.ts';
import {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  recoveryAuthKey,
  recoveryProofSeed,
  recoveryWrapKey,
} from '../../src/account/recoveryKey.ts';
import {
  createVault,
  createVaultKey,
  openVault,
  sealVault,
  unwrapVaultKey,
  wrapVaultKey,
} from '../../src/account/vault.ts';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
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

  it('holds three different keys', () => {
    const keys = [vault.accountSeed, vault.storageKey, vault.historyKey, vaultKey].map(toHex);
    expect(new Set(keys).size).toBe(4);
    expect(keys.every((key) => key.length === 64)).toBe(true);
  });

  it('opens for its owner', () => {
    expect(openVault(sealVault(vault, vaultKey, 'u1', env), vaultKey, 'u1')).toEqual(vault);
  });

  it('remembers whom the person has verified', () => {
    const verified = ['bert', 'céline'].map((userId) => ({ userId, accountKey: env.random(32) }));
    const known = { ...vault, verified, revision: 7 };
    expect(openVault(sealVault(known, vaultKey, 'u1', env), vaultKey, 'u1')).toEqual(known);
  });

  it('has one length however many people are verified, up to some fifty', () => {
    const withVerified = (count: number) => {
      const verified = Array.from({ length: count }, () => ({
        userId: '0a52f3a8-5a7e-4f3a-9d0e-1f0c8f2b7c11',
        accountKey: vault.accountSeed,
      }));
      return sealVault({ ...vault, verified }, vaultKey, 'u1', env).length;
    };
    expect(new Set([0, 1, 20, 55].map(withVerified)).size).toBe(1);
    expect(withVerified(60)).toBe(withVerified(110));
    expect(withVerified(60)).toBeGreaterThan(withVerified(0));
  });

  it('opens as it was sealed before there was padding, and with no other bytes after it', () => {
    const context = encode('u1', (writer, id) => {
      writer.opaque(utf8('Sinetti vault'));
      writer.opaque(utf8(id));
    });
    const sealedWith = (trailing: number[]) => {
      const plaintext = encode(vault, (writer, { accountSeed, storageKey, historyKey, revision }) => {
        for (const key of [accountSeed, storageKey, historyKey]) writer.opaque(key);
        writer.vector([], () => undefined);
        writer.u32(revision);
        writer.bytes(Uint8Array.from(trailing));
      });
      return sealEnvelope(vaultKey, context, plaintext, env);
    };
    expect(openVault(sealedWith([]), vaultKey, 'u1')).toEqual(vault);
    expect(openVault(sealedWith([0, 0]), vaultKey, 'u1')).toEqual(vault);
    expect(codeOf(() => openVault(sealedWith([0, 1]), vaultKey, 'u1'))).toBe('malformed');
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

  it.each([
    ['password', 'recovery', 'wrong-password'],
    ['recovery', 'password', 'bad-recovery-key'],
  ] as const)('is wrapped for a %s and never opened as a %s', (label, other, code) => {
    const wrapKey = env.random(32);
    const wrapped = wrapVaultKey(vaultKey, wrapKey, label, env);
    expect(toHex(unwrapVaultKey(wrapped, wrapKey, label))).toBe(toHex(vaultKey));
    expect(codeOf(() => unwrapVaultKey(wrapped, env.random(32), label))).toBe(code);
    expect(codeOf(() => unwrapVaultKey(wrapped, wrapKey, other))).not.toBe('none');
    expect(codeOf(() => unwrapVaultKey(new Uint8Array(), wrapKey, label))).toBe(code);
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

  it('gives a wrap key, an auth key and a proof seed that differ from each other and from itself', () => {
    const key = createRecoveryKey(env);
    const keys = [key, recoveryWrapKey(key), recoveryAuthKey(key), recoveryProofSeed(key)];
    expect(new Set(keys.map(toHex)).size).toBe(4);
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
