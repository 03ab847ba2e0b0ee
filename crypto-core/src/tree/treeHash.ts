/** Tree hashes (RFC 9420 section 7.8), computed once for each state of a subtree and kept in the tree. */
import { Writer } from '../codec/writer.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import { type LeafNode, writeLeafNode } from '../structs/leafNode.ts';
import { NodeTypeValue, type ParentNode, writeParentNode } from '../structs/node.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isInSubtree, isLeaf, leafOfNode, leftOf, rightOf } from './math.ts';
import type { UnverifiedRatchetTree } from './ratchetTree.ts';

function leafHash(suite: CipherSuite, index: LeafIndex, leaf: LeafNode | null): Uint8Array {
  const w = new Writer();
  w.u8(NodeTypeValue.leaf);
  w.u32(index);
  w.optional(leaf, writeLeafNode);
  return suite.hash(w.finish());
}

function parentNodeHash(
  suite: CipherSuite,
  parent: ParentNode | null,
  left: Uint8Array,
  right: Uint8Array,
): Uint8Array {
  const w = new Writer();
  w.u8(NodeTypeValue.parent);
  w.optional(parent, writeParentNode);
  w.opaque(left);
  w.opaque(right);
  return suite.hash(w.finish());
}

/** The tree hash of the subtree at `node`: O(log n) after a change of one leaf, a lookup otherwise. */
export function treeHash(suite: CipherSuite, tree: UnverifiedRatchetTree, node: NodeIndex): Uint8Array {
  const known = tree.cachedHash(node);
  if (known !== undefined) return known;
  const hash = isLeaf(node)
    ? leafHash(suite, leafOfNode(node), tree.leaf(leafOfNode(node)))
    : parentNodeHash(
        suite,
        tree.parent(node),
        treeHash(suite, tree, leftOf(node)),
        treeHash(suite, tree, rightOf(node)),
      );
  tree.cacheHash(node, hash);
  return hash;
}

export function rootHash(suite: CipherSuite, tree: UnverifiedRatchetTree): Uint8Array {
  return treeHash(suite, tree, tree.root);
}

/**
 * original_sibling_tree_hash (section 7.9): the tree hash of `node` as if the `unmerged` leaves were not in the tree.
 * Subtrees that hold none of them cost a lookup.
 */
export function originalTreeHash(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  node: NodeIndex,
  unmerged: readonly LeafIndex[],
): Uint8Array {
  const below = unmerged.filter((leaf) => isInSubtree(leaf, node));
  if (below.length === 0) return treeHash(suite, tree, node);
  if (isLeaf(node)) return leafHash(suite, leafOfNode(node), null);
  const parent = tree.parent(node);
  const original = parent && {
    ...parent,
    unmergedLeaves: parent.unmergedLeaves.filter((leaf) => !below.includes(leaf)),
  };
  return parentNodeHash(
    suite,
    original,
    originalTreeHash(suite, tree, leftOf(node), below),
    originalTreeHash(suite, tree, rightOf(node), below),
  );
}
