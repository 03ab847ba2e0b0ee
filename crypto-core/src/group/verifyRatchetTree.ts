/** Verification of a whole ratchet tree when joining a group (RFC 9420 section 12.4.3.1). */
import { equalBytes } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { between } from '../codec/order.ts';
import { CryptoError } from '../errors.ts';
import type { GroupInfo } from '../structs/groupInfo.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import type { ParentNode } from '../structs/node.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isInSubtree, isLeaf, leavesBelow, leftOf, rightOf } from '../tree/math.ts';
import { verifyParentHashes } from '../tree/parentHash.ts';
import type { RatchetTree, UnverifiedRatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import type { JoinProgress, MemberCheck } from './hooks.ts';
import {
  checkAppData,
  checkExternalSenders,
  checkLeafAuthenticity,
  checkLeafForm,
  checkTreeLeaves,
  type LeafContext,
} from './validateLeaf.ts';

/** Leaves whose signatures take some 20 ms. */
const PROGRESS_STEP = 256;

/** The caller's, for the tree of a group that it joins. */
export interface TreeHooks {
  readonly memberCheck: MemberCheck;
  readonly limits?: Limits;
  readonly progress?: JoinProgress;
}

function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-tree', `${check}: ${detail}`);
}

/**
 * TREE-03 (section 7.1): `unmerged_leaves` is strictly ascending.
 * TREE-04: each entry is a leaf below the node that is not blank.
 */
function checkUnmergedLeaves(tree: UnverifiedRatchetTree, index: NodeIndex, parent: ParentNode): void {
  let previous = -1;
  for (const leaf of parent.unmergedLeaves) {
    if (leaf <= previous) refuse('TREE-03', `order in node ${index}`);
    previous = leaf;
    if (leaf >= tree.leafCount || !isInSubtree(leaf, index) || tree.leaf(leaf) === null) {
      refuse('TREE-04', `unmerged leaf ${leaf} of node ${index}`);
    }
  }
}

/**
 * TREE-05: a node that is not blank lists each leaf below it that a node above it lists. It is enough to compare each
 * node with the nearest one above it, so that every list is gone through twice, however many nodes are between.
 */
function checkUnmergedBelow(tree: UnverifiedRatchetTree, node: NodeIndex, above: ParentNode | null): void {
  if (isLeaf(node)) return;
  const parent = tree.parent(node);
  if (parent !== null && above !== null) {
    const { first, last } = leavesBelow(node);
    const listed = new Set<LeafIndex>(parent.unmergedLeaves);
    const missing = between(above.unmergedLeaves, first, last).find((leaf) => !listed.has(leaf));
    if (missing !== undefined) refuse('TREE-05', `node ${node} doesn't list unmerged leaf ${missing}`);
  }
  checkUnmergedBelow(tree, leftOf(node), parent ?? above);
  checkUnmergedBelow(tree, rightOf(node), parent ?? above);
}

/**
 * Checks what costs no cryptography.
 * TREE-07 (section 5.1.1): the key of a parent node is one that a path can be encrypted to.
 */
function checkForm(context: LeafContext, tree: UnverifiedRatchetTree): void {
  for (const [index, node] of tree.entries()) {
    if (node.type !== 'parent') continue;
    if (!context.suite.kem.isPublicKey(node.parent.encryptionKey)) refuse('TREE-07', `key of node ${index}`);
    checkUnmergedLeaves(tree, index, node.parent);
  }
  checkUnmergedBelow(tree, tree.root, null);
  for (const { leafIndex, leaf } of tree.members()) {
    checkLeafForm(context, leaf, leafIndex, leaf.source.type);
  }
  checkTreeLeaves(tree);
}

/**
 * Verifies a tree that came with, or beside, a GroupInfo. The leaf of its signer comes first, because all else costs
 * more, and the application may not accept them. The form of all nodes follows, then hashes, and last the other leaves'
 * signatures.
 * TREE-06: its root hash is the one in the GroupContext.
 * Parent hashes (TREE-02), leaves (LEAF-…), external senders (CRED-03) and the uniqueness of keys are checked here too.
 * @throws CryptoError 'invalid-tree', 'invalid-leaf', 'bad-signature', 'invalid-credential', 'malformed', 'unsupported'
 */
export function verifyRatchetTree(
  suite: CipherSuite,
  tree: UnverifiedRatchetTree,
  info: GroupInfo,
  { memberCheck, limits, progress }: TreeHooks,
): RatchetTree {
  const { groupId, extensions, treeHash } = info.groupContext;
  const context: LeafContext = { suite, groupId, groupExtensions: extensions, memberCheck, limits };
  const signer = tree.leaf(info.signer);
  if (signer !== null) {
    checkLeafForm(context, signer, info.signer, signer.source.type);
    checkLeafAuthenticity(context, signer, info.signer, null);
  }
  checkForm(context, tree);
  if (!equalBytes(rootHash(suite, tree), treeHash)) refuse('TREE-06', 'root hash');
  verifyParentHashes(suite, tree);
  const members = [...tree.members()];
  for (const [at, { leafIndex, leaf }] of members.entries()) {
    if (leafIndex !== info.signer) checkLeafAuthenticity(context, leaf, leafIndex, null);
    const verified = at + 1;
    if (verified % PROGRESS_STEP === 0 || verified === members.length) progress?.(verified, members.length);
  }
  checkExternalSenders(context, 'CRED-03');
  checkAppData(context);
  return tree as RatchetTree;
}
