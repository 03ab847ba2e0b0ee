import type { Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import { type LeafNode, readLeafNode, writeLeafNode } from './leafNode.ts';
import { readMls10, writeMls10 } from './protocolVersion.ts';
import type { Own, Verified } from './trusted.ts';

/** KeyPackageTBS: everything the signature covers under the label "KeyPackageTBS". */
export interface KeyPackageContent {
  readonly cipherSuite: number;
  readonly initKey: Uint8Array;
  readonly leafNode: LeafNode;
  readonly extensions: readonly Extension[];
}

/** A KeyPackage (RFC 9420 section 10) as it was decoded: anybody may have made it. */
export interface UnverifiedKeyPackage extends KeyPackageContent {
  readonly signature: Uint8Array;
}

/** A KeyPackage that `verifyKeyPackage` accepted for a group: its client can be added to that group. */
export type KeyPackage = Verified<UnverifiedKeyPackage>;

/** A KeyPackage whose private keys this client holds. */
export type OwnKeyPackage = Own<UnverifiedKeyPackage>;

export function readKeyPackage(r: Reader): UnverifiedKeyPackage {
  readMls10(r);
  return {
    cipherSuite: r.u16(),
    initKey: r.opaque(),
    leafNode: readLeafNode(r),
    extensions: readExtensions(r),
    signature: r.opaque(),
  };
}

function writeKeyPackageContent(w: Writer, keyPackage: KeyPackageContent): void {
  writeMls10(w);
  w.u16(keyPackage.cipherSuite);
  w.opaque(keyPackage.initKey);
  writeLeafNode(w, keyPackage.leafNode);
  writeExtensions(w, keyPackage.extensions);
}

export function writeKeyPackage(w: Writer, keyPackage: UnverifiedKeyPackage): void {
  writeKeyPackageContent(w, keyPackage);
  w.opaque(keyPackage.signature);
}

export function keyPackageTBS(keyPackage: KeyPackageContent): Uint8Array {
  return encode(keyPackage, writeKeyPackageContent);
}
