/** Joining by external commit (RFC 9420 section 12.4.3.2). */
import { EMPTY, equalBytes, wipe } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { protectPublicMessage } from '../framing/publicMessage.ts';
import { sendExternalInit } from '../schedule/keySchedule.ts';
import { interimTranscriptHash } from '../schedule/transcript.ts';
import type { ProposalOrRef } from '../structs/commit.ts';
import type { Credential } from '../structs/credential.ts';
import type { Extension } from '../structs/extension.ts';
import type { UnverifiedGroupInfo } from '../structs/groupInfo.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../structs/mlsMessage.ts';
import type { AppDataUpdateProposal } from '../structs/proposal.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import { getSuite } from '../suite/suites.ts';
import type { Member, RatchetTree } from '../tree/ratchetTree.ts';
import type { AppDataUpdates } from './appData.ts';
import { assembleCommit } from './assemble.ts';
import { ownAuthenticatedData } from './components.ts';
import {
  checkJoinPolicy,
  exportGroupInfo,
  externalPubOf,
  type TreePlace,
  treeOfGroupInfo,
  verifyGroupInfo,
} from './groupInfo.ts';
import type { JoinPolicy, JoinProgress, MemberCheck, PskLookup } from './hooks.ts';
import type { SignatureKeyPair } from './keyPackage.ts';
import { type LeafOptions, ownLeafContent } from './ownLeaf.ts';
import {
  byReference,
  byValue,
  proposedChanges,
  resolveProposals,
  type StoredProposal,
} from './proposalList.ts';
import { pskSecretOf } from './psks.ts';
import type { SelfRemoves } from './selfRemove.ts';
import type { Group } from './state.ts';
import { checkCapabilities, checkTreeLeaves, type LeafContext } from './validateLeaf.ts';
import { applyProposals, checkProposalTypes, validateProposalList } from './validateProposals.ts';
import { verifyRatchetTree } from './verifyRatchetTree.ts';

export interface JoinExternalArgs {
  readonly credential: Credential;
  readonly signatureKey: SignatureKeyPair;
  readonly leaf?: LeafOptions;
  readonly memberCheck: MemberCheck;
  readonly joinPolicy?: JoinPolicy;
  readonly progress?: JoinProgress;
  /**
   * Removes the leaf that this signature key has in the group, so that a client that lost its state can come back.
   */
  readonly resync?: boolean;
  /** Pre-shared keys to mix in; `pskLookup` has to find them. */
  readonly psks?: readonly PreSharedKeyId[];
  readonly pskLookup?: PskLookup;
  readonly authenticatedData?: Uint8Array;
  /** By `verifyingSelfRemoves`, from the SelfRemoves of the group's epoch that came beside the GroupInfo. */
  readonly selfRemoves?: SelfRemoves;
  /** Changes of component data (extensions draft), which `appData` has to know. */
  readonly appDataUpdates?: readonly AppDataUpdateProposal[];
  /** By `applyingAppData`, for the components that AppDataUpdates change. */
  readonly appData?: AppDataUpdates;
  /** Further extensions of the GroupInfo that comes with the commit, asked for after `joinPolicy`. */
  readonly infoExtensions?: () => readonly Extension[];
  /** `optional<Node> ratchet_tree<V>`, when the GroupInfo doesn't hold the tree. Anybody may have brought it. */
  readonly ratchetTree?: Uint8Array;
  /** Where the tree goes in the GroupInfo that comes with the commit: into it, unless it says otherwise. */
  readonly treePlace?: TreePlace;
  /** The most of each thing that the group may have. */
  readonly limits?: Limits;
}

export interface ExternalJoin {
  /** The epoch that the commit starts. Use it once the commit is accepted; drop it if another commit was. */
  readonly pending: Group;
  /** MLSMessage(PublicMessage). */
  readonly commit: Uint8Array;
  /** MLSMessage(GroupInfo) of that epoch. */
  readonly groupInfo: Uint8Array;
  /** The epoch that the commit was made in, as far as it is known from outside: for `ratchetTreeNodes`. */
  readonly joined: Pick<Group, 'tree'>;
}

function decodeGroupInfo(bytes: Uint8Array, limits: Limits | undefined): UnverifiedGroupInfo {
  const message = decodeMlsMessage(bytes.slice(), limits);
  if (message.wireFormat !== 'group-info') {
    throw new CryptoError('malformed', `${message.wireFormat} instead of a group info`);
  }
  return message.groupInfo;
}

function oldAppearance(tree: RatchetTree, signatureKey: Uint8Array): Member | undefined {
  return [...tree.members()].find(({ leaf }) => equalBytes(leaf.signatureKey, signatureKey));
}

