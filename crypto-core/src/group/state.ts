import { wipe } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import type { ExporterTree } from '../schedule/exporterTree.ts';
import type { EpochSecrets } from '../schedule/keySchedule.ts';
import type { SecretTree } from '../schedule/secretTree.ts';
import { type GroupContext, writeGroupContext } from '../structs/groupContext.ts';
import type { LeafIndex } from '../structs/indices.ts';
import { type LeafNode, writeLeafNode } from '../structs/leafNode.ts';
import type { ReInitProposal } from '../structs/proposal.ts';
import { refHash } from '../suite/labels.ts';
import { type CipherSuite, wipeSignatureKey } from '../suite/suites.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import type { PrivateKeys } from '../tree/treekem.ts';
import type { GroupView, MemberView } from './hooks.ts';

/** The other two live on in trees only, where they are used up. */
export type RetainedSecrets = Omit<EpochSecrets, 'encryptionSecret' | 'applicationExportSecret'>;

/**
 * - `active`: a member.
 * - `removed`: a commit removed this member; the state is that of the last epoch it was in.
 * - `reinitialized`: a commit ended the group in favour of another (RFC 9420 section 11.2).
 */
export type GroupStatus = 'active' | 'removed' | 'reinitialized';

/**
 * One member's state of one epoch: a value that no function changes, so that a pending commit can be merged (use it)
 * or discarded (drop it). The exceptions are `secretTree`, which moves with each message, and `exporterTree`, from which
 * secrets are taken: their changes have to be stored before the result is let out.
 */
export interface Group {
  readonly suite: CipherSuite;
  readonly status: GroupStatus;
  /** The ReInit that ended the group, when `status` is `reinitialized`. */
  readonly reInit?: ReInitProposal;
  readonly context: GroupContext;
  readonly tree: RatchetTree;
  readonly ownLeaf: LeafIndex;
  readonly privateKeys: PrivateKeys;
  /** The Ed25519 seed behind the own leaf's signature key. */
  readonly signaturePrivateKey: Uint8Array;
  readonly secrets: RetainedSecrets;
  readonly interimTranscriptHash: Uint8Array;
  readonly confirmationTag: Uint8Array;
  /** Private keys of own Update proposals that no commit has covered yet, by hexadecimal encryption key. */
  readonly pendingUpdates: ReadonlyMap<string, Uint8Array>;
  readonly secretTree: SecretTree;
  /** Undefined in an epoch that was stored by a version without it. */
  readonly exporterTree?: ExporterTree | undefined;
}

/**
 * Wipes the secrets of an epoch that is over, or of a group that is left (RFC 9420 sections 8 and 9.2). Neither the value nor others of the same epoch
 * (of `createProposal`, `reloadSecretTree`, and of a commit that removed this member) can be used afterwards: all
 * calls with them throw 'usage'. Epochs before and after have secrets of their own and go on. Stored records are the
 * caller's to delete.
 */
export function endGroup({
  secrets,
  privateKeys,
  pendingUpdates,
  signaturePrivateKey,
  secretTree,
  exporterTree,
}: Group): void {
  wipe(...(exporterTree?.values() ?? []));
  wipe(...Object.values(secrets), ...privateKeys.values(), ...pendingUpdates.values());
  wipeSignatureKey(signaturePrivateKey);
  secretTree.end();
}

const LAST_EPOCH = 2n ** 64n - 1n;

/** @throws CryptoError 'key-exhausted' in the last epoch that there is a number for */
export function nextEpoch({ epoch }: GroupContext): bigint {
  if (epoch >= LAST_EPOCH) throw new CryptoError('key-exhausted', 'epoch');
  return epoch + 1n;
}

export function encodeContext(context: GroupContext): Uint8Array {
  return encode(context, writeGroupContext);
}

/**
 * @throws CryptoError 'removed', 'unsupported' in a group that was reinitialized, or 'usage' in one that `endGroup` ended
 */
export function assertActive(group: Group): void {
  assertNotEnded(group);
  if (group.status === 'removed') throw new CryptoError('removed');
  if (group.status === 'reinitialized') throw new CryptoError('unsupported', 'the group was reinitialized');
}

/** @throws CryptoError 'usage' */
export function assertNotEnded({ secretTree }: Group): void {
  if (secretTree.isEnded) throw new CryptoError('usage', 'the group was ended');
}

/** @throws CryptoError 'unknown-sender' when the leaf is blank or outside the tree */
export function memberLeaf(tree: RatchetTree, index: LeafIndex): LeafNode {
  const leaf = index < tree.leafCount ? tree.leaf(index) : null;
  if (leaf === null) throw new CryptoError('unknown-sender', `leaf ${index}`);
  return leaf;
}

/** Lists the members of a tree, in leaf order. */
export function membersOf(tree: RatchetTree): MemberView[] {
  return [...tree.members()].map(({ leafIndex, leaf }) => memberView(leafIndex, leaf));
}

export function memberView(leafIndex: LeafIndex, leaf: LeafNode): MemberView {
  return { leafIndex, credential: leaf.credential, signatureKey: leaf.signatureKey };
}

/**
 * Names a leaf of a client that has committed. The client's next commit gives the leaf another name, and the same one
 * never comes back. Null for a leaf that still is as its KeyPackage brought it, since a last-resort KeyPackage may
 * bring the same leaf twice.
 * @param label of the application, for RefHash (RFC 9420 section 5.2)
 * @returns 32 bytes
 * @throws CryptoError 'unknown-sender' when the leaf is blank
 */
export function leafRef({ suite, tree }: Group, leafIndex: LeafIndex, label: string): Uint8Array | null {
  const leaf = memberLeaf(tree, leafIndex);
  if (leaf.source.type === 'key-package') return null;
  return refHash(suite, label, encode(leaf, writeLeafNode));
}

/** Returns the public state for the application: GroupContext (RFC 9420 section 8.1) and members. O(members). */
export function groupView(group: Group): GroupView {
  return {
    suite: group.suite.id,
    groupId: group.context.groupId,
    epoch: group.context.epoch,
    ownLeaf: group.ownLeaf,
    extensions: group.context.extensions,
    members: membersOf(group.tree),
    epochAuthenticator: group.secrets.epochAuthenticator.slice(),
  };
}
