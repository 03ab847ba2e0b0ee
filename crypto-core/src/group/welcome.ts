/** Making Welcomes and joining by them (RFC 9420 section 12.4.3.1). */
import { EMPTY, equalBytes, toHex, wipe } from '../bytes.ts';
import { type Limits, NO_LIMITS } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { deriveEpoch, deriveWelcomeKey, deriveWelcomeSecret } from '../schedule/keySchedule.ts';
import type { Extension } from '../structs/extension.ts';
import {
  type GroupInfo,
  readGroupInfo,
  type UnverifiedGroupInfo,
  writeGroupInfo,
} from '../structs/groupInfo.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import { writeKeyPackage } from '../structs/keyPackage.ts';
import { writeLeafNode } from '../structs/leafNode.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../structs/mlsMessage.ts';
import {
  type EncryptedGroupSecrets,
  type GroupSecrets,
  readGroupSecrets,
  type Welcome,
  writeGroupSecrets,
} from '../structs/welcome.ts';
import { decryptWithLabel, encryptorWithLabel, makeKeyPackageRef } from '../suite/labels.ts';
import { type CipherSuite, getSuite } from '../suite/suites.ts';
import { isInSubtree, nodeOfLeaf } from '../tree/math.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import { followPath } from '../tree/treekem.ts';
import type { AssembledCommit } from './assemble.ts';
import {
  type Continuation,
  checkContinuation,
  checkContinuationPsks,
  withContinuation,
} from './continuation.ts';
import { type EpochState, startEpoch } from './epoch.ts';
import {
  checkJoinPolicy,
  type TreePlace,
  treeOfGroupInfo,
  verifyGroupInfo,
  welcomeGroupInfo,
} from './groupInfo.ts';
import type { JoinPolicy, JoinProgress, MemberCheck, PskLookup } from './hooks.ts';
import type { KeyPackageBundle, SignatureKeyPair } from './keyPackage.ts';
import type { ProposalEffects } from './proposalList.ts';
import { pskSecretOf } from './psks.ts';
import { encodeContext, type Group } from './state.ts';
import { verifyRatchetTree } from './verifyRatchetTree.ts';

const LABEL = 'Welcome';

/** Makes the MLSMessage(Welcome) with the secrets for all clients that the commit adds. */
export function createWelcome(
  pending: Group,
  effects: ProposalEffects,
  { path, joinerSecret }: AssembledCommit,
  pskSecret: Uint8Array,
  infoExtensions: readonly Extension[],
  treePlace: TreePlace | undefined,
  env: Env,
): Uint8Array {
  const { suite } = pending;
  const { key, nonce } = welcomeKey(suite, joinerSecret, pskSecret);
  const groupInfo = encode(welcomeGroupInfo(pending, infoExtensions, treePlace), writeGroupInfo, 4096);
  const encryptedGroupInfo = suite.aead.seal(key, nonce, EMPTY, groupInfo);
  wipe(key);
  const encrypt = encryptorWithLabel(suite, LABEL, encryptedGroupInfo);
  const secrets = effects.added.map(({ leafIndex, keyPackage }): EncryptedGroupSecrets => {
    const step = path?.steps.findIndex(({ node }) => isInSubtree(leafIndex, node)) ?? -1;
    const groupSecrets = encode(
      { joinerSecret, pathSecret: path?.pathSecrets[step] ?? null, psks: effects.psks },
      writeGroupSecrets,
    );
    const newMember = makeKeyPackageRef(suite, encode(keyPackage, writeKeyPackage));
    const sealed = encrypt(keyPackage.initKey, groupSecrets, env);
    wipe(groupSecrets);
    return { newMember, encryptedGroupSecrets: sealed };
  });
  return encodeMlsMessage({
    wireFormat: 'welcome',
    welcome: { cipherSuite: suite.id, secrets, encryptedGroupInfo },
  });
}

/**
 * WELCOME-01: the Welcome holds secrets for this key package, and is of its suite.
 * @throws CryptoError 'missing-key', 'decrypt-failed'
 */
