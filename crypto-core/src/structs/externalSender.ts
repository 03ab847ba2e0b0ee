import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { type Credential, readCredential, writeCredential } from './credential.ts';

/** An entry of the external_senders extension (RFC 9420 section 12.1.8.1). */
export interface ExternalSender {
  readonly signatureKey: Uint8Array;
  readonly credential: Credential;
}

export function readExternalSender(r: Reader): ExternalSender {
  return { signatureKey: r.opaque(), credential: readCredential(r) };
}

export function writeExternalSender(w: Writer, sender: ExternalSender): void {
  w.opaque(sender.signatureKey);
  writeCredential(w, sender.credential);
}

export function readExternalSenders(r: Reader): readonly ExternalSender[] {
  return r.vector('externalSenders', readExternalSender);
}
