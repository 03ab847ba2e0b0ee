/** Writes what SPEC.md says of what is sealed once more, by Node's cipher, as somebody does who knows nothing else. */
import { createCipheriv, createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  encodeRemovalGrounds,
  recoveryKeyPair,
  sealAccountState,
  sealGroupName,
  sealRecord,
  sealStateInSegments,
  sealVault,
  wrapForRecovery,
  wrapVaultKey,
} from '../../src/account/index.ts';
import type { Env } from '../../src/env.ts';
import { open } from '../../src/suite/hpke.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('bytes of what is sealed');
const [key, seed, secret, stateKey, historyKey, aliceKey, bobKey] = Array.from({ length: 7 }, () =>
  env.random(32),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const sharedKeys = [
  { revision: 1, stateKey: historyKey, historyKey: stateKey },
  { revision: 0x01_0203, stateKey, historyKey },
];

beforeAll(ready);

const nonce = Buffer.from(Array.from({ length: 24 }, (_, at) => 0xa0 + at));
/** Gives the nonce, whatever is asked for. */
const fixed: Env = { random: () => new Uint8Array(nonce), now: () => 0 };

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const uint = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
};
function opaque(...parts: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(parts);
  const { length } = bytes;
  const header = length < 64 ? Buffer.of(length) : Buffer.of(0x40 | (length >> 8), length & 255);
  return Buffer.concat([header, bytes]);
}
const text = (value: string): Buffer => opaque(Buffer.from(value));
function padded(to: number, ...parts: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);
}

/** HChaCha20 (draft-irtf-cfrg-xchacha, section 2.2). */
function hChaCha20(chachaKey: Uint8Array, input: Uint8Array): Buffer {
  const words = Buffer.concat([Buffer.from('expand 32-byte k'), chachaKey, input]);
  const state = Array.from({ length: 16 }, (_, at) => words.readUInt32LE(4 * at));
  const turn = (into: number, from: number, mixed: number, by: number): void => {
    state[into] = ((state[into] ?? 0) + (state[from] ?? 0)) >>> 0;
    const crossed = ((state[mixed] ?? 0) ^ (state[into] ?? 0)) >>> 0;
    state[mixed] = ((crossed << by) | (crossed >>> (32 - by))) >>> 0;
  };
  const quarter = (a: number, b: number, c: number, d: number): void => {
    turn(a, b, d, 16);
    turn(c, d, b, 12);
    turn(a, b, d, 8);
    turn(c, d, b, 7);
  };
  for (let round = 0; round < 10; round += 1) {
    for (const at of [0, 1, 2, 3]) quarter(at, at + 4, at + 8, at + 12);
    for (const at of [0, 1, 2, 3]) {
      quarter(at, 4 + ((at + 1) % 4), 8 + ((at + 2) % 4), 12 + ((at + 3) % 4));
    }
  }
  const out = Buffer.alloc(32);
  for (const [at, word] of [...state.slice(0, 4), ...state.slice(12)].entries()) {
    out.writeUInt32LE(word, 4 * at);
  }
  return out;
}

/** Envelope: version, nonce, ciphertext and tag of XChaCha20-Poly1305. */
function envelope(sealingKey: Uint8Array, associated: Uint8Array, plaintext: Uint8Array): Buffer {
  const subkey = hChaCha20(sealingKey, nonce.subarray(0, 16));
  const chachaNonce = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
  const cipher = createCipheriv('chacha20-poly1305', subkey, chachaNonce, { authTagLength: 16 });
  cipher.setAAD(associated, { plaintextLength: plaintext.length });
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.of(1), nonce, ciphertext, cipher.getAuthTag()]);
}

/** SharedSealed: the keys' revision, and the envelope for a place. */
function shared(place: string, plaintext: Uint8Array): Buffer {
  const associated = Buffer.concat([text('state'), text(place)]);
  return Buffer.concat([uint(0x01_0203, 4), envelope(stateKey, associated, plaintext)]);
}

const replaced = { standing: 'former', accountKey: bobKey } as const;
const present = { standing: 'present', accountKey: aliceKey } as const;
const state = {
  revision: 9,
  verified: [{ userId: 'alice', accountKey: aliceKey }],
  pins: [{ userId: 'alice', keys: [replaced, present] }],
};
const pinned = opaque(Buffer.of(0), opaque(bobKey), Buffer.of(1), opaque(aliceKey));

