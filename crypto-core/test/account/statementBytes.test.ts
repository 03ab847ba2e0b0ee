import { createPublicKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { signAccountState } from '../../src/account/accountState.ts';
import { issueDeviceCertificate } from '../../src/account/deviceCertificate.ts';
import { signDeviceRevocation } from '../../src/account/deviceRevocation.ts';
import { signLeaveStatement } from '../../src/account/leaveStatement.ts';
import { hashProofBody, signProof } from '../../src/account/proof.ts';
import { signSharedKeys } from '../../src/account/sharedKeysStatement.ts';
import { signName } from '../../src/account/signedName.ts';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import { ready } from '../../src/suite/sodium.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('bytes of statements');
const [seed, deviceSeed, leafRef, stateKey, historyKey, nonce] = Array.from({ length: 6 }, () =>
  env.random(32),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

beforeAll(ready);

// Writes what SPEC.md says once more, as somebody does who knows nothing else.
const text = (value: string) => opaque(Buffer.from(value));
const uint = (value: number, length: number) => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, Math.max(0, length - 6), Math.min(6, length));
  return bytes;
};
function opaque(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const prefix = length < 64 ? Buffer.of(length) : Buffer.of(0x40 | (length >> 8), length & 255);
  return Buffer.concat([prefix, bytes]);
}

function isSigned(privateKey: Uint8Array, label: string, body: Buffer, signature: Uint8Array): boolean {
  const x = Buffer.from(publicKeyOf(privateKey)).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.concat([text(`MLS 1.0 ${label}`), opaque(body)]), key, signature);
}

const ids = [text('alice'), text('laptop')];
const certificate = () =>
  issueDeviceCertificate(seed, {
    userId: 'alice',
    deviceId: 'laptop',
    deviceKey: publicKeyOf(deviceSeed),
    notBefore: 0x0102_0304n,
  });

describe('the bytes of what accounts and devices sign', () => {
  it.each<[string, Uint8Array, () => Uint8Array | null, () => Buffer[]]>([
    [
      'SinettiDeviceCertificate',
      seed,
      certificate,
      () => [
        ...ids,
        opaque(publicKeyOf(deviceSeed)),
        opaque(publicKeyOf(seed)),
        uint(0, 4),
        uint(0x0102_0304, 4),
      ],
    ],
    [
      'SinettiDeviceRevocation',
      seed,
      () => signDeviceRevocation(seed, { userId: 'alice', deviceId: 'laptop' }),
      () => [...ids, opaque(publicKeyOf(seed))],
    ],
    [
      'SinettiGroupLeave',
      deviceSeed,
      () =>
        signLeaveStatement(
          { groupId: Buffer.from('group:1'), userId: 'alice', deviceId: 'laptop', epoch: 258n, leafRef },
          deviceSeed,
        ),
      () => [text('group:1'), ...ids, uint(258, 8), opaque(leafRef)],
    ],
    [
      'SinettiSharedKeys',
      seed,
      () =>
        signSharedKeys(seed, 'alice', [
          { revision: 3, stateKey: leafRef, historyKey: leafRef },
          { revision: 5, stateKey, historyKey },
        ]),
      () => [
        text('alice'),
        opaque(publicKeyOf(seed)),
        uint(3, 4),
        uint(5, 4),
        opaque(stateKey),
        opaque(historyKey),
      ],
    ],
    [
      'SinettiSignedName',
      deviceSeed,
      () => signName({ certificate: certificate(), username: 'Äiti', revision: 7 }, deviceSeed),
      () => [opaque(certificate()), text('Äiti'), uint(7, 4)],
    ],
  ])(
    'of a %s are as written down, field by field, and its signature is over all of them',
    (label, key, make, fields) => {
      const statement = Buffer.from(make() ?? []);
      const body = Buffer.concat([Buffer.of(1), ...fields()]);
      expect(statement.subarray(0, body.length).toString('hex')).toBe(body.toString('hex'));
      // The signature: opaque, 64 bytes, so that its length takes two.
      expect(statement.subarray(body.length, body.length + 2).toString('hex')).toBe('4040');
      expect(statement).toHaveLength(body.length + 66);
      expect(isSigned(key, label, body, statement.subarray(body.length + 2))).toBe(true);
    },
  );

  it('of a signed account state begin with 2, which no sealed state does', () => {
    const sealed = Buffer.from('sealed');
    const statement = Buffer.from(
      signAccountState({ certificate: certificate(), sealed, segments: null }, deviceSeed),
    );
    const body = Buffer.concat([Buffer.of(2), opaque(certificate()), opaque(sealed)]);
    expect(statement.subarray(0, body.length)).toEqual(body);
    expect(isSigned(deviceSeed, 'SinettiAccountState', body, statement.subarray(body.length + 2))).toBe(true);
  });

  it('of a signed account state in segments begin with 3, and have a hash of each segment', () => {
    const sealed = Buffer.from('sealed');
    const segments = [leafRef, stateKey];
    const statement = Buffer.from(
      signAccountState({ certificate: certificate(), sealed, segments }, deviceSeed),
    );
    const hashes = opaque(Buffer.concat(segments));
    const body = Buffer.concat([Buffer.of(3), opaque(certificate()), opaque(sealed), hashes]);
    expect(statement.subarray(0, body.length)).toEqual(body);
    expect(isSigned(deviceSeed, 'SinettiAccountState', body, statement.subarray(body.length + 2))).toBe(true);
  });

  it('of a proof are its claims, which aren’t in it', () => {
    const claims = {
      operation: 'PUT /vault',
      bodyHash: hashProofBody('{}'),
      replaces: 4,
      session: 'one',
      nonce,
    };
    const body = Buffer.concat([
      Buffer.of(1),
      text('PUT /vault'),
      opaque(claims.bodyHash),
      uint(4, 4),
      text('one'),
      opaque(nonce),
    ]);
    const proof = signProof(seed, claims);
    expect(proof).toHaveLength(64);
    expect(isSigned(seed, 'SinettiAccountProof', body, proof)).toBe(true);
  });
});
