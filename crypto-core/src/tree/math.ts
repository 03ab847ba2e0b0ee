/**
 * Arithmetic of the array representation of a complete binary tree (RFC 9420 appendix C). Leaf counts are powers of
 * two: section 7.7 keeps every ratchet tree full. All of it is closed-form; nothing walks from the root. A vector of at
 * most 2^30 bytes can't hold a tree whose node indices leave 32-bit integer arithmetic.
 */
import { type LeafIndex, type NodeIndex, toLeafIndex, toNodeIndex } from '../structs/indices.ts';

export function nodeOfLeaf(leaf: LeafIndex): NodeIndex {
  return toNodeIndex(leaf * 2);
}

/** @param node an even (leaf) node index. */
export function leafOfNode(node: NodeIndex): LeafIndex {
  return toLeafIndex(node >>> 1);
}

export function isLeaf(node: NodeIndex): boolean {
  return (node & 1) === 0;
}

/** Height above the leaves: the number of trailing one bits. */
export function level(node: NodeIndex): number {
  return 31 - Math.clz32(~node & (node + 1));
}

export function nodeCount(leafCount: number): number {
  return leafCount === 0 ? 0 : 2 * leafCount - 1;
}

/** The smallest power of two that is at least `count`. */
export function fullLeafCount(count: number): number {
  let full = 1;
  while (full < count) full *= 2;
  return full;
}

export function rootOf(leafCount: number): NodeIndex {
  return toNodeIndex(leafCount - 1);
}

/** @param node a parent node. */
export function leftOf(node: NodeIndex): NodeIndex {
  return toNodeIndex(node ^ (1 << (level(node) - 1)));
}

/** @param node a parent node. */
export function rightOf(node: NodeIndex): NodeIndex {
  return toNodeIndex(node ^ (3 << (level(node) - 1)));
}

/** @param node any node but the root. */
export function parentOf(node: NodeIndex): NodeIndex {
  const height = level(node);
  return toNodeIndex((node | (1 << height)) & ~(1 << (height + 1)));
}

/** @param node any node but the root. */
export function siblingOf(node: NodeIndex): NodeIndex {
  const parent = parentOf(node);
  return node < parent ? rightOf(parent) : leftOf(parent);
}

/** The ancestors of a leaf, from its parent up to the root. */
export function directPath(leaf: LeafIndex, leafCount: number): NodeIndex[] {
  const path: NodeIndex[] = [];
  const root = rootOf(leafCount);
  for (let node = nodeOfLeaf(leaf); node !== root; ) {
    node = parentOf(node);
    path.push(node);
  }
  return path;
}

/** The siblings of a leaf and of its ancestors below the root, in the order of `directPath`. */
export function copath(leaf: LeafIndex, leafCount: number): NodeIndex[] {
  const path: NodeIndex[] = [];
  const root = rootOf(leafCount);
  for (let node = nodeOfLeaf(leaf); node !== root; node = parentOf(node)) path.push(siblingOf(node));
  return path;
}

/** The leaves below `node`, both included (a leaf node holds itself). */
export function leavesBelow(node: NodeIndex): { readonly first: LeafIndex; readonly last: LeafIndex } {
  const span = (1 << level(node)) - 1;
  return { first: toLeafIndex((node - span) >>> 1), last: toLeafIndex((node + span) >>> 1) };
}

export function isInSubtree(leaf: LeafIndex, node: NodeIndex): boolean {
  const { first, last } = leavesBelow(node);
  return leaf >= first && leaf <= last;
}
