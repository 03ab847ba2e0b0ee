/** Leaf node validation (RFC 9420 sections 5.3.1, 7.2, 7.3 and 13.4). */

import { equalBytes } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { type RequiredCapabilities, readRequiredCapabilities } from '../structs/capabilities.ts';
import { type Credential, CredentialTypeValue } from '../structs/credential.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import type { LeafIndex } from '../structs/indices.ts';
import { type LeafNode, type LeafNodeSource, leafNodeTBS } from '../structs/leafNode.ts';
import { ProposalTypeValue } from '../structs/proposal.ts';
import { MLS10 } from '../structs/protocolVersion.ts';
import { verifyWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import type { UnverifiedRatchetTree } from '../tree/ratchetTree.ts';
import { ByteSet } from './byteSet.ts';
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

const DEFAULT_PROPOSALS: ReadonlySet<number> = new Set(Object.values(ProposalTypeValue));

/** The group that a leaf has to be compatible with. */
export interface LeafContext {
  readonly suite: CipherSuite;
  readonly groupId: Uint8Array;
  /** The GroupContext extensions of the epoch that the leaf will be part of. */
  readonly groupExtensions: readonly Extension[];
  readonly memberCheck: MemberCheck;
}

function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-leaf', `${check}: ${detail}`);
}

/**
 * LEAF-01 (section 7.3): the leaf's signature holds for its place in this group.
 * @throws CryptoError 'bad-signature'
 */
function checkSignature(context: LeafContext, leaf: LeafNode, leafIndex: LeafIndex): void {
  const content = leafNodeTBS(leaf, { groupId: context.groupId, leafIndex });
  if (!verifyWithLabel(context.suite, leaf.signatureKey, 'LeafNodeTBS', content, leaf.signature)) {
    throw new CryptoError('bad-signature', 'LEAF-01: leaf node');
  }
}

/**
 * CRED-01: a credential is `basic`; X.509 chains are decoded and refused, as nothing here validates them.
 * CRED-02 (section 5.3.1): the application accepts the credential for the signature key.
 * @throws CryptoError 'invalid-credential'
 */
export function checkCredential(
  context: LeafContext,
  leaf: { readonly credential: Credential; readonly signatureKey: Uint8Array },
  replaces: Credential | null,
): void {
  if (leaf.credential.type !== 'basic') throw new CryptoError('invalid-credential', 'CRED-01: not basic');
  const { credential, signatureKey } = leaf;
  // CRED-02
  context.memberCheck({ credential, signatureKey }, { groupId: context.groupId, replaces });
}

export function requiredCapabilities(extensions: readonly Extension[]): RequiredCapabilities | null {
  const data = findExtension(extensions, ExtensionTypeValue.requiredCapabilities);
  return data === undefined ? null : decode(data, readRequiredCapabilities);
}

/**
 * LEAF-02 (sections 11.1 and 7.2): the leaf supports what the group requires, and MLS 1.0 with the group's suite.
 * LEAF-03 (section 13.4): the leaf supports each extension of the GroupContext.
 * LEAF-04 (section 7.3): the leaf lists its own credential type and its own extensions.
 * @throws CryptoError 'invalid-leaf'
 */
