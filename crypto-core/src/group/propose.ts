/** Proposals sent on their own (RFC 9420 section 12.1), for another member to commit. */
import { toHex } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { ownContent, signFramedContent, type VerifiedContent } from '../framing/contentAuth.ts';
import { protectPrivateMessage, unprotectPrivateMessage } from '../framing/privateMessage.ts';
import { protectPublicMessage, unprotectPublicMessage } from '../framing/publicMessage.ts';
import type { Extension } from '../structs/extension.ts';
import { type FramedContent, writeAuthenticatedContent } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage, type MlsMessage } from '../structs/mlsMessage.ts';
import type { AppDataUpdateProposal, Proposal, SelfRemoveProposal } from '../structs/proposal.ts';
import { MLS10 } from '../structs/protocolVersion.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import type { WireFormat } from '../structs/wireFormat.ts';
import { makeProposalRef } from '../suite/labels.ts';
import type { CipherSuite, CipherSuiteId } from '../suite/suites.ts';
import { checkAuthenticatedData, ownAuthenticatedData } from './components.ts';
import { decodeKeyPackage } from './keyPackage.ts';
import { type LeafOptions, ownLeafContent, signLeaf } from './ownLeaf.ts';
import type { StoredProposal } from './proposalList.ts';
import { privateKeysOf, publicKeysOf, signatureKeyIn } from './senders.ts';
import { assertActive, type Group, memberLeaf } from './state.ts';
import { checkProposalFraming, checkProposalSender, checkProposalTypes } from './validateProposals.ts';

export type ProposalRequest =
  /** The MLSMessage(KeyPackage) of the client to add. */
  | { readonly type: 'add'; readonly keyPackage: Uint8Array }
  | { readonly type: 'remove'; readonly removed: LeafIndex }
  /** Gives the own leaf a fresh key, and what the application chooses now. */
  | { readonly type: 'update'; readonly leaf?: LeafOptions }
  /** A pre-shared key to mix in, which all members have to hold. */
  | { readonly type: 'psk'; readonly psk: PreSharedKeyId }
  /** Ends the group in favour of another. */
  | { readonly type: 'reinit'; readonly reInit: ReInitRequest }
  /** Replaces the GroupContext's extensions. */
  | { readonly type: 'group-context-extensions'; readonly extensions: readonly Extension[] }
  /** Changes the data of a component in the group's app_data_dictionary (extensions draft). */
  | AppDataUpdateProposal
  /** Removes this client (extensions draft), in the open. Make one in an epoch at most. */
  | SelfRemoveProposal;

/** The group that is to follow (RFC 9420 section 12.1.5), in MLS 1.0. */
export interface ReInitRequest {
  readonly groupId: Uint8Array;
  readonly suite: CipherSuiteId;
  readonly extensions: readonly Extension[];
}

export interface ProposeOptions {
  readonly authenticatedData?: Uint8Array;
  /** In the open, where those who are no members have to read it, as a SelfRemove is; else a private message. */
  readonly wireFormat?: Extract<WireFormat, 'public-message' | 'private-message'>;
}

export interface CreatedProposal {
  /** The same epoch, and for an update the private key that belongs to it: store it with `saveEpoch`. */
  readonly group: Group;
  /** MLSMessage(PrivateMessage), or of a PublicMessage where that was asked for. */
  readonly message: Uint8Array;
  readonly proposal: StoredProposal;
}

/** Makes the ProposalRef (section 5.2) of a proposal's message. */
export function proposalRefOf(suite: CipherSuite, content: VerifiedContent): Uint8Array {
  return makeProposalRef(suite, encode(content, writeAuthenticatedContent, 1024));
}

function proposeUpdate(
  group: Group,
  leaf: LeafOptions | undefined,
  env: Env,
): { proposal: Proposal; group: Group } {
  const { suite, ownLeaf, context } = group;
  const { publicKey, privateKey } = suite.kem.generateKeyPair(env);
  const content = {
    ...memberLeaf(group.tree, ownLeaf),
    ...(leaf === undefined ? {} : ownLeafContent(env, leaf)),
    encryptionKey: publicKey,
    source: { type: 'update' },
  } as const;
  const position = { groupId: context.groupId, leafIndex: ownLeaf };
  const leafNode = signLeaf(suite, content, position, group.signaturePrivateKey);
  const pendingUpdates = new Map([...group.pendingUpdates, [toHex(publicKey), privateKey] as const]);
  return { proposal: { type: 'update', leafNode }, group: { ...group, pendingUpdates } };
}

