/** GroupInfo (RFC 9420 section 12.4.3): a signed description of an epoch, for those who join it. */
import { equalBytes } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode, encodeOpaque } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { externalKeyPair } from '../schedule/keySchedule.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import {
  type GroupInfo,
  type GroupInfoContent,
  groupInfoTBS,
  type UnverifiedGroupInfo,
} from '../structs/groupInfo.ts';
import { encodeMlsMessage } from '../structs/mlsMessage.ts';
import { readRatchetTreeNodes, writeRatchetTreeNodes } from '../structs/node.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { RatchetTree, type UnverifiedRatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import type { JoinPolicy } from './hooks.ts';
import { assertActive, type Group, memberLeaf, membersOf, memberView } from './state.ts';

function ratchetTreeExtension(tree: RatchetTree): Extension {
  return { type: ExtensionTypeValue.ratchetTree, data: encode(tree.toNodes(), writeRatchetTreeNodes, 4096) };
}

function externalPubExtension(group: Group): Extension {
  const { publicKey } = externalKeyPair(group.suite, group.secrets.externalSecret);
  return {
    type: ExtensionTypeValue.externalPub,
    data: encodeOpaque(publicKey),
  };
}

function signGroupInfo(group: Group, extensions: readonly Extension[]): UnverifiedGroupInfo {
  const content: GroupInfoContent = {
    groupContext: group.context,
    extensions,
    confirmationTag: group.confirmationTag,
    signer: group.ownLeaf,
  };
  const signature = signWithLabel(
    group.suite,
    group.signaturePrivateKey,
    'GroupInfoTBS',
    groupInfoTBS(content),
  );
  return { ...content, signature };
}

/**
 * Where the tree goes that a GroupInfo describes (RFC 9420 section 12.4.3.3): into it, so that it is all that a new member
 * needs, or another way, of which `ratchetTreeNodes` is the start. The GroupInfo names it by its tree hash then.
 */
export type TreePlace = 'inside' | 'beside';

function treeExtensions({ tree }: Group, place: TreePlace): Extension[] {
  return place === 'inside' ? [ratchetTreeExtension(tree)] : [];
}

/** Makes the GroupInfo for a Welcome. */
export function welcomeGroupInfo(
  group: Group,
  extensions: readonly Extension[] = [],
  place: TreePlace = 'inside',
): UnverifiedGroupInfo {
  return signGroupInfo(group, [...treeExtensions(group, place), ...extensions]);
}

/**
 * Makes the MLSMessage(GroupInfo) that an external commit starts from, with the external public key (RFC 9420 section 12.4.3).
 * @param extensions further ones, of the application
 * @param place of the tree, which the joiner is given beside it if it isn't inside
 * @throws CryptoError 'removed', 'unsupported'
 */
export function exportGroupInfo(
  group: Group,
  extensions: readonly Extension[] = [],
  place: TreePlace = 'inside',
): Uint8Array {
  assertActive(group);
  const own = [...treeExtensions(group, place), externalPubExtension(group)];
  const groupInfo = signGroupInfo(group, [...own, ...extensions]);
  return encodeMlsMessage({ wireFormat: 'group-info', groupInfo });
}

/**
 * Decodes the tree that came inside a GroupInfo, or the one given beside it.
 * TREE-08 (section 12.4.3.3): a tree that is given beside the GroupInfo is the one that it names by its tree hash. Whoever
 * has signed the GroupInfo is not to blame for another one, so that this comes before all else.
 * @throws CryptoError 'missing-tree' when there is neither, or another beside, 'malformed', 'unsupported', 'invalid-tree'
 */
export function treeOfGroupInfo(
  suite: CipherSuite,
  { extensions, groupContext }: UnverifiedGroupInfo,
  beside: Uint8Array | undefined,
  limits?: Limits,
): UnverifiedRatchetTree {
  const inside = findExtension(extensions, ExtensionTypeValue.ratchetTree);
  if (inside !== undefined) return decodeTree(inside, limits);
  if (beside === undefined) throw new CryptoError('missing-tree', 'no ratchet tree with the group info');
  const tree = treeBeside(beside.slice(), limits);
  if (tree === null || !equalBytes(rootHash(suite, tree), groupContext.treeHash)) {
    throw new CryptoError('missing-tree', 'TREE-08: not the tree that the group info names');
  }
  return tree;
}

function decodeTree(bytes: Uint8Array, limits: Limits | undefined): UnverifiedRatchetTree {
  return RatchetTree.fromNodes(decode(bytes, readRatchetTreeNodes, limits));
}

/** Null for bytes that are no tree. */
function treeBeside(bytes: Uint8Array, limits: Limits | undefined): UnverifiedRatchetTree | null {
  try {
    return decodeTree(bytes, limits);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Reads external_pub. @throws CryptoError 'unsupported' when the group can't be joined from outside */
export function externalPubOf(info: GroupInfo): Uint8Array {
  const data = findExtension(info.extensions, ExtensionTypeValue.externalPub);
  if (data === undefined) throw new CryptoError('unsupported', 'the group info has no external_pub');
  return decode(data, (r) => r.opaque());
}

/**
 * Verifies a GroupInfo. The tree that holds the signer's leaf is verified against the GroupInfo afterwards, by
 * `verifyRatchetTree`.
 * INFO-01 (section 12.4.3): the signer's leaf is not blank.
 * INFO-02 (section 12.4.3): the signature holds under that leaf's key.
 * @throws CryptoError 'unknown-sender', 'bad-signature'
 */
export function verifyGroupInfo(
  suite: CipherSuite,
  info: UnverifiedGroupInfo,
  tree: UnverifiedRatchetTree,
): GroupInfo {
  const leaf = info.signer < tree.leafCount ? tree.leaf(info.signer) : null;
  if (leaf === null) throw new CryptoError('unknown-sender', `INFO-01: leaf ${info.signer}`);
  if (!verifyWithLabel(suite, leaf.signatureKey, 'GroupInfoTBS', groupInfoTBS(info), info.signature)) {
    throw new CryptoError('bad-signature', 'INFO-02: group info');
  }
  return info as GroupInfo;
}

/** Puts a valid group before the application. @throws CryptoError 'policy' */
export function checkJoinPolicy(policy: JoinPolicy | undefined, info: GroupInfo, tree: RatchetTree): void {
  const { groupId, epoch, extensions } = info.groupContext;
  policy?.({
    groupId,
    epoch,
    extensions,
    infoExtensions: info.extensions,
    signer: memberView(info.signer, memberLeaf(tree, info.signer)),
    members: membersOf(tree),
  });
}
