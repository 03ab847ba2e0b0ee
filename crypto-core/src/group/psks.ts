import { equalBytes } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { derivePskSecret } from '../schedule/psk.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import type { CipherSuite } from '../suite/suites.ts';
import type { PskLookup } from './hooks.ts';
import type { Group } from './state.ts';

/**
 * Derives the psk_secret of a list of PSKs (RFC 9420 section 8.4); all zero for none.
 * PSK-01 (section 12.4.2): each of them is held here.
 * @throws CryptoError 'missing-psk'
 */
export function pskSecretOf(
  suite: CipherSuite,
  ids: readonly PreSharedKeyId[],
  lookup: PskLookup | undefined,
): Uint8Array {
  const psks = ids.map((id) => {
    const secret = lookup?.(id);
    if (secret === undefined) throw new CryptoError('missing-psk', `PSK-01: ${id.type}`);
    return { id, secret };
  });
  return derivePskSecret(suite, psks);
}

/** Adds the resumption PSK of the group's own current epoch to what the application holds. */
export function withOwnResumptionPsk(group: Group, lookup: PskLookup | undefined): PskLookup {
  return (id) => {
    const isOwn =
      id.type === 'resumption' &&
      id.epoch === group.context.epoch &&
      equalBytes(id.groupId, group.context.groupId);
    return isOwn ? group.secrets.resumptionPsk : lookup?.(id);
  };
}
