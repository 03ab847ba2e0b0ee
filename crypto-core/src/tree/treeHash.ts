/** Tree hashes (RFC 9420 section 7.8), computed once for each state of a subtree and kept in the tree. */
import { between } from '../codec/order.ts';
import { Writer } from '../codec/writer.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import { type LeafNode, writeLeafNode } from '../structs/leafNode.ts';
import { NodeTypeValue, type ParentNode, writeParentNode } from '../structs/node.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isLeaf, leafOfNode, leavesBelow, leftOf, rightOf } from './math.ts';
import type { UnverifiedRatchetTree } from './ratchetTree.ts';

/** LeafNode's TreeHashInput (RFC 9420 section 7.8). */
function writeLeafInput(w: Writer, index: LeafIndex, leaf: LeafNode | null): void {
  w.u8(NodeTypeValue.leaf);
  w.u32(index);
  w.optional(leaf, writeLeafNode);
}

/** ParentNode's. */
function writeParentInput(w: Writer, parent: ParentNode | null, left: Uint8Array, right: Uint8Array): void {
  w.u8(NodeTypeValue.parent);
  w.optional(parent, writeParentNode);
  w.opaque(left);
  w.opaque(right);
}

function leafHash(suite: CipherSuite, index: LeafIndex, leaf: LeafNode | null, w: Writer): Uint8Array {
  w.clear();
  writeLeafInput(w, index, leaf);
  return suite.hash(w.view());
}

function parentNodeHash(
  suite: CipherSuite,
  parent: ParentNode | null,
  left: Uint8Array,
  right: Uint8Array,
  w: Writer,
): Uint8Array {
  w.clear();
  writeParentInput(w, parent, left, right);
  return suite.hash(w.view());
}

/** Writes what the tree hash of a node is the hash of: its TreeHashInput (section 7.8). */
export function writeTreeHashInput(
  w: Writer,
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  node: NodeIndex,
): void {
  if (isLeaf(node)) return writeLeafInput(w, leafOfNode(node), tree.leaf(leafOfNode(node)));
  const left = treeHash(suite, tree, leftOf(node));
  const right = treeHash(suite, tree, rightOf(node));
  writeParentInput(w, tree.parent(node), left, right);
}

/**
 * The tree hash of the subtree at `node`: O(log n) after a change of one leaf, a lookup otherwise.
 * @param w cleared for each node
 */
export function treeHash(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  node: NodeIndex,
  w = new Writer(1024),
): Uint8Array {
  const known = tree.cachedHash(node);
  if (known !== undefined) return known;
  let hash;
  if (isLeaf(node)) {
    hash = leafHash(suite, leafOfNode(node), tree.leaf(leafOfNode(node)), w);
  } else {
    const left = treeHash(suite, tree, leftOf(node), w);
    const right = treeHash(suite, tree, rightOf(node), w);
    hash = parentNodeHash(suite, tree.parent(node), left, right, w);
  }
  tree.cacheHash(node, hash);
  return hash;
}

export function rootHash(suite: CipherSuite, tree: UnverifiedRatchetTree): Uint8Array {
  return treeHash(suite, tree, tree.root);
}

/**
 * Hashes of subtrees without some of their leaves, of one verification of a tree in which TREE-05 holds: the unmerged
 * leaves that a node lists below a subtree hold those that each node above it lists there. So their number tells them
 * apart, and a hash that is kept by node and number is computed once, for however many nodes above.
 */
export type OriginalHashes = Map<number, Uint8Array>;

/**
 * original_sibling_tree_hash (section 7.9): the tree hash of `node` as if the `unmerged` leaves were not in the tree.
 * Subtrees that hold none of them cost a lookup.
 * @param unmerged in ascending order
 * @param known for hashes of this tree; filled here
 * @param w cleared for each node
 */
export function originalTreeHash(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  node: NodeIndex,
  unmerged: readonly LeafIndex[],
  known: OriginalHashes = new Map(),
  w = new Writer(1024),
): Uint8Array {
  const { first, last } = leavesBelow(node);
  const below = between(unmerged, first, last);
  if (below.length === 0) return treeHash(suite, tree, node, w);
  if (isLeaf(node)) return leafHash(suite, leafOfNode(node), null, w);
  const key = node * tree.leafCount + below.length;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const parent = tree.parent(node);
  const gone = new Set(below);
  const original = parent && {
    ...parent,
    unmergedLeaves: parent.unmergedLeaves.filter((leaf) => !gone.has(leaf)),
  };
  const left = originalTreeHash(suite, tree, leftOf(node), below, known, w);
  const right = originalTreeHash(suite, tree, rightOf(node), below, known, w);
  const hash = parentNodeHash(suite, original, left, right, w);
  known.set(key, hash);
  return hash;
}
