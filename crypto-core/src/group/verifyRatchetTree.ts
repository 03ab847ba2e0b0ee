/** Verification of a whole ratchet tree when joining a group (RFC 9420 section 12.4.3.1). */
import { equalBytes } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import type { GroupInfo } from '../structs/groupInfo.ts';
import type { NodeIndex } from '../structs/indices.ts';
import type { ParentNode } from '../structs/node.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isInSubtree, nodeOfLeaf, parentOf } from '../tree/math.ts';
import { verifyParentHashes } from '../tree/parentHash.ts';
import type { RatchetTree, UnverifiedRatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import type { MemberCheck } from './hooks.ts';
import { checkLeafOfTree, checkTreeLeaves, type LeafContext } from './validateLeaf.ts';

/**
 * TREE-03 (section 7.1): `unmerged_leaves` is strictly ascending.
 * TREE-04: each entry is a leaf below the node that is not blank.
 * TREE-05: each node between such a leaf and this node that is not blank lists the leaf too.
 */
function checkUnmergedLeaves(tree: UnverifiedRatchetTree, index: NodeIndex, parent: ParentNode): void {
  let previous = -1;
  for (const leaf of parent.unmergedLeaves) {
    if (leaf <= previous) throw new CryptoError('invalid-tree', `TREE-03: order in node ${index}`);
    previous = leaf;
    if (leaf >= tree.leafCount || !isInSubtree(leaf, index) || tree.leaf(leaf) === null) {
      throw new CryptoError('invalid-tree', `TREE-04: unmerged leaf ${leaf} of node ${index}`);
    }
    for (let node = parentOf(nodeOfLeaf(leaf)); node !== index; node = parentOf(node)) {
      const between = tree.parent(node);
      if (between !== null && !between.unmergedLeaves.includes(leaf)) {
        throw new CryptoError('invalid-tree', `TREE-05: node ${node} doesn't list unmerged leaf ${leaf}`);
      }
    }
  }
}

/**
 * Verifies a tree that came with, or beside, a GroupInfo.
 * TREE-06: its root hash is the one in the GroupContext.
 * Parent hashes (TREE-02), leaves (LEAF-…) and the uniqueness of keys are checked here too.
 * @throws CryptoError 'invalid-tree', 'invalid-leaf', 'bad-signature', 'invalid-credential'
 */
export function verifyRatchetTree(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  info: GroupInfo,
  memberCheck: MemberCheck,
): RatchetTree {
  const { groupId, extensions, treeHash } = info.groupContext;
  if (!equalBytes(rootHash(suite, tree), treeHash)) {
    throw new CryptoError('invalid-tree', 'TREE-06: root hash');
  }
  for (const [index, node] of tree.entries()) {
    if (node.type === 'parent') checkUnmergedLeaves(tree, index, node.parent);
  }
  verifyParentHashes(suite, tree);
  checkTreeLeaves(tree);
  const context: LeafContext = { suite, groupId, groupExtensions: extensions, memberCheck };
  for (const { leafIndex, leaf } of tree.members()) checkLeafOfTree(context, leaf, leafIndex);
  return tree as RatchetTree;
}
