/** Validation of a commit beyond its proposals (RFC 9420 sections 12.4 and 12.4.2). */
import { equalBytes } from '../bytes.ts';
import { findRepeated } from '../codec/order.ts';
import { CryptoError } from '../errors.ts';
import type { Commit } from '../structs/commit.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import type { ProposalType } from '../structs/proposal.ts';
import type { UpdatePath } from '../structs/updatePath.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import type { CommittedProposal } from './blame.ts';
import { checkLeafAuthenticity, checkLeafForm, type LeafContext } from './validateLeaf.ts';

const WITHOUT_PATH: ReadonlySet<ProposalType> = new Set<ProposalType>([
  'add',
  'psk',
  'reinit',
  'app-data-update',
]);

/** Returns whether RFC 9420 section 12.4, or the extensions draft, requires an UpdatePath. */
export function needsPath(proposals: readonly CommittedProposal[]): boolean {
  return proposals.length === 0 || proposals.some(({ proposal }) => !WITHOUT_PATH.has(proposal.type));
}

/**
 * COMMIT-01 (section 12.4): the path is there when it has to be.
 * @throws CryptoError 'invalid-commit'
 */
export function checkPathPresence(commit: Commit, proposals: readonly CommittedProposal[]): void {
  if (commit.path === null && needsPath(proposals)) {
    throw new CryptoError('invalid-commit', 'COMMIT-01: the path is missing');
  }
}

/**
 * COMMIT-02 (section 12.4.2): none of the path's public keys is in the tree, nor in the path twice.
 * The path's leaf is checked as LEAF-… of source `commit`.
 * @param tree with the proposals applied, and not yet the path
 * @param replaces the committer's leaf before; of an external commit, the leaf it removes, if any
 * @throws CryptoError 'invalid-commit', 'invalid-leaf', 'bad-signature', 'invalid-credential'
 */
export function validatePath(
  context: LeafContext,
  tree: RatchetTree,
  path: UpdatePath,
  committer: LeafIndex,
  replaces: LeafNode | null,
): void {
  checkLeafForm(context, path.leafNode, committer, 'commit', replaces);
  const keys = [path.leafNode.encryptionKey, ...path.nodes.map((node) => node.encryptionKey)];
  if (findRepeated(keys) !== null) throw new CryptoError('invalid-commit', 'COMMIT-02: a key occurs twice');
  // Seldom any: then a node has one of these keys, or one with the same end.
  const seen = keys.filter((key) => tree.keys.encryptionKeys(key) > 0);
  for (const [index] of seen.length > 0 ? tree.entries() : []) {
    const known = tree.encryptionKey(index);
    if (known !== null && seen.some((key) => equalBytes(key, known))) {
      throw new CryptoError('invalid-commit', `COMMIT-02: a key of the path is that of node ${index}`);
    }
  }
  checkLeafAuthenticity(context, path.leafNode, committer, replaces);
}
