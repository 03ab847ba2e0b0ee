/** The extensions of RFC 9420 that an application chooses, for `createGroup`, `createCommit` and own leaves. */
import { type Limits, NO_LIMITS } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode, encodeOpaque } from '../codec/writer.ts';
import {
  type RequiredCapabilities,
  readRequiredCapabilities,
  writeRequiredCapabilities,
} from '../structs/capabilities.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import { type ExternalSender, readExternalSenders, writeExternalSender } from '../structs/externalSender.ts';

/**
 * Makes required_capabilities for a GroupContext (RFC 9420 section 11.1): who lacks one of them can't be a member.
 * The values are IANA numbers.
 * @throws CryptoError 'usage' for a number that is no u16
 */
export function requiredCapabilitiesExtension(required: Partial<RequiredCapabilities>): Extension {
  const all = { extensions: [], proposals: [], credentials: [], ...required };
  return { type: ExtensionTypeValue.requiredCapabilities, data: encode(all, writeRequiredCapabilities) };
}

/**
 * Reads required_capabilities (RFC 9420 section 11.1); null for a group without.
 * @throws CryptoError 'malformed', 'unsupported' beyond a limit
 */
export function findRequiredCapabilities(
  extensions: readonly Extension[],
  limits?: Limits,
): RequiredCapabilities | null {
  const data = findExtension(extensions, ExtensionTypeValue.requiredCapabilities);
  return data === undefined ? null : decode(data, readRequiredCapabilities, limits);
}

/**
 * Makes external_senders for a GroupContext (RFC 9420 section 12.1.8.1): who may propose without being a member. A
 * sender is known by its place in the list.
 * @throws CryptoError 'usage' for 2^30 bytes or more
 */
export function externalSendersExtension(senders: readonly ExternalSender[]): Extension {
  return {
    type: ExtensionTypeValue.externalSenders,
    data: encode(senders, (w, list) => w.vector(list, writeExternalSender)),
  };
}

/**
 * Reads external_senders (RFC 9420 section 12.1.8.1); empty for a group without.
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function findExternalSenders(
  extensions: readonly Extension[],
  limits: Limits = NO_LIMITS,
): readonly ExternalSender[] {
  const data = findExtension(extensions, ExtensionTypeValue.externalSenders);
  return data === undefined ? [] : decode(data, readExternalSenders, limits);
}

/**
 * Makes application_id for a leaf (RFC 9420 section 5.3.3), a name beside the credential that nobody vouches for.
 * @throws CryptoError 'usage' for 2^30 bytes or more
 */
export function applicationIdExtension(id: Uint8Array): Extension {
  return { type: ExtensionTypeValue.applicationId, data: encodeOpaque(id) };
}

/** Reads application_id (RFC 9420 section 5.3.3); null for a leaf without. @throws CryptoError 'malformed' */
export function findApplicationId(extensions: readonly Extension[]): Uint8Array | null {
  const data = findExtension(extensions, ExtensionTypeValue.applicationId);
  return data === undefined ? null : decode(data, (r) => r.opaque().slice());
}
