/** TreeKEM (RFC 9420 sections 7.4 to 7.6): fresh secrets along a path, encrypted to all members below it. */
import { equalBytes, wipe } from '../bytes.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import type { UpdatePath, UpdatePathNode } from '../structs/updatePath.ts';
import { decryptWithLabel, deriveSecret, encryptorWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { isInSubtree, isLeaf, leafOfNode, nodeOfLeaf } from './math.ts';
import { setPathKeys } from './parentHash.ts';
import type { PathStep, RatchetTree } from './ratchetTree.ts';

const LABEL = 'UpdatePathNode';

/** The HPKE private keys of one member: of its leaf and of the ancestors it is merged into. O(log n) entries. */
export type PrivateKeys = ReadonlyMap<NodeIndex, Uint8Array>;

/** A path made by this member, before it is encrypted: the tree holds its public half already. */
export interface NewPath {
  readonly leafNode: LeafNode;
  readonly steps: readonly PathStep[];
  readonly publicKeys: readonly Uint8Array[];
  /** One for each step, from the leaf up. */
  readonly pathSecrets: readonly Uint8Array[];
  /** The private keys of the new leaf and of each step. */
  readonly privateKeys: PrivateKeys;
  readonly commitSecret: Uint8Array;
}

interface DerivedSecrets {
  readonly pathSecrets: readonly Uint8Array[];
  readonly keyPairs: readonly { publicKey: Uint8Array; privateKey: Uint8Array }[];
  /** path_secret[n + 1]. */
  readonly commitSecret: Uint8Array;
}

/** Derives `count` path secrets starting with the given one, with their key pairs. */
function derivePath(suite: CipherSuite, first: Uint8Array, count: number): DerivedSecrets {
  const pathSecrets: Uint8Array[] = [];
  const keyPairs = [];
  let secret = first;
  for (let index = 0; index < count; index += 1) {
    const nodeSecret = deriveSecret(suite, secret, 'node');
    keyPairs.push(suite.kem.deriveKeyPair(nodeSecret));
    wipe(nodeSecret);
    pathSecrets.push(secret);
    secret = deriveSecret(suite, secret, 'path');
  }
  return { pathSecrets, keyPairs, commitSecret: secret };
}

/**
 * Gives `sender` a new leaf and new keys above it, in `tree`.
 * @param makeLeaf signs the new leaf, of source `commit`, for its key and parent hash.
 */
export function createPath(
  suite: CipherSuite,
  tree: RatchetTree,
  sender: LeafIndex,
  makeLeaf: (encryptionKey: Uint8Array, parentHash: Uint8Array) => LeafNode,
  env: Env,
): NewPath {
  const leafKeyPair = suite.kem.generateKeyPair(env);
  tree.blankDirectPath(sender);
  const steps = tree.filteredDirectPath(sender);
  const derived = derivePath(suite, env.random(suite.kdf.Nh), steps.length);
  const publicKeys = derived.keyPairs.map((pair) => pair.publicKey);
  const parentHash = setPathKeys(suite, tree, steps, publicKeys);
  const leafNode = makeLeaf(leafKeyPair.publicKey, parentHash);
  tree.setLeaf(sender, leafNode);
  const privateKeys = new Map([[nodeOfLeaf(sender), leafKeyPair.privateKey]]);
  for (const [index, { node }] of steps.entries()) {
    const pair = derived.keyPairs[index];
    if (pair !== undefined) privateKeys.set(node, pair.privateKey);
  }
  const { pathSecrets, commitSecret } = derived;
  return { leafNode, steps, publicKeys, pathSecrets, privateKeys, commitSecret };
}

/** Lists the nodes that a path secret is encrypted to, without new members, who get theirs in the Welcome. */
function recipients(tree: RatchetTree, node: NodeIndex, added: ReadonlySet<LeafIndex>): NodeIndex[] {
  const resolution = tree.resolution(node);
  if (added.size === 0) return resolution;
  return resolution.filter((item) => !isLeaf(item) || !added.has(leafOfNode(item)));
}

/** @param context the encoded provisional GroupContext, which has the tree hash of the tree with this path. */
export function encryptPath(
  suite: CipherSuite,
  tree: RatchetTree,
  path: NewPath,
  context: Uint8Array,
  added: ReadonlySet<LeafIndex>,
  env: Env,
): UpdatePath {
  const encrypt = encryptorWithLabel(suite, LABEL, context);
  const nodes = path.steps.map(({ copathChild }, index): UpdatePathNode => {
    const encryptionKey = path.publicKeys[index];
    const pathSecret = path.pathSecrets[index];
    if (encryptionKey === undefined || pathSecret === undefined) {
      throw new CryptoError('usage', 'a path needs a secret for each step');
    }
    const encryptedPathSecret = recipients(tree, copathChild, added).map((recipient) => {
      const recipientKey = tree.encryptionKey(recipient);
      if (recipientKey === null) throw new CryptoError('usage', 'a resolution holds no blank node');
      return encrypt(recipientKey, pathSecret, env);
    });
    return { encryptionKey, encryptedPathSecret };
  });
  return { leafNode: path.leafNode, nodes };
}

/**
 * Merges a received path's public half into `tree`.
 * PATH-01: one node for each step of the filtered direct path (section 7.6).
 * PATH-02: one ciphertext for each recipient of each step (section 7.6).
 * PATH-03: the leaf carries the parent hash that follows from the path (section 7.9.2).
 * PATH-05: the path's public keys are ones that a later path can be encrypted to (section 5.1.1).
 * @throws CryptoError 'invalid-commit'
 */
export function mergePath(
  suite: CipherSuite,
  tree: RatchetTree,
  sender: LeafIndex,
  path: UpdatePath,
  added: ReadonlySet<LeafIndex>,
): readonly PathStep[] {
  tree.blankDirectPath(sender);
  const steps = tree.filteredDirectPath(sender);
  if (steps.length !== path.nodes.length) {
    throw new CryptoError('invalid-commit', `PATH-01: ${path.nodes.length} nodes for ${steps.length} steps`);
  }
  for (const [index, { copathChild }] of steps.entries()) {
    if (path.nodes[index]?.encryptedPathSecret.length !== recipients(tree, copathChild, added).length) {
      throw new CryptoError('invalid-commit', `PATH-02: ciphertexts of path node ${index}`);
    }
  }
  const publicKeys = path.nodes.map((node) => node.encryptionKey);
  for (const [index, { node }] of steps.entries()) {
    const publicKey = publicKeys[index];
    if (publicKey === undefined || !suite.kem.isPublicKey(publicKey)) {
      throw new CryptoError('invalid-commit', `PATH-05: key of node ${node}`);
    }
  }
  const parentHash = setPathKeys(suite, tree, steps, publicKeys);
  const { source } = path.leafNode;
  if (source.type !== 'commit' || !equalBytes(source.parentHash, parentHash)) {
    throw new CryptoError('invalid-commit', "PATH-03: the leaf's parent hash");
  }
  tree.setLeaf(sender, path.leafNode);
  return steps;
}

export interface ReceivedPath {
  /** The secret of the lowest step above the receiver's leaf. */
  readonly pathSecret: Uint8Array;
  readonly commitSecret: Uint8Array;
  /** The private keys of the steps above the receiver's leaf. */
  readonly privateKeys: PrivateKeys;
}

/**
 * Decrypts the path secret meant for this member and derives the keys and the commit secret from it.
 * @param tree after `mergePath`. @param keys the member's keys from before the path.
 * @throws CryptoError 'missing-key' when no key of ours fits, 'decrypt-failed', or 'invalid-commit' (PATH-04) when the
 * secrets don't lead to the public keys of the path.
 */
export function decryptPath(
  suite: CipherSuite,
  tree: RatchetTree,
  own: LeafIndex,
  keys: PrivateKeys,
  path: UpdatePath,
  steps: readonly PathStep[],
  context: Uint8Array,
  added: ReadonlySet<LeafIndex>,
): ReceivedPath {
  const start = steps.findIndex(({ copathChild }) => isInSubtree(own, copathChild));
  const step = steps[start];
  if (step === undefined) throw new CryptoError('missing-key', 'the path leads past this member');
  const candidates = recipients(tree, step.copathChild, added);
  const position = candidates.findIndex((node) => keys.has(node));
  const recipient = candidates[position];
  const privateKey = recipient === undefined ? undefined : keys.get(recipient);
  const sealed = path.nodes[start]?.encryptedPathSecret[position];
  if (privateKey === undefined || sealed === undefined) {
    throw new CryptoError('missing-key', 'the path is encrypted to no key of this member');
  }
  const pathSecret = decryptWithLabel(suite, privateKey, LABEL, context, sealed);
  return { pathSecret, ...followPath(suite, tree, steps.slice(start), pathSecret) };
}

/**
 * Derives the private keys of `steps` from the path secret of the first, and the commit secret.
 * PATH-04: each derived public key is the one in the tree (section 7.5).
 * @throws CryptoError 'invalid-commit'
 */
export function followPath(
  suite: CipherSuite,
  tree: RatchetTree,
  steps: readonly PathStep[],
  pathSecret: Uint8Array,
): { privateKeys: PrivateKeys; commitSecret: Uint8Array } {
  if (pathSecret.length !== suite.kdf.Nh) throw new CryptoError('malformed', 'length of a path secret');
  const derived = derivePath(suite, pathSecret, steps.length);
  const privateKeys = new Map<NodeIndex, Uint8Array>();
  for (const [index, { node }] of steps.entries()) {
    const pair = derived.keyPairs[index];
    const publicKey = tree.encryptionKey(node);
    if (pair === undefined || publicKey === null || !equalBytes(pair.publicKey, publicKey)) {
      throw new CryptoError('invalid-commit', `PATH-04: key of node ${node}`);
    }
    privateKeys.set(node, pair.privateKey);
  }
  // The first is the caller's.
  wipe(...derived.pathSecrets.slice(1));
  return { privateKeys, commitSecret: derived.commitSecret };
}

/**
 * Copies the keys that still belong to a node of `tree`: blanking or dropping a node ends the use of its key, and each
 * epoch has its own copies to wipe.
 */
export function keysInTree(tree: RatchetTree, keys: PrivateKeys): Map<NodeIndex, Uint8Array> {
  const kept = [...keys].filter(([node]) => tree.node(node) !== null);
  return new Map(kept.map(([node, key]) => [node, key.slice()]));
}