/** Removes the leaf that this client has in the group, where it comes back and has not asked to be removed itself. */
function removalOfOld(
  { resync, signatureKey }: JoinExternalArgs,
  tree: RatchetTree,
  selfRemoves: readonly StoredProposal[],
): ProposalOrRef[] {
  const old = resync === true ? oldAppearance(tree, signatureKey.publicKey) : undefined;
  const isGoing = selfRemoves.some(
    ({ sender }) => sender.type === 'member' && sender.leafIndex === old?.leafIndex,
  );
  return old === undefined || isGoing ? [] : [byValue({ type: 'remove', removed: old.leafIndex })];
}

/**
 * Makes a commit that adds this client to the group that a GroupInfo describes (RFC 9420 section 12.4.3.2).
 * @throws CryptoError 'malformed', 'unsupported', 'missing-tree', 'unknown-sender', 'bad-signature', 'invalid-tree',
 * 'invalid-leaf' (LEAF-08 too, when this signature key is in the group and `resync` isn't set), 'invalid-credential',
 * 'key-exhausted', 'missing-psk', 'invalid-proposal', 'policy', 'usage' for authenticated data that is no SafeAAD in a
 * group with safe_aad, and 'wrong-group' or 'wrong-epoch' for a SelfRemove
 */
export function joinExternal(groupInfo: Uint8Array, args: JoinExternalArgs, env: Env): ExternalJoin {
  const received = decodeGroupInfo(groupInfo, args.limits);
  const suite = getSuite(received.groupContext.cipherSuite);
  const receivedTree = treeOfGroupInfo(suite, received, args.ratchetTree, args.limits);
  const info = verifyGroupInfo(suite, received, receivedTree);
  const tree = verifyRatchetTree(suite, receivedTree, info, args);
  const context = info.groupContext;
  checkJoinPolicy(args.joinPolicy, info, tree);
  const joined = { tree: tree.clone() };
  const { kemOutput, initSecret } = sendExternalInit(suite, externalPubOf(info), env);

  const selfRemoves = args.selfRemoves?.(suite, context, tree, args.limits) ?? [];
  const proposals = [
    byValue({ type: 'external-init', kemOutput }),
    ...removalOfOld(args, tree, selfRemoves),
    ...selfRemoves.map(byReference),
    ...(args.psks ?? []).map((psk) => byValue({ type: 'psk', psk })),
    ...(args.appDataUpdates ?? []).map(byValue),
  ];
  const sender = { type: 'new-member-commit' } as const;
  const committed = resolveProposals({ proposals, path: null }, sender, selfRemoves, context.epoch);
  validateProposalList(suite, committed, 'external');
  const changes = proposedChanges(tree, context.extensions, committed, args.appData, args.limits);
  checkProposalTypes(tree, committed, changes.removed);
  const { extensions } = changes;
  const leafContext: LeafContext = {
    suite,
    groupId: context.groupId,
    groupExtensions: extensions,
    memberCheck: args.memberCheck,
    limits: args.limits,
  };
  const { psks } = applyProposals(leafContext, tree, changes);
  const leafIndex = tree.reserveLeaf();
  const assembled = assembleCommit(
    {
      suite,
      context,
      interimTranscriptHash: interimTranscriptHash(
        suite,
        context.confirmedTranscriptHash,
        info.confirmationTag,
      ),
      initSecret,
      pskSecret: pskSecretOf(suite, psks, args.pskLookup),
      tree,
      extensions,
      proposals,
      added: new Set(),
      sender,
      leafIndex,
      leaf: {
        signatureKey: args.signatureKey.publicKey,
        credential: args.credential,
        ...ownLeafContent(env, args.leaf),
      },
      signaturePrivateKey: args.signatureKey.privateKey,
      withPath: true,
      wireFormat: 'public-message',
      authenticatedData: ownAuthenticatedData(context, args.authenticatedData),
    },
    env,
  );
  const { path } = assembled;
  wipe(initSecret, assembled.joinerSecret, ...(path?.pathSecrets ?? []));
  if (path === null) throw new CryptoError('usage', 'an external commit has a path');
  checkCapabilities(leafContext, path.leafNode);
  checkTreeLeaves(tree);
  const pending: Group = {
    suite,
    status: 'active',
    context: assembled.context,
    tree,
    ownLeaf: leafIndex,
    privateKeys: path.privateKeys,
    signaturePrivateKey: args.signatureKey.privateKey.slice(),
    pendingUpdates: new Map(),
    ...assembled.epoch,
  };
  // An external joiner is no member of the epoch it commits in, so that it has no membership key to authenticate with.
  const publicMessage = protectPublicMessage(suite, assembled.content, {
    groupContext: context,
    membershipKey: EMPTY,
  });
  const commit = encodeMlsMessage({ wireFormat: 'public-message', publicMessage });
  const nextGroupInfo = exportGroupInfo(pending, args.infoExtensions?.(), args.treePlace);
  return { pending, commit, groupInfo: nextGroupInfo, joined };
}
