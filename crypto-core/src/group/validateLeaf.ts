/** Leaf node validation (RFC 9420 sections 5.3.1, 7.2, 7.3 and 13.4). */

import { equalBytes } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { findRepeated } from '../codec/order.ts';
import { decode } from '../codec/reader.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { type RequiredCapabilities, readRequiredCapabilities } from '../structs/capabilities.ts';
import { type Credential, CredentialTypeValue } from '../structs/credential.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import { readExternalSenders } from '../structs/externalSender.ts';
import { type LeafIndex, type NodeIndex, toNodeIndex } from '../structs/indices.ts';
import { type LeafNode, type LeafNodeSource, leafNodeTBS } from '../structs/leafNode.ts';
import { LISTED_PROPOSALS, type ProposalType, ProposalTypeValue } from '../structs/proposal.ts';
import { MLS10 } from '../structs/protocolVersion.ts';
import { verifyWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isLeaf, leafOfNode } from '../tree/math.ts';
import type { RatchetTree, UnverifiedRatchetTree } from '../tree/ratchetTree.ts';
import { areReadable, findAppData } from './components.ts';
import type { MemberCheck } from './hooks.ts';

/**
 * The longest total lifetime, in seconds, of a leaf that a client is to be added with: 400 days. Section 7.2 asks the
 * application to define one.
 */
export const MAX_LIFETIME_SECONDS = 400n * 24n * 60n * 60n;

/** Ed25519, in both suites. */
const SIGNATURE_KEY_LENGTH = 32;

const DEFAULT_EXTENSIONS: ReadonlySet<number> = new Set([
  ExtensionTypeValue.applicationId,
  ExtensionTypeValue.ratchetTree,
  ExtensionTypeValue.requiredCapabilities,
  ExtensionTypeValue.externalPub,
  ExtensionTypeValue.externalSenders,
]);

const DEFAULT_PROPOSALS: ReadonlySet<number> = new Set(
  (Object.keys(ProposalTypeValue) as ProposalType[])
    .filter((type) => !LISTED_PROPOSALS.has(type))
    .map((type) => ProposalTypeValue[type]),
);

/** The group that a leaf has to be compatible with. */
export interface LeafContext {
  readonly suite: CipherSuite;
  readonly groupId: Uint8Array;
  /** The GroupContext extensions of the epoch that the leaf will be part of. */
  readonly groupExtensions: readonly Extension[];
  readonly memberCheck: MemberCheck;
  /** For the extensions of the group that are read here. */
  readonly limits?: Limits | undefined;
  /** Seconds since the Unix epoch, when this client is about to make the changes itself. */
  readonly now?: bigint;
}

/** The ProposalRefs of leaves that proposals by reference bring in. */
export type LeafProposals = ReadonlyMap<LeafIndex, Uint8Array>;

function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-leaf', `${check}: ${detail}`);
}

/**
 * LEAF-01 (section 7.3): the leaf's signature holds for its place in this group.
 * @throws CryptoError 'bad-signature'
 */
function checkSignature(context: LeafContext, leaf: LeafNode, leafIndex: LeafIndex | null): void {
  const content = leafNodeTBS(leaf, leafIndex === null ? null : { groupId: context.groupId, leafIndex });
  if (!verifyWithLabel(context.suite, leaf.signatureKey, 'LeafNodeTBS', content, leaf.signature)) {
    throw new CryptoError(
      'bad-signature',
      leafIndex === null ? 'LEAF-01: leaf of a new member' : `LEAF-01: leaf ${leafIndex}`,
    );
  }
}

/**
 * CRED-01: a credential is `basic`; X.509 chains are decoded and refused, as nothing here validates them.
 * @throws CryptoError 'invalid-credential'
 */
export function assertBasic(credential: Credential): void {
  if (credential.type !== 'basic') throw new CryptoError('invalid-credential', 'CRED-01: not basic');
}

/**
 * PROP-12, CRED-03 (section 5.3.1): the application accepts the external senders of a group, which may propose who is
 * in it: when a commit sets them, and when this client joins a group that has them.
 * @throws CryptoError 'invalid-credential', 'malformed', 'unsupported'
 */
export function checkExternalSenders(context: LeafContext, check: 'PROP-12' | 'CRED-03'): void {
  const data = findExtension(context.groupExtensions, ExtensionTypeValue.externalSenders);
  if (data === undefined) return;
  for (const { credential, signatureKey } of decode(data, readExternalSenders, context.limits)) {
    assertBasic(credential);
    askApplication(check, context, { credential, signatureKey }, null);
  }
}

/**
 * COMP-01: the component data of a group is as it has to be, when a commit sets it and when this client joins.
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function checkAppData({
  groupExtensions,
  limits,
}: Pick<LeafContext, 'groupExtensions' | 'limits'>): void {
  findAppData(groupExtensions, limits);
}

type Requirements = Pick<LeafContext, 'suite' | 'groupExtensions' | 'limits'>;

/** The requirements of the contexts in use, because each leaf of a tree is checked against what the same group requires. */
const requiredIn = new WeakMap<Requirements, RequiredCapabilities | null>();

