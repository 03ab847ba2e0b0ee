/** The ratchet tree as nodes that are known by their hashes, so that of each change only the changed ones travel. */
import { equalBytes } from '../bytes.ts';
import { Writer } from '../codec/writer.ts';
import type { NodeIndex } from '../structs/indices.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isLeaf, leftOf, nodeCount, rightOf } from '../tree/math.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import { rootHash, treeHash, writeTreeHashInput } from '../tree/treeHash.ts';
import type { Group } from './state.ts';

/**
 * Returns the nodes of a group's tree that another tree of the same group doesn't have, each as the TreeHashInput of RFC 9420
 * section 7.8: children before parents, and the root last. The hash of an input, by the suite's hash, is the one by which its
 * parent names it, and the last one's is the tree hash of the GroupContext. Blank nodes are nodes, too.
 * @param known an epoch of the group, or the tree that a joiner came by, whose nodes are where these go already; else all
 * nodes are returned
 */
export function ratchetTreeNodes({ suite, tree }: Group, known?: Pick<Group, 'tree'>): Uint8Array[] {
  const nodes: Uint8Array[] = [];
  collect(suite, tree, tree.root, known?.tree ?? null, nodes);
  return nodes;
}

function collect(
  suite: CipherSuite,
  tree: RatchetTree,
  node: NodeIndex,
  known: RatchetTree | null,
  nodes: Uint8Array[],
): void {
  // A subtree keeps its index as the tree grows and shrinks, so that what is the same is at the same place.
  const isThere = known !== null && node < nodeCount(known.leafCount);
  if (isThere && equalBytes(treeHash(suite, known, node), treeHash(suite, tree, node))) return;
  if (!isLeaf(node)) {
    collect(suite, tree, leftOf(node), known, nodes);
    collect(suite, tree, rightOf(node), known, nodes);
  }
  const w = new Writer();
  writeTreeHashInput(w, suite, tree, node);
  nodes.push(w.finish());
}

/** Returns the tree hash of a group's epoch (RFC 9420 section 7.8), the root of its nodes. */
export function ratchetTreeRoot({ suite, tree }: Group): Uint8Array {
  return rootHash(suite, tree);
}

/**
 * Returns how many keys a path of the own leaf would be encrypted to in this epoch. New members of the same commit have theirs
 * in the Welcome. A commit that only adds needs no path (RFC 9420 section 12.4); in a tree of which few members have
 * committed, it would be most of the commit.
 */
export function pathRecipients({ ownLeaf, tree }: Group): number {
  return tree
    .filteredDirectPath(ownLeaf)
    .reduce((sum, { copathChild }) => sum + tree.resolution(copathChild).length, 0);
}
