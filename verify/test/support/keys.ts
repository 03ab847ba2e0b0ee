import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { lengthPrefixed, releaseNamespace } from '../../src/chain/sshsig.ts';

/** A maintainer with a key: in a file, or in a security key that is touched. */
export interface Holder {
  /** The public key as OpenSSH writes it. */
  readonly line: string;
  /** The private key as OpenSSH reads it; null for a security key, which gives it to nobody. */
  readonly file: string | null;
  /** Returns the armored signature of a message. */
  readonly sign: (message: Uint8Array, options?: SignOptions) => string;
}

export interface SignOptions {
  readonly namespace?: string;
  readonly hash?: 'sha256' | 'sha512';
  /** The flags of a security key: 1 where it was touched. */
  readonly flags?: number;
}

const prefixed = (field: Uint8Array | string) => lengthPrefixed(Buffer.from(field));

/** Makes a key of Ed25519, and its signatures by OpenSSH's PROTOCOL.sshsig. */
export function newHolder({ application = null }: { application?: string | null } = {}): Holder {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const type = application === null ? 'ssh-ed25519' : 'sk-ssh-ed25519@openssh.com';
  const blob = Buffer.concat([type, raw, ...(application === null ? [] : [application])].map(prefixed));
  return {
    line: `${type} ${blob.toString('base64')}`,
    file: application === null ? privateFile(privateKey, raw, blob) : null,
    sign(message, { flags = 1, hash = 'sha512', namespace = releaseNamespace } = {}) {
      const fields = [namespace, '', hash, createHash(hash).update(message).digest()];
      const signed = Buffer.concat([Buffer.from('SSHSIG'), ...fields.map(prefixed)]);
      const state = Buffer.from([flags, 0, 0, 0, 7]);
      const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest();
      const signature =
        application === null
          ? prefixed(sign(null, signed, privateKey))
          : Buffer.concat([
              prefixed(sign(null, Buffer.concat([sha256(application), state, sha256(signed)]), privateKey)),
              state,
            ]);
      return armored(
        Buffer.concat([
          Buffer.from('SSHSIG\0\0\0\u0001'),
          ...[blob, namespace, '', hash].map(prefixed),
          prefixed(Buffer.concat([prefixed(type), signature])),
        ]),
      );
    },
  };
}

/** Puts a signature into the lines that OpenSSH writes. */
export function armored(signature: Uint8Array): string {
  const lines =
    Buffer.from(signature)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

/** The unencrypted form of OpenSSH's PROTOCOL.key. */
function privateFile(privateKey: KeyObject, raw: Uint8Array, blob: Uint8Array): string {
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    ...['ssh-ed25519', raw, Buffer.concat([seed, raw]), 'test'].map(prefixed),
  ]);
  const padding = Buffer.from(Array.from({ length: -secret.length & 7 }, (_, at) => at + 1));
  const content = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(prefixed),
    Buffer.from([0, 0, 0, 1]),
    prefixed(blob),
    prefixed(Buffer.concat([secret, padding])),
  ]);
  const lines = content.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}
