/** Creating commits as a member (RFC 9420 section 12.4.1). */
import { wipe } from '../bytes.ts';
import { DEFAULT_LIMITS, type Limits } from '../codec/limits.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { protectPrivateMessage } from '../framing/privateMessage.ts';
import type { Commit, ProposalOrRef } from '../structs/commit.ts';
import type { Extension } from '../structs/extension.ts';
import type { Sender } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import { encodeMlsMessage } from '../structs/mlsMessage.ts';
import type { AppDataUpdateProposal } from '../structs/proposal.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import { keysInTree } from '../tree/treekem.ts';
import type { AppDataUpdates } from './appData.ts';
import { assembleCommit } from './assemble.ts';
import { blaming } from './blame.ts';
import { ownAuthenticatedData } from './components.ts';
import {
  type Continuation,
  checkContinuation,
  checkContinuationPsks,
  continuationPsk,
  withContinuation,
} from './continuation.ts';
import { exportGroupInfo, type TreePlace } from './groupInfo.ts';
import type { CommitPolicy, MemberCheck, PskLookup } from './hooks.ts';
import { decodeKeyPackage } from './keyPackage.ts';
import { type LeafOptions, ownLeafContent } from './ownLeaf.ts';
import { checkPolicy } from './policy.ts';
import {
  byReference,
  byValue,
  freshLeaves,
  leafProposals,
  proposedChanges,
  resolveProposals,
  type StoredProposal,
  statusAfter,
} from './proposalList.ts';
import { proposalOf, type ReInitRequest } from './propose.ts';
import { pskSecretOf, withOwnResumptionPsk } from './psks.ts';
import { privateKeysOf } from './senders.ts';
import { assertActive, type Group, memberLeaf } from './state.ts';
import { needsPath } from './validateCommit.ts';
import { checkCapabilities, checkFreshLeaves, checkLifetime, secondsOf } from './validateLeaf.ts';
import { applyProposals, checkProposalTypes, validateProposalList } from './validateProposals.ts';
import { createWelcome } from './welcome.ts';

export interface CreateCommitArgs {
  /** MLSMessage(KeyPackage) of each client to add. */
  readonly adds?: readonly Uint8Array[];
  readonly removes?: readonly LeafIndex[];
  /** Proposals received in this epoch, to be committed by reference. */
  readonly proposals?: readonly StoredProposal[];
  /** Pre-shared keys to mix in; `pskLookup` has to find them. */
  readonly psks?: readonly PreSharedKeyId[];
  readonly pskLookup?: PskLookup;
  /** Changes of component data (extensions draft), which `appData` has to know. */
  readonly appDataUpdates?: readonly AppDataUpdateProposal[];
  /** By `applyingAppData`, for the components that AppDataUpdates change; without it, they are refused. */
  readonly appData?: AppDataUpdates;
  /** Ends the group in favour of another. A ReInit stands alone. */
  readonly reInit?: ReInitRequest;
  /** Makes the new group the continuation of another, in its first commit, which adds all of its members. */
  readonly continues?: Continuation;
  /** Choices of the application for the own leaf from now on. A path then renews it. */
  readonly leaf?: LeafOptions;
  /** Replaces the GroupContext's extensions. */
  readonly extensions?: readonly Extension[];
  /** Further extensions of the GroupInfos that come with the commit. */
  readonly infoExtensions?: readonly Extension[];
  /** Where the tree goes in those GroupInfos: into them, unless it says otherwise. */
  readonly treePlace?: TreePlace;
  /** Renews the own leaf even where RFC 9420 doesn't ask for it. A commit without proposals always does. */
  readonly forcePath?: boolean;
  readonly authenticatedData?: Uint8Array;
  readonly memberCheck: MemberCheck;
  readonly policy: CommitPolicy;
  /** The limit up to which the others accept a commit: one beyond it isn't made. */
  readonly limits?: Limits;
}

export interface CreatedCommit {
  /** The next epoch. Use it once the commit is accepted; drop it if another commit was. */
  readonly pending: Group;
  /** MLSMessage(PrivateMessage). */
  readonly commit: Uint8Array;
  /** MLSMessage(Welcome) for all clients that were added, or null. */
  readonly welcome: Uint8Array | null;
  /** MLSMessage(GroupInfo) of the next epoch, for external joins. */
  readonly groupInfo: Uint8Array;
}

function proposalsOf(args: CreateCommitArgs, limits: Limits, env: Env): ProposalOrRef[] {
  const list = (args.proposals ?? []).map(byReference);
  if (args.extensions !== undefined) {
    list.push(byValue({ type: 'group-context-extensions', extensions: args.extensions }));
  }
  for (const removed of args.removes ?? []) list.push(byValue({ type: 'remove', removed }));
  for (const bytes of args.adds ?? [])
    list.push(byValue({ type: 'add', keyPackage: decodeKeyPackage(bytes, limits) }));
  if (args.reInit !== undefined) list.push(byValue(proposalOf({ type: 'reinit', reInit: args.reInit })));
  if (args.continues !== undefined) {
    list.push(byValue({ type: 'psk', psk: continuationPsk(args.continues, env) }));
  }
  for (const psk of args.psks ?? []) list.push(byValue({ type: 'psk', psk }));
  list.push(...(args.appDataUpdates ?? []).map(byValue));
  if (list.length > limits.proposals) {
    throw new CryptoError('unsupported', `more than ${limits.proposals} proposals`);
  }
  return list;
}

