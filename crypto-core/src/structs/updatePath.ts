import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { type HpkeCiphertext, readHpkeCiphertext, writeHpkeCiphertext } from './hpkeCiphertext.ts';
import { type LeafNode, readLeafNode, writeLeafNode } from './leafNode.ts';

/** One node of the filtered direct path: its new key, and its path secret for each node of the copath resolution. */
export interface UpdatePathNode {
  readonly encryptionKey: Uint8Array;
  readonly encryptedPathSecret: readonly HpkeCiphertext[];
}

/** RFC 9420 section 7.6. */
export interface UpdatePath {
  readonly leafNode: LeafNode;
  readonly nodes: readonly UpdatePathNode[];
}

export function readUpdatePathNode(r: Reader): UpdatePathNode {
  return { encryptionKey: r.opaque(), encryptedPathSecret: r.vector('leaves', readHpkeCiphertext) };
}

export function writeUpdatePathNode(w: Writer, node: UpdatePathNode): void {
  w.opaque(node.encryptionKey);
  w.vector(node.encryptedPathSecret, writeHpkeCiphertext);
}

export function readUpdatePath(r: Reader): UpdatePath {
  return { leafNode: readLeafNode(r), nodes: r.vector('pathNodes', readUpdatePathNode) };
}

export function writeUpdatePath(w: Writer, path: UpdatePath): void {
  writeLeafNode(w, path.leafNode);
  w.vector(path.nodes, writeUpdatePathNode);
}