describe('the bytes of what is sealed are as written down:', () => {
  it('an envelope, of a record for its place', () => {
    const associated = Buffer.concat([text('chats'), text('chat:1')]);
    const sealed = sealRecord(key, 'chats', 'chat:1', Buffer.from('a record'), fixed);
    expect(hex(sealed)).toBe(hex(envelope(key, associated, Buffer.from('a record'))));
  });

  it('a vault', () => {
    const recoveryPublicKey = new Uint8Array(1216).fill(7);
    const vault = {
      accountSeed: seed,
      deviceSecret: secret,
      sharedKeys,
      recoveryPublicKey,
      formerStorageKey: null,
    };
    const former = Buffer.concat([uint(1, 4), opaque(historyKey), opaque(stateKey)]);
    const newest = Buffer.concat([uint(0x01_0203, 4), opaque(stateKey), opaque(historyKey)]);
    const keys = opaque(former, newest);
    const fields = [opaque(seed), opaque(secret), keys, opaque(recoveryPublicKey), opaque()];
    const associated = Buffer.concat([text('Sinetti vault'), text('alice')]);
    const plaintext = padded(4096, uint(2, 2), ...fields);
    expect(hex(sealVault(vault, key, 'alice', fixed))).toBe(hex(envelope(key, associated, plaintext)));
  });

  it('a vault key, wrapped for the password and for the recovery key', () => {
    const vaultKey = secret;
    const label = text('Sinetti vault key');
    const associated = Buffer.concat([label, text('password')]);
    expect(hex(wrapVaultKey(vaultKey, key, fixed))).toBe(hex(envelope(key, associated, vaultKey)));
    const { privateKey, publicKey } = recoveryKeyPair(seed);
    const wrapped = wrapForRecovery(vaultKey, publicKey, 'alice', env);
    expect([wrapped[0], wrapped.length]).toEqual([2, 1 + 1120 + 48]);
    const info = Buffer.concat([label, text('recovery'), text('Sinetti vault'), text('alice')]);
    const [kemOutput, ciphertext] = [wrapped.subarray(1, 1121), wrapped.subarray(1121)];
    const opened = open(getSuite(0x004d), privateKey, info, new Uint8Array(), { kemOutput, ciphertext });
    expect(hex(opened)).toBe(hex(vaultKey));
  });

  it('an account state', () => {
    const verified = opaque(text('alice'), opaque(aliceKey));
    const pins = opaque(text('alice'), pinned);
    const plaintext = padded(4096, uint(2, 2), uint(9, 4), verified, pins);
    expect(hex(sealAccountState(state, sharedKeys, 'bob', fixed))).toBe(hex(shared('bob', plaintext)));
  });

  it('an account state in segments', () => {
    const { sealed, segments } = sealStateInSegments(state, sharedKeys, 'bob', fixed);
    // The second of the keys is the one that was verified.
    const segment = shared('bob/segment', padded(6_144, opaque(text('alice'), pinned, uint(2, 2))));
    expect(segments.map(hex)).toEqual([hex(segment)]);
    const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
    const place = `bob/head/${sha256(sha256(segment)).toString('hex')}`;
    expect(hex(sealed)).toBe(hex(shared(place, Buffer.concat([uint(3, 2), uint(9, 4)]))));
  });

  it('a group name', () => {
    const groupId = Buffer.from('group:1');
    const sealed = sealGroupName(key, groupId, 'Mökki', fixed);
    expect(hex(sealed)).toBe(hex(envelope(key, groupId, padded(64, text('Mökki')))));
  });

  it('grounds of a removal, which are not sealed', () => {
    const [one, other, third] = ['one', 'other', 'third'].map((word) => Buffer.from(word));
    const grounds = { departures: [one!, other!], revocations: [third!] };
    const written = Buffer.concat([opaque(opaque(one!), opaque(other!)), opaque(opaque(third!))]);
    expect(hex(encodeRemovalGrounds(grounds))).toBe(hex(written));
    expect(encodeRemovalGrounds({ departures: [], revocations: [] })).toHaveLength(0);
  });
});
