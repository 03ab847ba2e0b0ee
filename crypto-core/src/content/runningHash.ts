/** The running hash over a conversation's log: two readers have the same one where they were given the same entries. */
import { utf8 } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { sha256 } from '../suite/sodium.ts';

/** An entry of the log as the relay gave it. Its time doesn't count, since the relay alone says it. */
export interface LoggedEntry {
  readonly groupId: Uint8Array;
  readonly position: number;
  readonly kind: 'application' | 'commit';
  readonly epoch: number;
  readonly messageId: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly content: Uint8Array;
}

/** Bytes of a digest and of a running hash. */
export const HASH_LENGTH = 32;

const DIGEST_LABEL = utf8('Sinetti 1.0 Log Entry');
const HASH_LABEL = utf8('Sinetti 1.0 Running Hash');
const KindValue = { application: 1, commit: 3 } as const;

/** The running hash before the first entry. */
export function emptyRunningHash(): Uint8Array {
  return new Uint8Array(HASH_LENGTH);
}

/** The digest of an entry, 32 bytes. @throws CryptoError 'usage' for a position or epoch beyond 2^53 */
export function entryDigest(entry: LoggedEntry): Uint8Array {
  return sha256(
    encode(entry, (w, { content, deviceId, epoch, groupId, kind, messageId, position, userId }) => {
      w.opaque(DIGEST_LABEL);
      w.opaque(groupId);
      w.u64(BigInt(position));
      w.u8(KindValue[kind]);
      w.u64(BigInt(epoch));
      w.opaque(utf8(messageId));
      w.opaque(utf8(userId));
      w.opaque(utf8(deviceId));
      w.bytes(sha256(content));
    }),
  );
}

/** The running hash after an entry, 32 bytes. */
export function nextRunningHash(before: Uint8Array, digest: Uint8Array): Uint8Array {
  return sha256(
    encode(before, (w, hash) => {
      w.opaque(HASH_LABEL);
      w.bytes(hash);
      w.bytes(digest);
    }),
  );
}