export function checkCapabilities(
  context: Pick<LeafContext, 'suite' | 'groupExtensions'>,
  leaf: LeafNode,
): void {
  const { versions, cipherSuites, extensions, proposals, credentials } = leaf.capabilities;
  const knowsExtension = (type: number): boolean => DEFAULT_EXTENSIONS.has(type) || extensions.includes(type);
  if (!versions.includes(MLS10)) refuse('LEAF-02', 'protocol version');
  if (!cipherSuites.includes(context.suite.id)) refuse('LEAF-02', 'cipher suite');
  const required = requiredCapabilities(context.groupExtensions);
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

/**
 * LEAF-05 (section 7.3): the current time is within the lifetime, and the lifetime is not longer than accepted.
 * Checked for leaves that this client is about to send; a received one may have expired on its way.
 * @throws CryptoError 'invalid-leaf'
 */
export function checkLifetime(leaf: LeafNode, env: Env): void {
  if (leaf.source.type !== 'key-package') return;
  const { notBefore, notAfter } = leaf.source.lifetime;
  const now = BigInt(Math.floor(env.now() / 1000));
  if (now < notBefore || now > notAfter) refuse('LEAF-05', 'outside its lifetime');
  if (notAfter - notBefore > MAX_LIFETIME_SECONDS) refuse('LEAF-05', 'lifetime too long');
}

/**
 * Checks a leaf that enters the group, on its own; `checkTreeLeaves` checks it beside the others.
 * LEAF-06 (section 7.3): the leaf has the source that its place calls for.
 * LEAF-07 (sections 7.3 and 12.4.2): a leaf that replaces another has a fresh encryption key.
 * LEAF-11 (section 5.1.1): its keys have the lengths of the suite, so that a path can be encrypted to it.
 * @param replaces the leaf that was in this place before, if it is the same member's.
 * @throws CryptoError 'invalid-leaf', 'bad-signature', 'invalid-credential'
 */
export function checkNewLeaf(
  context: LeafContext,
  leaf: LeafNode,
  leafIndex: LeafIndex,
  source: LeafNodeSource['type'],
  replaces: LeafNode | null,
): void {
  if (leaf.source.type !== source) refuse('LEAF-06', `source ${leaf.source.type} instead of ${source}`);
  if (replaces !== null && equalBytes(replaces.encryptionKey, leaf.encryptionKey)) {
    refuse('LEAF-07', 'encryption key of the leaf it replaces');
  }
  if (
    leaf.encryptionKey.length !== context.suite.kem.Npk ||
    leaf.signatureKey.length !== SIGNATURE_KEY_LENGTH
  ) {
    refuse('LEAF-11', 'length of a public key');
  }
  checkCapabilities(context, leaf);
  checkSignature(context, leaf, leafIndex);
  const unchanged =
    replaces !== null &&
    equalBytes(replaces.signatureKey, leaf.signatureKey) &&
    sameCredential(replaces.credential, leaf.credential);
  if (!unchanged) checkCredential(context, leaf, replaces?.credential ?? null);
}

function sameCredential(a: Credential, b: Credential): boolean {
  return a.type === 'basic' && b.type === 'basic' && equalBytes(a.identity, b.identity);
}

/**
 * LEAF-08 (section 7.3): signature keys are unique among the members.
 * LEAF-09 (section 7.3, 12.4.3.1): encryption keys are unique among the nodes.
 * LEAF-10 (section 7.3): each credential type in use is supported by all members.
 * One pass over the tree, once for each commit.
 * @throws CryptoError 'invalid-leaf'
 */
export function checkTreeLeaves(tree: UnverifiedRatchetTree): void {
  const signatureKeys = new ByteSet();
  const encryptionKeys = new ByteSet();
  const credentialTypes = new Set<number>();
  for (const [index, node] of tree.entries()) {
    const key = node.type === 'leaf' ? node.leaf.encryptionKey : node.parent.encryptionKey;
    if (!encryptionKeys.add(key)) refuse('LEAF-09', `encryption key of node ${index} occurs twice`);
    if (node.type !== 'leaf') continue;
    if (!signatureKeys.add(node.leaf.signatureKey)) {
      refuse('LEAF-08', `signature key of node ${index} occurs twice`);
    }
    credentialTypes.add(CredentialTypeValue[node.leaf.credential.type]);
  }
  for (const { leafIndex, leaf } of tree.members()) {
    for (const type of credentialTypes) {
      if (!leaf.capabilities.credentials.includes(type)) {
        refuse('LEAF-10', `leaf ${leafIndex} doesn't support credential type ${type}`);
      }
    }
  }
}

/** Checks a leaf of a tree that this client joins: everything but the lifetime, and its source may be any. */
export function checkLeafOfTree(context: LeafContext, leaf: LeafNode, leafIndex: LeafIndex): void {
  checkNewLeaf(context, leaf, leafIndex, leaf.source.type, null);
}
