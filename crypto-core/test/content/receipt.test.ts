import { createHash, createPublicKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import { toHex, utf8 } from '../../src/bytes.ts';
import {
  isReceiptSigned,
  openReceipt,
  type Receipt,
  type ReceiptPlace,
  sealReceipt,
  signReceipt,
} from '../../src/content/receipt.ts';
import { CryptoError } from '../../src/errors.ts';
import { ready, xchacha20Poly1305Open, xchacha20Poly1305Seal } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { generator, mutateBytes } from '../mutations.ts';
import { testEnv } from '../testEnv.ts';

const place: ReceiptPlace = {
  groupId: utf8('direct:a:b'),
  epoch: 3,
  userId: 'alice',
  deviceId: 'laptop',
  position: 0x0102_0304_0506,
};
const receipt: Receipt = {
  start: 0,
  hash: new Uint8Array(32).fill(0xab),
  count: 7,
  readPosition: 0x0102_0304_0505,
  isShown: true,
};
const key = new Uint8Array(32).fill(1);
const signatureKey = new Uint8Array(32).fill(2);
const env = () => testEnv('receipts');

/** Its place, as the specification has it: version, group, epoch, person, device, position. */
const placeBytes =
  '01' +
  '0a6469726563743a613a62' +
  '0000000000000003' +
  '05616c696365' +
  '066c6170746f70' +
  '0000010203040506';
const plainBytes = ['01', '01', '000000000000', 'ab'.repeat(32), '000000000007', '010203040505'].join('');

const elsewhere: Partial<ReceiptPlace>[] = [
  { groupId: utf8('direct:a:c') },
  { epoch: 4 },
  { userId: 'bob' },
  { deviceId: 'phone' },
  { position: place.position + 1 },
];

beforeAll(ready);

describe('a receipt', () => {
  it('has these bytes', () => {
    const sealed = sealReceipt(key, place, receipt, env());
    expect(sealed).toHaveLength(93);
    const nonce = sealed.subarray(1, 25);
    const aad = Buffer.from(placeBytes, 'hex');
    expect(sealed[0]).toBe(1);
    expect(toHex(xchacha20Poly1305Open(key, nonce, aad, sealed.subarray(25)))).toBe(plainBytes);
    expect(createHash('sha256').update(sealed).digest('hex')).toBe(
      '3cdc0c33fef78493594190c8c62a8ee10cd41e1ab7af0c4513c4eaef330c18c0',
    );
    expect(toHex(signReceipt(signatureKey, place, sealed))).toBe(
      '743b5f108b55098c363ad09b160070287e0fe4283d26b221464aa539dbf1206c90247b58889cc1aa0e8eca09e39dac84dedacb6e126034342a66c729c9e2980d',
    );
  });

  it('is signed over its place and what is sealed', () => {
    const sealed = sealReceipt(key, place, receipt, env());
    const content = Buffer.concat([Buffer.from(placeBytes, 'hex'), Buffer.of(0x40, 93), sealed]);
    const label = Buffer.from('MLS 1.0 SinettiReceipt');
    const length = content.length;
    const message = Buffer.concat([
      Buffer.of(label.length),
      label,
      Buffer.of(0x40 | (length >> 8), length & 255),
      content,
    ]);
    const x = Buffer.from(publicKeyOf(signatureKey)).toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    expect(verify(null, message, publicKey, signReceipt(signatureKey, place, sealed))).toBe(true);
  });

  it.each([receipt, { ...receipt, isShown: false, readPosition: 0 }, { ...receipt, start: 9, count: 0 }])(
    'opens as it was sealed',
    (one) => {
      expect(openReceipt(key, place, sealReceipt(key, place, one, env()))).toEqual(one);
    },
  );

  it('opens at no other place, under no other key, and is signed for no other place', () => {
    const sealed = sealReceipt(key, place, receipt, env());
    const signature = signReceipt(signatureKey, place, sealed);
    const publicKey = publicKeyOf(signatureKey);
    expect(isReceiptSigned(publicKey, place, sealed, signature)).toBe(true);
    expect(isReceiptSigned(publicKeyOf(key), place, sealed, signature)).toBe(false);
    expect(isReceiptSigned(publicKey, place, sealed.subarray(1), signature)).toBe(false);
    expect(isReceiptSigned(publicKey, place, sealed, signature.subarray(1))).toBe(false);
    for (const change of elsewhere) {
      const other = { ...place, ...change };
      expect(codeOf(() => openReceipt(key, other, sealed))).toBe('decrypt-failed');
      expect(isReceiptSigned(publicKey, other, sealed, signature)).toBe(false);
    }
    expect(codeOf(() => openReceipt(signatureKey, place, sealed))).toBe('decrypt-failed');
  });

  it('is refused where no device could have made it', () => {
    const impossible: Partial<Receipt>[] = [
      { readPosition: place.position + 1 },
      { isShown: false },
      { start: place.position + 1 },
      { start: 9, count: place.position },
      { hash: new Uint8Array(31) },
      { count: -1 },
    ];
    for (const change of impossible) {
      expect(codeOf(() => sealReceipt(key, place, { ...receipt, ...change }, env()))).toBe('usage');
    }
    const forged = (hex: string) => {
      const nonce = new Uint8Array(24);
      const box = xchacha20Poly1305Seal(key, nonce, Buffer.from(placeBytes, 'hex'), Buffer.from(hex, 'hex'));
      return codeOf(() => openReceipt(key, place, Buffer.concat([Buffer.of(1), nonce, box])));
    };
    expect(forged(plainBytes.replace(/^01/, '02'))).toBe('unsupported');
    expect(forged(plainBytes.replace(/^0101/, '0102'))).toBe('malformed');
    expect(forged(plainBytes.replace(/^0101/, '0100'))).toBe('malformed');
    expect(forged(plainBytes.replace(/0505$/, '0507'))).toBe('malformed');
    expect(forged(`${plainBytes}00`)).toBe('malformed');
    for (let length = 0; length < plainBytes.length; length += 2) {
      expect(forged(plainBytes.slice(0, length))).toBe('malformed');
    }
  });

  it('opens whatever comes, or refuses it with a code', () => {
    const below = generator(15);
    const sealed = sealReceipt(key, place, receipt, env());
    const outcomes = Array.from({ length: 500 }, () => {
      const bytes = mutateBytes(sealed, below);
      if (toHex(bytes) === toHex(sealed)) return 'same';
      try {
        openReceipt(key, place, bytes);
        return 'opened';
      } catch (error) {
        return error instanceof CryptoError ? error.code : 'no code';
      }
    });
    const codes = ['same', 'decrypt-failed', 'unsupported'];
    expect(outcomes.filter((outcome) => !codes.includes(outcome))).toEqual([]);
  });
});
