/** Transcript hashes and the confirmation tag (RFC 9420 sections 8.2 and 6.1). */
import { concat } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { type FramedContent, writeFramedContent } from '../structs/framedContent.ts';
import { type WireFormat, WireFormatValue } from '../structs/wireFormat.ts';
import type { CipherSuite } from '../suite/suites.ts';

/** The part of a commit that the confirmed transcript hash covers: all but its confirmation tag. */
export interface SignedCommit {
  readonly wireFormat: WireFormat;
  readonly content: FramedContent;
  readonly signature: Uint8Array;
}

/** Computes the confirmed_transcript_hash of the epoch that `commit` starts. */
export function confirmedTranscriptHash(
  suite: CipherSuite,
  interimTranscriptHashBefore: Uint8Array,
  commit: SignedCommit,
): Uint8Array {
  const input = encode(commit, (writer, value) => {
    writer.u16(WireFormatValue[value.wireFormat]);
    writeFramedContent(writer, value.content);
    writer.opaque(value.signature);
  });
  return suite.hash(concat(interimTranscriptHashBefore, input));
}

/** Computes the interim_transcript_hash of an epoch from its confirmed transcript hash and confirmation tag. */
export function interimTranscriptHash(
  suite: CipherSuite,
  confirmed: Uint8Array,
  confirmationTag: Uint8Array,
): Uint8Array {
  return suite.hash(
    concat(
      confirmed,
      encode(confirmationTag, (writer, tag) => writer.opaque(tag)),
    ),
  );
}

/** Computes the confirmation_tag of an epoch; compare it in constant time. */
export function confirmationTag(
  suite: CipherSuite,
  confirmationKey: Uint8Array,
  confirmedHash: Uint8Array,
): Uint8Array {
  return suite.mac(confirmationKey, confirmedHash);
}
