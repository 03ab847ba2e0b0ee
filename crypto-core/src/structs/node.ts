import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type LeafIndex, toLeafIndex } from './indices.ts';
import { type LeafNode, readLeafNode, writeLeafNode } from './leafNode.ts';

/** RFC 9420 section 7.1. */
export interface ParentNode {
  readonly encryptionKey: Uint8Array;
  readonly parentHash: Uint8Array;
  /** Strictly ascending (check `TREE-03`). */
  readonly unmergedLeaves: readonly LeafIndex[];
}

/** A node as the ratchet_tree extension carries it (RFC 9420 section 12.4.3.3). */
export type Node =
  | { readonly type: 'leaf'; readonly leaf: LeafNode }
  | { readonly type: 'parent'; readonly parent: ParentNode };

export const NodeTypeValue = { leaf: 1, parent: 2 } as const;

export function readParentNode(r: Reader): ParentNode {
  return {
    encryptionKey: r.opaque(),
    parentHash: r.opaque(),
    unmergedLeaves: r.vector('leaves', (item) => toLeafIndex(item.u32())),
  };
}

export function writeParentNode(w: Writer, node: ParentNode): void {
  w.opaque(node.encryptionKey);
  w.opaque(node.parentHash);
  w.vector(node.unmergedLeaves, (item, leafIndex) => item.u32(leafIndex));
}

export function readNode(r: Reader): Node {
  const type = r.u8();
  switch (type) {
    case NodeTypeValue.leaf:
      return { type: 'leaf', leaf: readLeafNode(r) };
    case NodeTypeValue.parent:
      return { type: 'parent', parent: readParentNode(r) };
    default:
      throw new CryptoError('malformed', `node type ${type}`);
  }
}

export function writeNode(w: Writer, node: Node): void {
  w.u8(NodeTypeValue[node.type]);
  if (node.type === 'leaf') writeLeafNode(w, node.leaf);
  else writeParentNode(w, node.parent);
}

/** `optional<Node> ratchet_tree<V>`, blank nodes as null. */
export function readRatchetTreeNodes(r: Reader): (Node | null)[] {
  return r.vector('nodes', (item) => item.optional(readNode));
}

export function writeRatchetTreeNodes(w: Writer, nodes: readonly (Node | null)[]): void {
  w.vector(nodes, (item, node) => item.optional(node, writeNode));
}
