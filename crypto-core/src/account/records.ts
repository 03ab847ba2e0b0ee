import { concat, utf8 } from '../bytes.ts';
import { Writer } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { blake2bKeyed } from '../suite/sodium.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';

const HIDDEN_KEY_LABEL = utf8('Sinetti hidden record key v1');
const HIDDEN_KEY_LENGTH = 16;

/**
 * Seals a record for the place it is stored in: it opens nowhere else.
 * @param storageKey 32 bytes
 * @param store the name of the object store, or of any other collection
 * @param key the record's key within it
 */
export function sealRecord(
  storageKey: Uint8Array,
  store: string,
  key: string,
  plaintext: Uint8Array,
  env: Env,
): Uint8Array {
  return sealEnvelope(storageKey, place(store, key), plaintext, env);
}

/**
 * Opens a record that {@link sealRecord} sealed for the same place.
 * @throws CryptoError 'corrupt-record' when it was altered, moved or sealed under another key; 'unsupported'
 */
export function openRecord(
  storageKey: Uint8Array,
  store: string,
  key: string,
  sealed: Uint8Array,
): Uint8Array {
  return openEnvelope(storageKey, place(store, key), sealed, 'corrupt-record');
}

/**
 * Hides a record's key that would tell something in itself. The same key always gives the same bytes, and they tell
 * nothing without the storage key.
 * @returns 16 bytes
 */
export function hiddenRecordKey(storageKey: Uint8Array, store: string, key: string): Uint8Array {
  return blake2bKeyed(storageKey, concat(HIDDEN_KEY_LABEL, place(store, key)), HIDDEN_KEY_LENGTH);
}

function place(store: string, key: string): Uint8Array {
  const writer = new Writer(96);
  writer.opaque(utf8(store));
  writer.opaque(utf8(key));
  return writer.finish();
}
