import type { Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import { type LeafNode, readLeafNode, writeLeafNode } from './leafNode.ts';
import { readMls10, writeMls10 } from './protocolVersion.ts';

/** KeyPackageTBS: everything the signature covers under the label "KeyPackageTBS". */
export interface KeyPackageContent {
  readonly cipherSuite: number;
  readonly initKey: Uint8Array;
  readonly leafNode: LeafNode;
  readonly extensions: readonly Extension[];
}

/** RFC 9420 section 10. */
export interface KeyPackage extends KeyPackageContent {
  readonly signature: Uint8Array;
}

export function readKeyPackage(r: Reader): KeyPackage {
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

export function writeKeyPackage(w: Writer, keyPackage: KeyPackage): void {
  writeKeyPackageContent(w, keyPackage);
  w.opaque(keyPackage.signature);
}

export function keyPackageTBS(keyPackage: KeyPackageContent): Uint8Array {
  return encode(keyPackage, writeKeyPackageContent);
}
