import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import { readMls10, writeMls10 } from './protocolVersion.ts';

/** The state that all members of an epoch agree on (RFC 9420 section 8.1). */
export interface GroupContext {
  readonly cipherSuite: number;
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly treeHash: Uint8Array;
  readonly confirmedTranscriptHash: Uint8Array;
  readonly extensions: readonly Extension[];
}

export function readGroupContext(r: Reader): GroupContext {
  readMls10(r);
  return {
    cipherSuite: r.u16(),
    groupId: r.groupId(),
    epoch: r.u64(),
    treeHash: r.opaque(),
    confirmedTranscriptHash: r.opaque(),
    extensions: readExtensions(r),
  };
}

export function writeGroupContext(w: Writer, context: GroupContext): void {
  writeMls10(w);
  w.u16(context.cipherSuite);
  w.opaque(context.groupId);
  w.u64(context.epoch);
  w.opaque(context.treeHash);
  w.opaque(context.confirmedTranscriptHash);
  writeExtensions(w, context.extensions);
}
