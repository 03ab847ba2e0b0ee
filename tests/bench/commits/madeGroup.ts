import { utf8 } from '../../../crypto-core/src/bytes.ts';
import { signLeaf } from '../../../crypto-core/src/group/ownLeaf.ts';
import {
  type CipherSuiteId,
  createGroup,
  createSignatureKeyPair,
  type Env,
  type Group,
  type SignatureKeyPair,
} from '../../../crypto-core/src/index.ts';
import { SecretTree } from '../../../crypto-core/src/schedule/secretTree.ts';
import { type NodeIndex, toLeafIndex } from '../../../crypto-core/src/structs/indices.ts';
import type { LeafNode } from '../../../crypto-core/src/structs/leafNode.ts';
import { getSuite } from '../../../crypto-core/src/suite/suites.ts';
import { directPath, nodeOfLeaf } from '../../../crypto-core/src/tree/math.ts';
import { RatchetTree } from '../../../crypto-core/src/tree/ratchetTree.ts';
import { rootHash } from '../../../crypto-core/src/tree/treeHash.ts';
import { createPath } from '../../../crypto-core/src/tree/treekem.ts';

export const GROUP_ID = utf8('commits');

/**
 * Makes the first and the last member's states of a group that nobody has built by messages, with a valid tree; with
 * `filled`, every second member has committed.
 */
export function madeGroup(
  suiteId: CipherSuiteId,
  members: number,
  filled: boolean,
  env: Env,
): readonly [Group, Group] {
  const suite = getSuite(suiteId);
  const keys = new Map<NodeIndex, Uint8Array>();
  const signatureKeys = Array.from({ length: members }, () => createSignatureKeyPair(env));
  const [signatureKey] = signatureKeys;
  if (signatureKey === undefined) throw new Error('no members');
  const credential = { type: 'basic', identity: utf8('a member') } as const;
  const created = createGroup({ suite: suiteId, groupId: GROUP_ID, credential, signatureKey }, env);
  const first = created.tree.leaf(created.ownLeaf);
  if (first === null) throw new Error('no leaf');
  const tree = RatchetTree.ofLeaf(first);
  for (const [node, key] of created.privateKeys) keys.set(node, key);
  for (const { publicKey, privateKey } of signatureKeys.slice(1)) {
    const encryption = suite.kem.generateKeyPair(env);
    const content = { ...first, encryptionKey: encryption.publicKey, signatureKey: publicKey };
    const leafIndex = tree.addLeaf(signLeaf(suite, content, null, privateKey));
    keys.set(nodeOfLeaf(leafIndex), encryption.privateKey);
  }
  const committers = filled ? signatureKeys : [];
  for (const [at, { privateKey }] of committers.entries()) {
    if (at % 2 === 1) continue;
    const leafIndex = toLeafIndex(at);
    const leaf = tree.leaf(leafIndex);
    if (leaf === null) throw new Error('no leaf');
    const makeLeaf = (encryptionKey: Uint8Array, parentHash: Uint8Array): LeafNode => {
      const content = { ...leaf, encryptionKey, source: { type: 'commit', parentHash } } as const;
      return signLeaf(suite, content, { groupId: GROUP_ID, leafIndex }, privateKey);
    };
    for (const [node, key] of createPath(suite, tree, leafIndex, makeLeaf, env).privateKeys)
      keys.set(node, key);
  }
  const context = { ...created.context, treeHash: rootHash(suite, tree) };
  const encryptionSecret = env.random(32);
  const stateOf = (at: number, { privateKey }: SignatureKeyPair): Group => {
    const ownLeaf = toLeafIndex(at);
    const own = [nodeOfLeaf(ownLeaf), ...directPath(ownLeaf, tree.leafCount)];
    return {
      ...created,
      context,
      tree: tree.clone(),
      ownLeaf,
      privateKeys: new Map(
        own.flatMap((node) => (tree.node(node) === null ? [] : [[node, keys.get(node)!]])),
      ),
      signaturePrivateKey: privateKey,
      secretTree: SecretTree.create(suite, tree.leafCount, encryptionSecret),
    };
  };
  return [stateOf(0, signatureKey), stateOf(members - 1, signatureKeys.at(-1) ?? signatureKey)];
}