function requiredCapabilities(context: Requirements): RequiredCapabilities | null {
  let required = requiredIn.get(context);
  if (required === undefined) {
    const data = findExtension(context.groupExtensions, ExtensionTypeValue.requiredCapabilities);
    required =
      data === undefined ? null : withoutRepetitions(decode(data, readRequiredCapabilities, context.limits));
    requiredIn.set(context, required);
  }
  return required;
}

function withoutRepetitions({
  extensions,
  proposals,
  credentials,
}: RequiredCapabilities): RequiredCapabilities {
  return {
    extensions: [...new Set(extensions)],
    proposals: [...new Set(proposals)],
    credentials: [...new Set(credentials)],
  };
}

/**
 * LEAF-02 (sections 11.1 and 7.2): the leaf supports what the group requires, and MLS 1.0 with the group's suite.
 * LEAF-03 (section 13.4): the leaf supports each extension of the GroupContext.
 * LEAF-04 (section 7.3): the leaf lists its own credential type and its own extensions.
 * @throws CryptoError 'invalid-leaf'
 */
export function checkCapabilities(context: Requirements, leaf: LeafNode): void {
  const { versions, cipherSuites, extensions, proposals, credentials } = leaf.capabilities;
  const knowsExtension = (type: number): boolean => DEFAULT_EXTENSIONS.has(type) || extensions.includes(type);
  if (!versions.includes(MLS10)) refuse('LEAF-02', 'protocol version');
  if (!cipherSuites.includes(context.suite.id)) refuse('LEAF-02', 'cipher suite');
  const required = requiredCapabilities(context);
  if (required !== null) {
    if (!required.extensions.every(knowsExtension)) refuse('LEAF-02', 'required extension');
    if (!required.proposals.every((type) => DEFAULT_PROPOSALS.has(type) || proposals.includes(type))) {
      refuse('LEAF-02', 'required proposal');
    }
    if (!required.credentials.every((type) => credentials.includes(type))) {
      refuse('LEAF-02', 'required credential');
    }
  }
  for (const { type } of context.groupExtensions) {
    if (!knowsExtension(type)) refuse('LEAF-03', `group extension ${type}`);
  }
  if (!credentials.includes(CredentialTypeValue[leaf.credential.type])) refuse('LEAF-04', 'credential type');
  for (const { type } of leaf.extensions) {
    if (!knowsExtension(type)) refuse('LEAF-04', `leaf extension ${type}`);
  }
}

/** The time in seconds since the Unix epoch, as lifetimes have it. */
export function secondsOf(env: Env): bigint {
  return BigInt(Math.floor(env.now() / 1000));
}

/**
 * LEAF-05 (section 7.3): the current time is within the lifetime, and the lifetime is not longer than accepted.
 * Checked for leaves that this client is about to send; a received one may have expired on its way.
 * @throws CryptoError 'invalid-leaf'
 */
export function checkLifetime(leaf: LeafNode, env: Env): void {
  if (leaf.source.type !== 'key-package') return;
  const { notBefore, notAfter } = leaf.source.lifetime;
  const now = secondsOf(env);
  if (now < notBefore || now > notAfter) refuse('LEAF-05', 'outside its lifetime');
  if (notAfter - notBefore > MAX_LIFETIME_SECONDS) refuse('LEAF-05', 'lifetime too long');
}

/**
 * Checks of a leaf that enters the group what needs no signature; `checkTreeLeaves` checks it beside the others.
 * LEAF-06 (section 7.3): the leaf has the source that its place calls for.
 * LEAF-07 (sections 7.3 and 12.4.2): a leaf that replaces another has a fresh encryption key.
 * LEAF-11 (section 5.1.1): its keys are ones of the suite, so that others can encrypt a path to it.
 * LEAF-12 (section 5.3.3): its extensions of known types can be read, so that nobody fails by them once it is in.
 * @param replaces the leaf that was in this place before, if it is the same member's
 * @throws CryptoError 'invalid-leaf', 'invalid-credential'
 */
export function checkLeafForm(
  context: LeafContext,
  leaf: LeafNode,
  leafIndex: LeafIndex | null,
  source: LeafNodeSource['type'],
  replaces: LeafNode | null = null,
): void {
  const place = leafIndex === null ? 'of a new member' : `of leaf ${leafIndex}`;
  if (leaf.source.type !== source)
    refuse('LEAF-06', `source ${leaf.source.type} instead of ${source} ${place}`);
  if (replaces !== null && equalBytes(replaces.encryptionKey, leaf.encryptionKey)) {
    refuse('LEAF-07', `encryption key ${place} is that of the leaf it replaces`);
  }
  if (!context.suite.kem.isPublicKey(leaf.encryptionKey)) refuse('LEAF-11', `encryption key ${place}`);
  if (leaf.signatureKey.length !== SIGNATURE_KEY_LENGTH) refuse('LEAF-11', `signature key ${place}`);
  if (!areReadable(leaf.extensions, context.limits)) refuse('LEAF-12', `an extension ${place}`);
  assertBasic(leaf.credential);
  checkCapabilities(context, leaf);
}

