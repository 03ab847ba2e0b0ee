import { createPublicKey, verify } from 'node:crypto';
import { opaque } from '../opaque.ts';

/** SignContent of RFC 9420 (section 5.1.2). */
export function signContent(label: string, content: Uint8Array): Buffer {
  return Buffer.concat([opaque(Buffer.from(`MLS 1.0 ${label}`)), opaque(content)]);
}

/**
 * Returns whether a statement is what its signer says: `body`, and an Ed25519 signature over label and body as opaque<V>.
 * @param publicKey the 32 bytes of an Ed25519 public key
 */
export function isSignedStatement(
  publicKey: Buffer,
  label: string,
  body: Buffer,
  statement: Buffer,
): boolean {
  const signature = statement.subarray(body.length + 2);
  return (
    signature.length === 64 &&
    statement.equals(Buffer.concat([body, opaque(signature)])) &&
    isSignedBy(publicKey, signContent(label, body), signature)
  );
}

/** @param publicKey the 32 bytes of an Ed25519 public key */
export function isSignedBy(publicKey: Buffer, message: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, message, key, signature);
}