export function openGroupSecrets(
  suite: CipherSuite,
  welcome: Welcome,
  keyPackageRef: Uint8Array,
  initPrivateKey: Uint8Array,
  limits?: Limits,
): GroupSecrets {
  const entry = welcome.secrets.find(({ newMember }) => equalBytes(newMember, keyPackageRef));
  if (welcome.cipherSuite !== suite.id || entry === undefined) {
    throw new CryptoError('missing-key', 'WELCOME-01: not for this key package');
  }
  const { encryptedGroupInfo } = welcome;
  const sealed = entry.encryptedGroupSecrets;
  const secrets = decryptWithLabel(suite, initPrivateKey, LABEL, encryptedGroupInfo, sealed);
  return decode(secrets, readGroupSecrets, limits);
}

/** @throws CryptoError 'decrypt-failed', 'malformed' */
export function openGroupInfo(
  suite: CipherSuite,
  welcome: Welcome,
  joinerSecret: Uint8Array,
  pskSecret: Uint8Array,
  limits?: Limits,
): UnverifiedGroupInfo {
  const { key, nonce } = welcomeKey(suite, joinerSecret, pskSecret);
  const groupInfo = suite.aead.open(key, nonce, EMPTY, welcome.encryptedGroupInfo);
  wipe(key);
  return decode(groupInfo, readGroupInfo, limits);
}

function welcomeKey(
  suite: CipherSuite,
  joinerSecret: Uint8Array,
  pskSecret: Uint8Array,
): { key: Uint8Array; nonce: Uint8Array } {
  const welcomeSecret = deriveWelcomeSecret(suite, joinerSecret, pskSecret);
  const derived = deriveWelcomeKey(suite, welcomeSecret);
  wipe(welcomeSecret);
  return derived;
}

/**
 * WELCOME-02 (section 12.4.3.1): the tree holds the very leaf of the key package.
 * @throws CryptoError 'invalid-tree'
 */
function findOwnLeaf(tree: RatchetTree, bundle: KeyPackageBundle): LeafIndex {
  const own = encode(bundle.keyPackage.leafNode, writeLeafNode);
  for (const { leafIndex, leaf } of tree.members()) {
    if (!equalBytes(leaf.signatureKey, bundle.keyPackage.leafNode.signatureKey)) continue;
    if (equalBytes(encode(leaf, writeLeafNode), own)) return leafIndex;
  }
  throw new CryptoError('invalid-tree', 'WELCOME-02: the own leaf is not in the tree');
}

/**
 * Starts the epoch that a GroupInfo describes.
 * WELCOME-05: the confirmation tag holds.
 * @throws CryptoError 'bad-confirmation-tag'
 */
export function joinEpoch(
  suite: CipherSuite,
  info: GroupInfo,
  tree: RatchetTree,
  joinerSecret: Uint8Array,
  pskSecret: Uint8Array,
): EpochState {
  const context = info.groupContext;
  const epoch = startEpoch(
    { suite, context, leafCount: tree.leafCount },
    deriveEpoch(suite, joinerSecret, pskSecret, encodeContext(context)),
  );
  if (!equalBytes(epoch.confirmationTag, info.confirmationTag)) {
    throw new CryptoError('bad-confirmation-tag', 'WELCOME-05: group info');
  }
  return epoch;
}

export interface JoinByWelcomeArgs {
  readonly memberCheck: MemberCheck;
  readonly joinPolicy?: JoinPolicy;
  readonly progress?: JoinProgress;
  /** `optional<Node> ratchet_tree<V>`, when the Welcome doesn't hold the tree. Anybody may have brought it. */
  readonly ratchetTree?: Uint8Array;
  readonly psks?: PskLookup;
  /** The group that the one to be joined continues: its successor after a ReInit, or a branch of it. */
  readonly continues?: Continuation;
  /** The most of each thing that the group may have. */
  readonly limits?: Limits;
}

function decodeWelcome(bytes: Uint8Array, limits: Limits | undefined): Welcome {
  const message = decodeMlsMessage(bytes.slice(), limits);
  if (message.wireFormat !== 'welcome') {
    throw new CryptoError('malformed', `${message.wireFormat} instead of a welcome`);
  }
  return message.welcome;
}