/**
 * Checks that a leaf's signature holds, and that the application accepts its credential.
 * CRED-02 (section 5.3.1): for its signature key, and as a successor of the credential that it replaces.
 * @param replaces as for `checkLeafForm`
 * @throws CryptoError 'bad-signature', 'invalid-credential'
 */
export function checkLeafAuthenticity(
  context: LeafContext,
  leaf: LeafNode,
  leafIndex: LeafIndex | null,
  replaces: LeafNode | null,
): void {
  checkSignature(context, leaf, leafIndex);
  const { credential, signatureKey } = leaf;
  const isUnchanged =
    replaces !== null &&
    equalBytes(replaces.signatureKey, signatureKey) &&
    sameCredential(replaces.credential, credential);
  if (isUnchanged) return;
  askApplication('CRED-02', context, { credential, signatureKey }, replaces?.credential ?? null);
}

function askApplication(
  check: string,
  { groupId, memberCheck, now }: LeafContext,
  member: { readonly credential: Credential; readonly signatureKey: Uint8Array },
  replaces: Credential | null,
): void {
  try {
    memberCheck(member, { groupId, replaces, now: now ?? null });
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new CryptoError(error.code, `${check}: ${error.detail}`);
  }
}

function sameCredential(a: Credential, b: Credential): boolean {
  return a.type === 'basic' && b.type === 'basic' && equalBytes(a.identity, b.identity);
}

/** @param nodes the node of each key */
function refuseRepeated(
  check: string,
  what: string,
  keys: readonly Uint8Array[],
  nodes: readonly NodeIndex[],
  proposals: LeafProposals,
): void {
  const repeated = findRepeated(keys);
  const found = repeated?.map((at) => nodes[at] ?? toNodeIndex(0));
  if (found === undefined) return;
  const refs = found.flatMap((node) => (isLeaf(node) ? (proposals.get(leafOfNode(node)) ?? []) : []));
  const detail = `${check}: nodes ${found.join(' and ')} have the same ${what}`;
  throw new CryptoError('invalid-leaf', detail, refs.at(-1));
}

/**
 * Checks a tree that was checked before a commit: what `checkTreeLeaves` finds, at the cost of what the commit has set.
 * @param fresh the leaves that the commit has set; the other nodes' keys were compared before, and those of a path by COMMIT-02
 * @param proposals as for `checkTreeLeaves`
 * @throws CryptoError 'invalid-leaf'
 */
export function checkFreshLeaves(
  tree: RatchetTree,
  fresh: ReadonlySet<LeafIndex>,
  proposals: LeafProposals,
): void {
  const { keys } = tree;
  const isAlone = [...fresh]
    .flatMap((index) => tree.leaf(index) ?? [])
    .every(
      ({ encryptionKey, signatureKey }) =>
        keys.encryptionKeys(encryptionKey) === 1 && keys.signatureKeys(signatureKey) === 1,
    );
  if (!isAlone || !keys.supportsCredentials) checkTreeLeaves(tree, proposals);
}

/**
 * LEAF-08 (section 7.3): signature keys are unique among the members.
 * LEAF-09 (section 7.3, 12.4.3.1): encryption keys are unique among the nodes.
 * LEAF-10 (section 7.3): each credential type in use is supported by all members.
 * One pass over the tree.
 * @param proposals the ProposalRefs of leaves that the commit adds or updates by reference
 * @throws CryptoError 'invalid-leaf'
 */
export function checkTreeLeaves(tree: UnverifiedRatchetTree, proposals: LeafProposals = new Map()): void {
  const nodes: NodeIndex[] = [];
  const encryptionKeys: Uint8Array[] = [];
  const memberNodes: NodeIndex[] = [];
  const signatureKeys: Uint8Array[] = [];
  const credentialTypes = new Set<number>();
  for (const [index, node] of tree.entries()) {
    nodes.push(index);
    encryptionKeys.push(node.type === 'leaf' ? node.leaf.encryptionKey : node.parent.encryptionKey);
    if (node.type !== 'leaf') continue;
    memberNodes.push(index);
    signatureKeys.push(node.leaf.signatureKey);
    credentialTypes.add(CredentialTypeValue[node.leaf.credential.type]);
  }
  refuseRepeated('LEAF-09', 'encryption key', encryptionKeys, nodes, proposals);
  refuseRepeated('LEAF-08', 'signature key', signatureKeys, memberNodes, proposals);
  for (const { leafIndex, leaf } of tree.members()) {
    for (const type of credentialTypes) {
      if (!leaf.capabilities.credentials.includes(type)) {
        refuse('LEAF-10', `leaf ${leafIndex} doesn't support credential type ${type}`);
      }
    }
  }
}
