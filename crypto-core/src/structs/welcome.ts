import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { type HpkeCiphertext, readHpkeCiphertext, writeHpkeCiphertext } from './hpkeCiphertext.ts';
import { type PreSharedKeyId, readPreSharedKeyId, writePreSharedKeyId } from './psk.ts';

export interface EncryptedGroupSecrets {
  /** KeyPackageRef of the new member these secrets are for. */
  readonly newMember: Uint8Array;
  readonly encryptedGroupSecrets: HpkeCiphertext;
}

/** RFC 9420 section 12.4.3.1. */
export interface Welcome {
  readonly cipherSuite: number;
  readonly secrets: readonly EncryptedGroupSecrets[];
  readonly encryptedGroupInfo: Uint8Array;
}

export interface GroupSecrets {
  readonly joinerSecret: Uint8Array;
  /** The secret of the lowest node that the new leaf shares with the committer; null without an UpdatePath. */
  readonly pathSecret: Uint8Array | null;
  readonly psks: readonly PreSharedKeyId[];
}

function readEncryptedGroupSecrets(r: Reader): EncryptedGroupSecrets {
  return { newMember: r.opaque(), encryptedGroupSecrets: readHpkeCiphertext(r) };
}

function writeEncryptedGroupSecrets(w: Writer, value: EncryptedGroupSecrets): void {
  w.opaque(value.newMember);
  writeHpkeCiphertext(w, value.encryptedGroupSecrets);
}

export function readWelcome(r: Reader): Welcome {
  return {
    cipherSuite: r.u16(),
    secrets: r.vector('leaves', readEncryptedGroupSecrets),
    encryptedGroupInfo: r.opaque(),
  };
}

export function writeWelcome(w: Writer, welcome: Welcome): void {
  w.u16(welcome.cipherSuite);
  w.vector(welcome.secrets, writeEncryptedGroupSecrets);
  w.opaque(welcome.encryptedGroupInfo);
}

export function readGroupSecrets(r: Reader): GroupSecrets {
  return {
    joinerSecret: r.opaque(),
    pathSecret: r.optional((item) => item.opaque()),
    psks: r.vector('proposals', readPreSharedKeyId),
  };
}

export function writeGroupSecrets(w: Writer, secrets: GroupSecrets): void {
  w.opaque(secrets.joinerSecret);
  w.optional(secrets.pathSecret, (item, secret) => item.opaque(secret));
  w.vector(secrets.psks, writePreSharedKeyId);
}