function build(group: Group, request: ProposalRequest, env: Env): { proposal: Proposal; group: Group } {
  if (request.type === 'update') return proposeUpdate(group, request.leaf, env);
  return { proposal: proposalOf(request), group };
}

/** Makes a proposal that needs nothing of a group. @throws CryptoError 'malformed', 'unsupported' */
export function proposalOf(request: Exclude<ProposalRequest, { readonly type: 'update' }>): Proposal {
  if (request.type === 'add') return { type: 'add', keyPackage: decodeKeyPackage(request.keyPackage) };
  if (request.type !== 'reinit') return request;
  const { groupId, suite, extensions } = request.reInit;
  return { type: 'reinit', groupId, version: MLS10, cipherSuite: suite, extensions };
}

/**
 * Makes a proposal (RFC 9420 section 12.1). It is validated when it is committed. Uses up a handshake key: store
 * `group.secretTree.takeChanges()` before the message leaves.
 * @throws CryptoError 'removed', 'unsupported', 'malformed', 'key-exhausted', 'missing-key', 'usage', or 'invalid-proposal' for a type that not
 * every member supports (PROP-13), or a SelfRemove as a private message (PROP-15)
 */
export function createProposal(
  group: Group,
  request: ProposalRequest,
  env: Env,
  options: ProposeOptions = {},
): CreatedProposal {
  assertActive(group);
  const { suite, context, ownLeaf } = group;
  const { proposal, group: next } = build(group, request, env);
  const {
    authenticatedData,
    wireFormat = proposal.type === 'self-remove' ? 'public-message' : 'private-message',
  } = options;
  checkProposalFraming(proposal, wireFormat);
  const framed: FramedContent = {
    groupId: context.groupId,
    epoch: context.epoch,
    sender: { type: 'member', leafIndex: ownLeaf },
    authenticatedData: ownAuthenticatedData(context, authenticatedData),
    content: { type: 'proposal', proposal },
  };
  checkProposalTypes(group.tree, [{ proposal, sender: framed.sender, ref: null }], []);
  const signature = signFramedContent(suite, wireFormat, framed, context, group.signaturePrivateKey);
  const content = ownContent(wireFormat, framed, { signature, confirmationTag: null });
  const message: MlsMessage =
    wireFormat === 'public-message'
      ? { wireFormat, publicMessage: protectPublicMessage(suite, content, publicKeysOf(group)) }
      : { wireFormat, privateMessage: protectPrivateMessage(suite, content, privateKeysOf(group), env) };
  return {
    group: next,
    message: encodeMlsMessage(message),
    proposal: {
      ref: proposalRefOf(group.suite, content),
      epoch: context.epoch,
      proposal,
      sender: framed.sender,
    },
  };
}

/**
 * Opens a proposal of somebody else (RFC 9420 section 12.1), to be kept until the epoch ends. A private one uses up its key: store
 * `group.secretTree.takeChanges()` together with it.
 * @throws CryptoError as `decryptApplication`, and 'bad-membership-tag', 'invalid-proposal'
 */
export function processProposal(group: Group, bytes: Uint8Array, limits?: Limits): StoredProposal {
  assertActive(group);
  const message = decodeMlsMessage(bytes.slice(), limits);
  let content: VerifiedContent;
  if (message.wireFormat === 'private-message' && message.privateMessage.contentType === 'proposal') {
    checkAuthenticatedData(group.context, message.privateMessage);
    const keys = privateKeysOf(group);
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
    checkAuthenticatedData(group.context, message.publicMessage.content);
    content = unprotectPublicMessage(
      group.suite,
      message.publicMessage,
      publicKeysOf(group),
      signatureKeyIn(group),
    );
  } else {
    throw new CryptoError('malformed', 'not a proposal');
  }
  const { sender, content: body } = content.content;
  if (body.type !== 'proposal') throw new CryptoError('malformed', `${body.type} instead of a proposal`);
  if (sender.type === 'member' && sender.leafIndex === group.ownLeaf) throw new CryptoError('own-message');
  checkProposalSender(body.proposal, sender);
  checkProposalFraming(body.proposal, content.wireFormat);
  return {
    ref: proposalRefOf(group.suite, content),
    epoch: group.context.epoch,
    proposal: body.proposal,
    sender,
  };
}
