import { utf8 } from '../bytes.ts';
import { Writer } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';

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

/** @throws CryptoError 'corrupt-record' when it was altered, moved or sealed under another key; 'unsupported' */
export function openRecord(
  storageKey: Uint8Array,
  store: string,
  key: string,
  sealed: Uint8Array,
): Uint8Array {
  return openEnvelope(storageKey, place(store, key), sealed, 'corrupt-record');
}

function place(store: string, key: string): Uint8Array {
  const writer = new Writer(96);
  writer.opaque(utf8(store));
  writer.opaque(utf8(key));
  return writer.finish();
}
