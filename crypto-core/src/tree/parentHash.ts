/** Parent hashes (RFC 9420 section 7.9), which bind the keys above a leaf to that leaf's signature. */
import { EMPTY, equalBytes } from '../bytes.ts';
import { between } from '../codec/order.ts';
import { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import type { Node, ParentNode } from '../structs/node.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isLeaf, leafOfNode, leavesBelow, leftOf, rightOf } from './math.ts';
import type { PathStep, RatchetTree, UnverifiedRatchetTree } from './ratchetTree.ts';
import { type OriginalHashes, originalTreeHash } from './treeHash.ts';

/** Computes the parent hash of `parent` with the given copath child. */
function parentHash(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  parent: ParentNode,
  copathChild: NodeIndex,
  known?: OriginalHashes,
): Uint8Array {
  const w = new Writer();
  w.opaque(parent.encryptionKey);
  w.opaque(parent.parentHash);
  w.opaque(originalTreeHash(suite, tree, copathChild, parent.unmergedLeaves, known));
  return suite.hash(w.finish());
}

/**
 * Sets the keys of a filtered direct path, from the root down because each parent hash covers the one above it.
 * The path must have been blanked before.
 * @param publicKeys one for each step, from the leaf up.
 * @returns the parent hash that the leaf of this path has to carry: empty when the path has no steps.
 */
export function setPathKeys(
  suite: CipherSuite,
  tree: RatchetTree,
  steps: readonly PathStep[],
  publicKeys: readonly Uint8Array[],
): Uint8Array {
  let above: Uint8Array = EMPTY;
  for (const [index, { node, copathChild }] of [...steps.entries()].reverse()) {
    const encryptionKey = publicKeys[index];
    if (encryptionKey === undefined) throw new CryptoError('usage', 'a path needs a key for each step');
    const parent: ParentNode = { encryptionKey, parentHash: above, unmergedLeaves: [] };
    tree.setParent(node, parent);
    above = parentHash(suite, tree, parent, copathChild);
  }
  return above;
}

function parentHashOf(node: Node | null): Uint8Array | null {
  if (node === null) return null;
  if (node.type === 'parent') return node.parent.parentHash;
  return node.leaf.source.type === 'commit' ? node.leaf.source.parentHash : null;
}

/**
 * Returns whether some node below `child` was set in the same UpdatePath as `parent` (section 7.9.2): that node carries
 * the parent hash, and all other nodes that `child` resolves to are leaves that `parent` lists as unmerged.
 */
function isChained(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  parent: ParentNode,
  child: NodeIndex,
  sibling: NodeIndex,
  known: OriginalHashes,
): boolean {
  const { first, last } = leavesBelow(child);
  const unmerged = new Set<LeafIndex>(between(parent.unmergedLeaves, first, last));
  const resolution = tree.resolution(child);
  if (resolution.length !== unmerged.size + 1) return false;
  const merged = resolution.filter((node) => !isLeaf(node) || !unmerged.has(leafOfNode(node)));
  const [descendant] = merged;
  if (descendant === undefined || merged.length !== 1) return false;
  const carried = parentHashOf(tree.node(descendant));
  return carried !== null && equalBytes(carried, parentHash(suite, tree, parent, sibling, known));
}

/**
 * TREE-02 (sections 7.9.2 and 12.4.3.1): each parent node that is not blank is parent-hash valid, by exactly one chain.
 * @param tree whose unmerged leaves ascend (TREE-03), and are listed by the nodes between too (TREE-05)
 * @throws CryptoError 'invalid-tree'
 */
export function verifyParentHashes(suite: CipherSuite, tree: UnverifiedRatchetTree): void {
  const known: OriginalHashes = new Map();
  for (const [index, node] of tree.entries()) {
    if (node.type !== 'parent') continue;
    const left = leftOf(index);
    const right = rightOf(index);
    const byLeft = isChained(suite, tree, node.parent, left, right, known);
    const byRight = isChained(suite, tree, node.parent, right, left, known);
    if (byLeft === byRight) throw new CryptoError('invalid-tree', `TREE-02: parent hash of node ${index}`);
  }
}