/**
 * Makes a commit (RFC 9420 section 12.4.1), and the state of the epoch it starts. `group` itself stays in its epoch, but its secret tree has
 * given a handshake key away: store `group.secretTree.takeChanges()` before the commit leaves.
 * @throws CryptoError 'removed', 'unsupported', 'malformed', 'policy', 'missing-psk', 'missing-proposal', 'missing-key', 'key-exhausted', 'usage', and
 * those of the validation: 'invalid-proposal', 'invalid-key-package', 'invalid-leaf', 'invalid-credential', 'invalid-commit',
 * 'bad-signature'
 */
export function createCommit(group: Group, args: CreateCommitArgs, env: Env): CreatedCommit {
  assertActive(group);
  const { suite, ownLeaf, context } = group;
  const authenticatedData = ownAuthenticatedData(context, args.authenticatedData);
  const limits = args.limits ?? DEFAULT_LIMITS;
  const sender: Sender = { type: 'member', leafIndex: ownLeaf };
  const list: Commit = { proposals: proposalsOf(args, limits, env), path: null };
  const proposals = resolveProposals(list, sender, args.proposals ?? [], context.epoch);
  validateProposalList(suite, proposals, ownLeaf, args.continues !== undefined);

  const changes = proposedChanges(group.tree, context.extensions, proposals, args.appData, limits);
  checkProposalTypes(group.tree, proposals, changes.removed);
  const leafContext = {
    suite,
    groupId: context.groupId,
    groupExtensions: changes.extensions,
    memberCheck: args.memberCheck,
    limits,
    now: secondsOf(env),
  };
  const tree = group.tree.cloneWithKeys();
  const effects = applyProposals(leafContext, tree, changes);
  if (tree.leafCount > limits.leaves)
    throw new CryptoError('unsupported', `more than ${limits.leaves} leaves`);
  for (const { keyPackage, number, ref } of effects.added)
    blaming(ref, () => checkLifetime(keyPackage.leafNode, env), number);
  const own = memberLeaf(tree, ownLeaf);
  checkPolicy(args.policy, group, ownLeaf, own.credential, effects, authenticatedData);
  if (args.continues !== undefined) checkContinuationPsks(effects.psks, args.continues);
  const lookup = withContinuation(args.continues, args.pskLookup);
  const pskSecret = pskSecretOf(suite, effects.psks, withOwnResumptionPsk(group, lookup));

  const assembled = assembleCommit(
    {
      suite,
      context,
      interimTranscriptHash: group.interimTranscriptHash,
      initSecret: group.secrets.initSecret,
      pskSecret,
      tree,
      extensions: effects.extensions,
      proposals: list.proposals,
      added: new Set(effects.added.map(({ leafIndex }) => leafIndex)),
      sender,
      leafIndex: ownLeaf,
      leaf: args.leaf === undefined ? own : { ...own, ...ownLeafContent(env, args.leaf) },
      signaturePrivateKey: group.signaturePrivateKey,
      withPath: args.forcePath === true || args.leaf !== undefined || needsPath(proposals),
      wireFormat: 'private-message',
      authenticatedData,
    },
    env,
  );
  if (args.leaf !== undefined) checkCapabilities(leafContext, memberLeaf(tree, ownLeaf));
  checkFreshLeaves(tree, freshLeaves(effects, ownLeaf), leafProposals(effects));
  if (args.continues !== undefined) checkContinuation(args.continues, assembled.context, tree);
  const privateKeys = new Map([...group.privateKeys, ...(assembled.path?.privateKeys ?? [])]);
  const pending: Group = {
    ...group,
    ...assembled.epoch,
    ...statusAfter(effects),
    context: assembled.context,
    tree,
    privateKeys: keysInTree(tree, privateKeys),
    signaturePrivateKey: group.signaturePrivateKey.slice(),
    pendingUpdates: new Map(),
  };
  const infoExtensions = args.infoExtensions ?? [];
  const welcome =
    effects.added.length === 0
      ? null
      : createWelcome(pending, effects, assembled, pskSecret, infoExtensions, args.treePlace, env);
  wipe(assembled.joinerSecret, ...(assembled.path?.pathSecrets ?? []));
  const groupInfo = exportGroupInfo({ ...pending, status: 'active' }, infoExtensions, args.treePlace);
  // Comes last, because it uses up a key of the current epoch.
  const privateMessage = protectPrivateMessage(suite, assembled.content, privateKeysOf(group), env);
  const commit = encodeMlsMessage({ wireFormat: 'private-message', privateMessage });
  return { pending, commit, welcome, groupInfo };
}