/**
 * Reads the KeyPackageRefs (RFC 9420 section 5.2) that a Welcome has secrets for, so that a client finds which of its bundles is meant.
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function welcomeKeyPackageRefs(bytes: Uint8Array, limits?: Limits): Uint8Array[] {
  return decodeWelcome(bytes, limits).secrets.map(({ newMember }) => newMember);
}

/**
 * Parts a Welcome (RFC 9420 section 12.4.3.1) among those whom it is for, who then needn't be given the secrets of all others.
 * @param refs for each part, the KeyPackageRefs that it has secrets for
 * @returns MLSMessage(Welcome) for each
 * @throws CryptoError 'malformed', 'unsupported', 'usage' for a ref that the Welcome isn't for
 */
export function splitWelcome(bytes: Uint8Array, refs: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const whole = decodeWelcome(bytes, NO_LIMITS);
  const byRef = new Map(whole.secrets.map((secrets) => [toHex(secrets.newMember), secrets]));
  return refs.map((part) => {
    const secrets = part.map((ref) => {
      const found = byRef.get(toHex(ref));
      if (found === undefined) throw new CryptoError('usage', 'a key package that the welcome is not for');
      return found;
    });
    return encodeMlsMessage({ wireFormat: 'welcome', welcome: { ...whole, secrets } });
  });
}

/**
 * Joins a group by a Welcome (RFC 9420 section 12.4.3.1). The caller checks that it holds no group of this id already, and deletes the bundle afterwards, unless
 * it is the last-resort one.
 * A group that continues another (WELCOME-03) is checked by `checkContinuation`.
 * WELCOME-04: the suite in the GroupInfo is the Welcome's.
 * @throws CryptoError 'malformed', 'missing-key', 'missing-psk', 'missing-tree' (which a later attempt with the tree mends),
 * 'decrypt-failed', 'unsupported', 'unknown-sender', 'bad-signature', 'bad-confirmation-tag', 'invalid-tree', 'invalid-leaf', 'invalid-credential', 'invalid-commit', 'policy'
 */
export function joinByWelcome(
  bytes: Uint8Array,
  bundle: KeyPackageBundle,
  signatureKey: SignatureKeyPair,
  args: JoinByWelcomeArgs,
): Group {
  const welcome = decodeWelcome(bytes, args.limits);
  if (!equalBytes(signatureKey.publicKey, bundle.keyPackage.leafNode.signatureKey)) {
    throw new CryptoError('missing-key', 'signature key of another key package');
  }
  const suite = getSuite(bundle.keyPackage.cipherSuite);
  const { joinerSecret, pathSecret, psks } = openGroupSecrets(
    suite,
    welcome,
    bundle.ref,
    bundle.initPrivateKey,
    args.limits,
  );
  checkContinuationPsks(psks, args.continues);
  const pskSecret = pskSecretOf(suite, psks, withContinuation(args.continues, args.psks));
  const received = openGroupInfo(suite, welcome, joinerSecret, pskSecret, args.limits);
  if (received.groupContext.cipherSuite !== suite.id) {
    throw new CryptoError('unsupported', 'WELCOME-04: cipher suite');
  }
  const receivedTree = treeOfGroupInfo(suite, received, args.ratchetTree, args.limits);
  const info = verifyGroupInfo(suite, received, receivedTree);
  const tree = verifyRatchetTree(suite, receivedTree, info, args);
  const ownLeaf = findOwnLeaf(tree, bundle);
  const epoch = joinEpoch(suite, info, tree, joinerSecret, pskSecret);
  wipe(joinerSecret);
  if (args.continues !== undefined) checkContinuation(args.continues, info.groupContext, tree);
  checkJoinPolicy(args.joinPolicy, info, tree);
  const privateKeys = new Map<NodeIndex, Uint8Array>([[nodeOfLeaf(ownLeaf), bundle.leafPrivateKey.slice()]]);
  if (pathSecret !== null) {
    const shared = tree.filteredDirectPath(info.signer).filter(({ node }) => isInSubtree(ownLeaf, node));
    const followed = followPath(suite, tree, shared, pathSecret);
    for (const [node, key] of followed.privateKeys) privateKeys.set(node, key);
    wipe(pathSecret, followed.commitSecret);
  }
  return {
    suite,
    status: 'active',
    context: info.groupContext,
    tree,
    ownLeaf,
    privateKeys,
    signaturePrivateKey: signatureKey.privateKey.slice(),
    pendingUpdates: new Map(),
    ...epoch,
  };
}
