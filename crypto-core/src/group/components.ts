/**
 * Components: parts of an application that use MLS side by side (draft-ietf-mls-extensions-10), with data in extensions, additional
 * authenticated data, and secrets of an epoch that can be taken once.
 */
import { EMPTY } from '../bytes.ts';
import { type Limits, NO_LIMITS } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { assertSameEpoch } from '../framing/contentAuth.ts';
import { takeExporterSecret } from '../schedule/exporterTree.ts';
import { type ComponentData, ComponentId, readComponents, writeComponents } from '../structs/component.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import { findApplicationId } from './extensions.ts';
import { assertActive, type Group } from './state.ts';

function encodeComponents(entries: readonly ComponentData[]): Uint8Array {
  const ascending = entries.toSorted((one, other) => one.componentId - other.componentId);
  const bytes = encode(ascending, writeComponents);
  try {
    decode(bytes, readComponents);
  } catch {
    throw new CryptoError('usage', 'component data that nobody would accept');
  }
  return bytes;
}

/**
 * Makes app_data_dictionary (extensions draft, section 4.6), for the extensions of a GroupContext, a leaf, a KeyPackage or a GroupInfo. A
 * leaf that may be in a group with it lists 0x0006 in its capabilities.
 * @param entries in any order
 * @throws CryptoError 'usage' for two entries of one component
 */
export function appDataDictionaryExtension(entries: readonly ComponentData[]): Extension {
  return { type: ExtensionTypeValue.appDataDictionary, data: encodeComponents(entries) };
}

/**
 * Reads app_data_dictionary (extensions draft, section 4.6); empty where there is none.
 * @throws CryptoError 'malformed' (COMP-01), 'unsupported' beyond a limit
 */
export function findAppData(extensions: readonly Extension[], limits?: Limits): readonly ComponentData[] {
  const data = findExtension(extensions, ExtensionTypeValue.appDataDictionary);
  return data === undefined ? [] : decode(data, readComponents, limits);
}

/**
 * Returns whether those of a leaf's or KeyPackage's extensions that are known here can be read to their last byte: application_id (RFC 9420
 * section 5.3.3), app_data_dictionary, and last_resort_key_package, which has no data. Others are carried as they are.
 */
export function areReadable(extensions: readonly Extension[], limits?: Limits): boolean {
  try {
    findApplicationId(extensions);
    findAppData(extensions, limits);
  } catch {
    return false;
  }
  return (findExtension(extensions, ExtensionTypeValue.lastResort) ?? EMPTY).length === 0;
}

/** The component that marks a KeyPackage as the one of last resort (section 6.4), for its app_data_dictionary. */
export const LAST_RESORT_COMPONENT: ComponentData = {
  componentId: ComponentId.lastResortKeyPackage,
  data: EMPTY,
};

/**
 * Encodes a list of component numbers, the data of the components app_components and safe_aad (extensions draft, section 5).
 * @throws CryptoError 'usage' for a number that is no u16
 */
export function encodeComponentIds(ids: readonly number[]): Uint8Array {
  return encode(ids, (w, list) => w.u16s(list));
}

/**
 * Decodes the list that `encodeComponentIds` makes (extensions draft, section 5).
 * @throws CryptoError 'malformed', 'unsupported' beyond a limit
 */
export function decodeComponentIds(bytes: Uint8Array, limits?: Limits): readonly number[] {
  return decode(bytes, (r) => r.u16s('capabilities'), limits);
}

/**
 * Returns whether a group's authenticated data is framed as SafeAAD: its app_data_dictionary has safe_aad (extensions
 * draft, section 4.9).
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function hasSafeAad({ context }: Group): boolean {
  return usesSafeAad(context);
}

/** The answers for the lists of extensions in use, because each message asks. */
const safeAadIn = new WeakMap<readonly Extension[], boolean>();

function usesSafeAad({ extensions }: Pick<GroupContext, 'extensions'>): boolean {
  let isUsed = safeAadIn.get(extensions);
  if (isUsed === undefined) {
    // A GroupContext was within the limits when it came.
    const entries = findAppData(extensions, NO_LIMITS);
    isUsed = entries.some(({ componentId }) => componentId === ComponentId.safeAad);
    safeAadIn.set(extensions, isUsed);
  }
  return isUsed;
}

/**
 * COMP-05 (section 4.9): in a group with safe_aad, the authenticated data of a message is a SafeAAD. It isn't secret, so
 * that this is checked before the message uses up a key; of a message of another epoch the framing knows better.
 * @throws CryptoError 'malformed', 'unsupported', 'wrong-group', 'wrong-epoch'
 */
export function checkAuthenticatedData(
  context: GroupContext,
  message: { readonly groupId: Uint8Array; readonly epoch: bigint; readonly authenticatedData: Uint8Array },
): void {
  if (!usesSafeAad(context)) return;
  assertSameEpoch(message, context);
  try {
    decodeSafeAad(message.authenticatedData);
  } catch (error) {
    const code = error instanceof CryptoError ? error.code : 'malformed';
    throw new CryptoError(code, 'COMP-05: authenticated data that is no SafeAAD');
  }
}

/**
 * Returns the authenticated data for an own message: by default none, which in a group with safe_aad is an empty SafeAAD.
 * @throws CryptoError 'usage' for what isn't a SafeAAD there
 */
export function ownAuthenticatedData(context: GroupContext, given?: Uint8Array): Uint8Array {
  if (!usesSafeAad(context)) return given ?? EMPTY;
  if (given === undefined) return encodeSafeAad([]);
  try {
    decodeSafeAad(given);
  } catch {
    throw new CryptoError('usage', 'authenticated data that is no SafeAAD');
  }
  return given;
}

/**
 * Encodes the authenticated data of several components as a SafeAAD (extensions draft, section 4.9).
 * @param items in any order
 * @throws CryptoError 'usage' for two items of one component
 */
export function encodeSafeAad(items: readonly ComponentData[]): Uint8Array {
  return encodeComponents(items);
}

/**
 * Decodes a SafeAAD (extensions draft, section 4.9).
 * @throws CryptoError 'malformed' (COMP-01), 'unsupported' beyond a limit
 */
export function decodeSafeAad(authenticatedData: Uint8Array, limits?: Limits): readonly ComponentData[] {
  return decode(authenticatedData.slice(), readComponents, limits);
}

/**
 * Takes a component's secret of this epoch, of Nh bytes, which only the members can compute: SafeExportSecret (extensions
 * draft, section 4.4). It can be taken once, and nothing is left that it could be derived from: store `saveEpoch(group)` before the
 * secret is used, or a crash brings it back. All values of this epoch share what is left.
 * @throws CryptoError 'usage' for a component whose secret was taken, or that is no u16; 'missing-key' in an epoch that was
 * stored by a version without this exporter; 'removed', 'unsupported'
 */
export function safeExportSecret(group: Group, componentId: number): Uint8Array {
  assertActive(group);
  if (group.exporterTree === undefined) throw new CryptoError('missing-key', 'no application export secret');
  return takeExporterSecret(group.suite, group.exporterTree, componentId);
}
