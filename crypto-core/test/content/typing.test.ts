import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/bytes.ts';
import { openTyping, sealTyping, type TypingPlace } from '../../src/content/typing.ts';
import { CryptoError } from '../../src/errors.ts';
import { ready, xchacha20Poly1305Open, xchacha20Poly1305Seal } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { generator, mutateBytes } from '../mutations.ts';
import { testEnv } from '../testEnv.ts';

const place: TypingPlace = { groupId: utf8('direct:a:b'), epoch: 3, userId: 'alice', deviceId: 'laptop' };
const typing = { isWriting: true, at: 0x0102_0304_0506 };
const key = new Uint8Array(32).fill(1);
const env = () => testEnv('typing');

/** Its place, as the specification has it: version, group, epoch, person, device. */
const placeBytes = [
  '01',
  '0a6469726563743a613a62',
  '0000000000000003',
  '05616c696365',
  '066c6170746f70',
].join('');
const plainBytes = '0101010203040506';

const elsewhere: Partial<TypingPlace>[] = [
  { groupId: utf8('direct:a:c') },
  { epoch: 4 },
  { userId: 'bob' },
  { deviceId: 'phone' },
];

beforeAll(ready);

describe('the sign that somebody is writing', () => {
  it('has these bytes', () => {
    const sealed = sealTyping(key, place, typing, env());
    expect(sealed).toHaveLength(49);
    const aad = Buffer.from(placeBytes, 'hex');
    expect(sealed[0]).toBe(1);
    expect(toHex(xchacha20Poly1305Open(key, sealed.subarray(1, 25), aad, sealed.subarray(25)))).toBe(
      plainBytes,
    );
    expect(createHash('sha256').update(sealed).digest('hex')).toBe(
      'bb34be62bd560d73f7452994a3df922eae96440b165687b82f9d4833809b172c',
    );
  });

  it.each([true, false])('opens as it was sealed, and is as long either way: %s', (isWriting) => {
    const sealed = sealTyping(key, place, { isWriting, at: 0 }, env());
    expect(sealed).toHaveLength(49);
    expect(openTyping(key, place, sealed)).toEqual({ isWriting, at: 0 });
  });

  it('opens at no other place, and under no other key', () => {
    const sealed = sealTyping(key, place, typing, env());
    for (const change of elsewhere) {
      expect(codeOf(() => openTyping(key, { ...place, ...change }, sealed))).toBe('decrypt-failed');
    }
    expect(codeOf(() => openTyping(new Uint8Array(32), place, sealed))).toBe('decrypt-failed');
  });

  it('is refused where no device could have made it', () => {
    for (const at of [-1, 0.5, 2 ** 48]) {
      expect(codeOf(() => sealTyping(key, place, { isWriting: true, at }, env()))).toBe('usage');
    }
    const forged = (hex: string) => {
      const nonce = new Uint8Array(24);
      const box = xchacha20Poly1305Seal(key, nonce, Buffer.from(placeBytes, 'hex'), Buffer.from(hex, 'hex'));
      return codeOf(() => openTyping(key, place, Buffer.concat([Buffer.of(1), nonce, box])));
    };
    expect(forged(plainBytes.replace(/^01/, '02'))).toBe('unsupported');
    expect(forged(plainBytes.replace(/^0101/, '0102'))).toBe('malformed');
    expect(forged(`${plainBytes}00`)).toBe('malformed');
    for (let length = 0; length < plainBytes.length; length += 2) {
      expect(forged(plainBytes.slice(0, length))).toBe('malformed');
    }
  });

  it('opens whatever comes, or refuses it with a code', () => {
    const below = generator(16);
    const sealed = sealTyping(key, place, typing, env());
    const outcomes = Array.from({ length: 300 }, () => {
      const bytes = mutateBytes(sealed, below);
      if (toHex(bytes) === toHex(sealed)) return 'same';
      try {
        openTyping(key, place, bytes);
        return 'opened';
      } catch (error) {
        return error instanceof CryptoError ? error.code : 'no code';
      }
    });
    const codes = ['same', 'decrypt-failed', 'unsupported'];
    expect(outcomes.filter((outcome) => !codes.includes(outcome))).toEqual([]);
  });
});
