/** Processing the commits of others (RFC 9420 section 12.4.2). */
import { equalBytes, toHex, wipe } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { CryptoError } from '../errors.ts';
import type { VerifiedContent } from '../framing/contentAuth.ts';
import { unprotectPrivateMessage } from '../framing/privateMessage.ts';
import { unprotectPublicMessage } from '../framing/publicMessage.ts';
import { externalKeyPair, receiveExternalInit } from '../schedule/keySchedule.ts';
import { confirmedTranscriptHash } from '../schedule/transcript.ts';
import type { Commit } from '../structs/commit.ts';
import type { ContentType, Sender } from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import { decodeMlsMessage } from '../structs/mlsMessage.ts';
import type { UpdatePath } from '../structs/updatePath.ts';
import { nodeOfLeaf } from '../tree/math.ts';
import type { PathStep, RatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import { decryptPath, keysInTree, mergePath, type PrivateKeys } from '../tree/treekem.ts';
import type { AppDataUpdates } from './appData.ts';
import { checkAuthenticatedData } from './components.ts';
import { advanceEpoch } from './epoch.ts';
import type { CommitPolicy, MemberCheck, MemberView, PskLookup } from './hooks.ts';
import { checkPolicy } from './policy.ts';
import {
  freshLeaves,
  leafProposals,
  type ProposalEffects,
  proposedChanges,
  resolveProposals,
  type StoredProposal,
  statusAfter,
} from './proposalList.ts';
import { pskSecretOf, withOwnResumptionPsk } from './psks.ts';
import { publicKeysOf, signatureKeyIn, tentativeKeysOf } from './senders.ts';
import { assertActive, encodeContext, type Group, memberLeaf, memberView, nextEpoch } from './state.ts';
import { checkPathPresence, validatePath } from './validateCommit.ts';
import { checkFreshLeaves, type LeafContext } from './validateLeaf.ts';
import { applyProposals, checkProposalTypes, validateProposalList } from './validateProposals.ts';

export interface ProcessCommitArgs {
  readonly memberCheck: MemberCheck;
  readonly policy: CommitPolicy;
  /** Proposals received in this epoch: a commit may refer to them. */
  readonly proposals?: readonly StoredProposal[];
  readonly psks?: PskLookup;
  /** By `applyingAppData`, for the components that AppDataUpdates change; without it, they are refused. */
  readonly appData?: AppDataUpdates;
  /** The most of each thing that a commit may have; those of all members should be the same. */
  readonly limits?: Limits;
}

export interface ProcessedCommit {
  /** The next epoch; when `selfRemoved`, the last one, with status `removed`. */
  readonly group: Group;
  /** The committer's leaf; for an external committer, the leaf it now has. */
  readonly sender: LeafIndex;
  readonly external: boolean;
  readonly adds: readonly MemberView[];
  readonly removes: readonly MemberView[];
  readonly selfRemoved: boolean;
  readonly authenticatedData: Uint8Array;
}

interface VerifiedCommit {
  readonly content: VerifiedContent;
  readonly commit: Commit;
  readonly confirmationTag: Uint8Array;
}

function assertContentType(type: ContentType): void {
  if (type !== 'commit') throw new CryptoError('malformed', `${type} instead of a commit`);
}

/** Opens a commit without using up its key: see `tentativeKeysOf`. */
function openCommit(group: Group, bytes: Uint8Array, limits: Limits | undefined): VerifiedCommit {
  const message = decodeMlsMessage(bytes, limits);
  let content: VerifiedContent;
  if (message.wireFormat === 'private-message') {
    assertContentType(message.privateMessage.contentType);
    checkAuthenticatedData(group.context, message.privateMessage);
    const keys = tentativeKeysOf(group);
    const signatureKeyOf = signatureKeyIn(group);
    ({ content } = unprotectPrivateMessage(
      group.suite,
      message.privateMessage,
      keys,
      signatureKeyOf,
      group.ownLeaf,
      limits,
    ));
  } else if (message.wireFormat === 'public-message') {
    assertContentType(message.publicMessage.content.content.type);
    checkAuthenticatedData(group.context, message.publicMessage.content);
    content = unprotectPublicMessage(
      group.suite,
      message.publicMessage,
      publicKeysOf(group),
      signatureKeyIn(group),
    );
    const { sender } = content.content;
    if (sender.type === 'member' && sender.leafIndex === group.ownLeaf) throw new CryptoError('own-message');
  } else {
    throw new CryptoError('malformed', `${message.wireFormat} instead of a commit`);
  }
  const { confirmationTag } = content.auth;
  if (content.content.content.type !== 'commit' || confirmationTag === null) {
    throw new CryptoError('malformed', 'not a commit');
  }
  return { content, commit: content.content.content.commit, confirmationTag };
}

interface Committer {
  readonly leafIndex: LeafIndex;
  readonly external: boolean;
  /** The committer's leaf before the commit; for an external committer, the leaf it removes, if any. */
  readonly replaces: LeafNode | null;
}

/** @param tree with the proposals applied; extended when an external committer needs a new leaf */
function findCommitter(group: Group, tree: RatchetTree, sender: Sender, effects: ProposalEffects): Committer {
  if (sender.type === 'member') {
    const { leafIndex } = sender;
    return { leafIndex, external: false, replaces: memberLeaf(group.tree, leafIndex) };
  }
  return {
    leafIndex: tree.reserveLeaf(),
    external: true,
    replaces: effects.removed.find(({ bySelf }) => !bySelf)?.before ?? null,
  };
}

/** Returns the own private keys that are still in use, with that of an own Update if one was committed. */
function keysAfterProposals(
  group: Group,
  tree: RatchetTree,
  effects: ProposalEffects,
): Map<NodeIndex, Uint8Array> {
  const keys = keysInTree(tree, group.privateKeys);
  const update = effects.updated.find(({ leafIndex }) => leafIndex === group.ownLeaf);
  if (update === undefined) return keys;
  const privateKey = group.pendingUpdates.get(toHex(update.after.encryptionKey));
  if (privateKey === undefined)
    throw new CryptoError('missing-key', 'an own update that this state did not make');
  return keys.set(nodeOfLeaf(group.ownLeaf), privateKey);
}

interface PathOutcome {
  readonly commitSecret: Uint8Array;
  readonly privateKeys: PrivateKeys;
}

/** Opens a path. @param tree of the new epoch, with the path merged. @param steps of the path; none without one */
function openPath(
  group: Group,
  tree: RatchetTree,
  path: UpdatePath | null,
  steps: readonly PathStep[],
  effects: ProposalEffects,
): PathOutcome {
  const { suite, ownLeaf } = group;
  const keys = keysAfterProposals(group, tree, effects);
  if (path === null) return { commitSecret: new Uint8Array(suite.kdf.Nh), privateKeys: keys };
  const context = encodeContext(nextContext(group, tree, effects));
  const received = decryptPath(suite, tree, ownLeaf, keys, path, steps, context, addedLeaves(effects));
  wipe(received.pathSecret);
  const privateKeys = keysInTree(tree, new Map([...keys, ...received.privateKeys]));
  return { commitSecret: received.commitSecret, privateKeys };
}

function addedLeaves(effects: ProposalEffects): ReadonlySet<LeafIndex> {
  return new Set(effects.added.map(({ leafIndex }) => leafIndex));
}

/** Makes the provisional GroupContext: of the new epoch, but with the old confirmed transcript hash. */
function nextContext(group: Group, tree: RatchetTree, effects: ProposalEffects): GroupContext {
  return {
    ...group.context,
    epoch: nextEpoch(group.context),
    treeHash: rootHash(group.suite, tree),
    extensions: effects.extensions,
  };
}

/** Returns a copy of the epoch's, or the one that an external committer sent. */
function initSecretFor(group: Group, effects: ProposalEffects): Uint8Array {
  if (effects.externalInit === null) return group.secrets.initSecret.slice();
  const { privateKey } = externalKeyPair(group.suite, group.secrets.externalSecret);
  try {
    return receiveExternalInit(group.suite, privateKey, effects.externalInit);
  } finally {
    wipe(privateKey);
  }
}

/**
 * Processes a commit of another member or of an external joiner (RFC 9420 section 12.4.2). Nothing of `group` changes, its secret tree
 * included, so that a refused commit can be followed by any other.
 * COMMIT-03 (section 12.4.2): the confirmation tag is that of the new epoch.
 * @throws CryptoError 'malformed', 'unsupported', 'wrong-group', 'wrong-epoch', 'own-message', 'unknown-sender',
 * 'bad-membership-tag', 'decrypt-failed', 'replayed', 'generation-too-far', 'bad-signature', 'missing-proposal',
 * 'missing-psk', 'missing-key', 'invalid-proposal', 'invalid-key-package', 'invalid-leaf', 'invalid-credential',
 * 'invalid-commit', 'policy', 'bad-confirmation-tag', 'key-exhausted', 'removed', 'usage' after `endGroup`
 */
export function processCommit(group: Group, bytes: Uint8Array, args: ProcessCommitArgs): ProcessedCommit {
  assertActive(group);
  // The new state keeps views of the message, so it gets a copy that nobody else changes.
  const { content, commit, confirmationTag } = openCommit(group, bytes.slice(), args.limits);
  const { suite, context } = group;
  const { sender, authenticatedData } = content.content;
  const proposals = resolveProposals(commit, sender, args.proposals ?? [], context.epoch);
  validateProposalList(suite, proposals, sender.type === 'member' ? sender.leafIndex : 'external');
  checkPathPresence(commit, proposals);

  const changes = proposedChanges(group.tree, context.extensions, proposals, args.appData, args.limits);
  checkProposalTypes(group.tree, proposals, changes.removed);
  const leafContext: LeafContext = {
    suite,
    groupId: context.groupId,
    groupExtensions: changes.extensions,
    memberCheck: args.memberCheck,
    limits: args.limits,
  };
  const tree = group.tree.cloneWithKeys();
  const effects = applyProposals(leafContext, tree, changes);
  const committer = findCommitter(group, tree, sender, effects);
  if (commit.path !== null) {
    validatePath(leafContext, tree, commit.path, committer.leafIndex, committer.replaces);
  }
  const committerLeaf = commit.path?.leafNode ?? memberLeaf(group.tree, committer.leafIndex);
  const policySender = committer.external ? 'external' : committer.leafIndex;
  checkPolicy(args.policy, group, policySender, committerLeaf.credential, effects, authenticatedData);

  // The public half of the path comes first, because a removed member can check no more than that.
  const { path } = commit;
  const steps = path === null ? [] : mergePath(suite, tree, committer.leafIndex, path, addedLeaves(effects));
  checkFreshLeaves(tree, freshLeaves(effects, committer.leafIndex), leafProposals(effects));
  const outcome = {
    sender: committer.leafIndex,
    external: committer.external,
    adds: effects.added.map(({ leafIndex, keyPackage }) => memberView(leafIndex, keyPackage.leafNode)),
    removes: effects.removed.map(({ leafIndex, before }) => memberView(leafIndex, before)),
    authenticatedData,
  };
  if (effects.removed.some(({ leafIndex }) => leafIndex === group.ownLeaf)) {
    return { ...outcome, selfRemoved: true, group: { ...group, status: 'removed' } };
  }

  const pskSecret = pskSecretOf(suite, effects.psks, withOwnResumptionPsk(group, args.psks));
  const { commitSecret, privateKeys } = openPath(group, tree, path, steps, effects);
  const newContext: GroupContext = {
    ...nextContext(group, tree, effects),
    confirmedTranscriptHash: confirmedTranscriptHash(suite, group.interimTranscriptHash, {
      wireFormat: content.wireFormat,
      content: content.content,
      signature: content.auth.signature,
    }),
  };
  const initSecret = initSecretFor(group, effects);
  const { joinerSecret, ...epoch } = advanceEpoch(
    { suite, context: newContext, leafCount: tree.leafCount },
    initSecret,
    commitSecret,
    pskSecret,
  );
  wipe(initSecret, commitSecret, joinerSecret);
  if (!equalBytes(epoch.confirmationTag, confirmationTag)) {
    throw new CryptoError('bad-confirmation-tag', 'COMMIT-03: commit');
  }
  return {
    ...outcome,
    selfRemoved: false,
    group: {
      ...group,
      ...epoch,
      ...statusAfter(effects),
      context: newContext,
      tree,
      privateKeys,
      signaturePrivateKey: group.signaturePrivateKey.slice(),
      pendingUpdates: new Map(),
    },
  };
}
