import type { Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import { type GroupContext, readGroupContext, writeGroupContext } from './groupContext.ts';
import { type LeafIndex, toLeafIndex } from './indices.ts';
import type { Verified } from './trusted.ts';

/** GroupInfoTBS: everything the signature covers under the label "GroupInfoTBS". */
export interface GroupInfoContent {
  readonly groupContext: GroupContext;
  readonly extensions: readonly Extension[];
  readonly confirmationTag: Uint8Array;
  readonly signer: LeafIndex;
}

/** A GroupInfo (RFC 9420 section 12.4.3) as it was decoded: anybody may have made it. */
export interface UnverifiedGroupInfo extends GroupInfoContent {
  readonly signature: Uint8Array;
}

/** A GroupInfo whose signature `verifyGroupInfo` found to hold. */
export type GroupInfo = Verified<UnverifiedGroupInfo>;

export function readGroupInfo(r: Reader): UnverifiedGroupInfo {
  return {
    groupContext: readGroupContext(r),
    extensions: readExtensions(r),
    confirmationTag: r.opaque(),
    signer: toLeafIndex(r.u32()),
    signature: r.opaque(),
  };
}

function writeGroupInfoContent(w: Writer, info: GroupInfoContent): void {
  writeGroupContext(w, info.groupContext);
  writeExtensions(w, info.extensions);
  w.opaque(info.confirmationTag);
  w.u32(info.signer);
}

export function writeGroupInfo(w: Writer, info: UnverifiedGroupInfo): void {
  writeGroupInfoContent(w, info);
  w.opaque(info.signature);
}

export function groupInfoTBS(info: GroupInfoContent): Uint8Array {
  return encode(info, writeGroupInfoContent);
}
