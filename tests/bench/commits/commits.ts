// Measures commits in groups of many, beside the primitives that they need. A program of its own: commits.js <json> prints JSON.
import { utf8 } from '../../../crypto-core/src/bytes.ts';
import { NO_LIMITS } from '../../../crypto-core/src/codec/limits.ts';
import { advanceEpoch } from '../../../crypto-core/src/group/epoch.ts';
import {
  type CipherSuiteId,
  createCommit,
  createGroup,
  createSignatureKeyPair,
  type Group,
  processCommit,
  ready,
} from '../../../crypto-core/src/index.ts';
import { SecretTree } from '../../../crypto-core/src/schedule/secretTree.ts';
import { type NodeIndex, toLeafIndex } from '../../../crypto-core/src/structs/indices.ts';
import type { LeafNode } from '../../../crypto-core/src/structs/leafNode.ts';
import { decryptWithLabel, deriveSecret, encryptWithLabel } from '../../../crypto-core/src/suite/labels.ts';
import { getSuite } from '../../../crypto-core/src/suite/suites.ts';
import { directPath, nodeOfLeaf } from '../../../crypto-core/src/tree/math.ts';
import { RatchetTree } from '../../../crypto-core/src/tree/ratchetTree.ts';
import { rootHash } from '../../../crypto-core/src/tree/treeHash.ts';
import { createPath } from '../../../crypto-core/src/tree/treekem.ts';
import { anyone, anything } from '../../../crypto-core/test/scenario/world.ts';
import { testEnv } from '../../../crypto-core/test/testEnv.ts';

interface Options {
  readonly sizes: readonly number[];
  readonly suites: readonly CipherSuiteId[];
  readonly rounds: number;
}

const options = JSON.parse(process.argv[2] ?? '') as Options;
const env = testEnv('commits');
const hooks = { memberCheck: anyone, policy: anything, limits: NO_LIMITS };

/**
 * Makes two members' states of a group that nobody has built by messages: leaves without signatures, which processing a
 * commit doesn't look at, and with `filled` the paths of every second member.
 */
function madeGroup(suiteId: CipherSuiteId, members: number, filled: boolean): readonly [Group, Group] {
  const suite = getSuite(suiteId);
  const keys = new Map<NodeIndex, Uint8Array>();
  const signatureKeys = [createSignatureKeyPair(env), createSignatureKeyPair(env)] as const;
  const credential = { type: 'basic', identity: utf8('a member') } as const;
  const [signatureKey] = signatureKeys;
  const created = createGroup({ suite: suiteId, groupId: utf8('commits'), credential, signatureKey }, env);
  const first = created.tree.leaf(created.ownLeaf);
  if (first === null) throw new Error('no leaf');
  const tree = RatchetTree.ofLeaf(first);
  for (const [node, key] of created.privateKeys) keys.set(node, key);
  for (let at = 1; at < members; at += 1) {
    const { publicKey, privateKey } = suite.kem.generateKeyPair(env);
    const isLast = at === members - 1;
    const signature = isLast ? signatureKeys[1].publicKey : env.random(32);
    const leafIndex = tree.addLeaf({ ...first, encryptionKey: publicKey, signatureKey: signature });
    keys.set(nodeOfLeaf(leafIndex), privateKey);
  }
  const committers = filled ? members : 0;
  for (let at = 0; at < committers; at += 2) {
    const leafIndex = toLeafIndex(at);
    const leaf = tree.leaf(leafIndex);
    if (leaf === null) throw new Error('no leaf');
    const makeLeaf = (encryptionKey: Uint8Array, parentHash: Uint8Array): LeafNode => ({
      ...leaf,
      encryptionKey,
      source: { type: 'commit', parentHash },
    });
    for (const [node, key] of createPath(suite, tree, leafIndex, makeLeaf, env).privateKeys)
      keys.set(node, key);
  }
  const context = { ...created.context, treeHash: rootHash(suite, tree) };
  const encryptionSecret = env.random(32);
  const stateOf = (at: number, signaturePrivateKey: Uint8Array): Group => {
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
      signaturePrivateKey,
      secretTree: SecretTree.create(suite, tree.leafCount, encryptionSecret),
    };
  };
  return [stateOf(0, signatureKey.privateKey), stateOf(members - 1, signatureKeys[1].privateKey)];
}

/** Does what processing a commit with a path can't do without, for byte strings of the same lengths. */
function primitives({ suite, tree, ownLeaf }: Group, commit: Uint8Array): () => void {
  const seed = env.random(32);
  const { publicKey } = suite.signatureKeyPair(seed);
  const [leaf, secret, nonce] = [new Uint8Array(200), env.random(32), env.random(12)];
  const [messageSignature, leafSignature] = [suite.sign(seed, commit), suite.sign(seed, leaf)];
  const sealed = suite.aead.seal(secret, nonce, leaf, commit);
  const recipient = suite.kem.generateKeyPair(env);
  const groupContext = new Uint8Array(200);
  const pathSecret = encryptWithLabel(
    suite,
    recipient.publicKey,
    'UpdatePathNode',
    groupContext,
    secret,
    env,
  );
  const { length: levels } = directPath(ownLeaf, tree.leafCount);
  const node = new Uint8Array(suite.kem.Npk + 120);
  const input = {
    suite,
    leafCount: tree.leafCount,
    context: {
      cipherSuite: suite.id,
      groupId: utf8('commits'),
      epoch: 1n,
      treeHash: secret,
      confirmedTranscriptHash: secret,
      extensions: [],
    },
  };
  return () => {
    for (let count = 0; count < 5; count += 1) suite.mac(secret, node.subarray(0, 50));
    suite.aead.open(secret, nonce, leaf, sealed);
    suite.verify(publicKey, commit, messageSignature);
    suite.verify(publicKey, leaf, leafSignature);
    decryptWithLabel(suite, recipient.privateKey, 'UpdatePathNode', groupContext, pathSecret);
    // Only the root of the path is above both the committer and the last member.
    suite.kem.deriveKeyPair(deriveSecret(suite, secret, 'node'));
    deriveSecret(suite, secret, 'path');
    // A tree hash and a parent hash for each level, the transcript hash, and the key schedule.
    for (let level = 0; level <= levels; level += 1) {
      suite.hash(node);
      suite.hash(node);
    }
    suite.hash(commit);
    advanceEpoch(input, secret, secret, secret);
  };
}

/** Returns milliseconds of processor time of this program, of the least of the rounds. */
function least(call: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < options.rounds; round += 1) {
    const start = process.cpuUsage();
    call();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

await ready();
const results = [];
for (const suite of options.suites) {
  for (const members of options.sizes) {
    for (const filled of [false, true]) {
      const [sender, receiver] = madeGroup(suite, members, filled);
      const args = { ...hooks, forcePath: true };
      const { commit } = createCommit(sender, args, env);
      const create = least(() => createCommit(sender, args, env));
      const process = least(() => processCommit(receiver, commit, hooks));
      const needed = least(primitives(receiver, commit));
      results.push({ suite, members, filled, bytes: commit.length, create, process, primitives: needed });
    }
  }
}
process.stdout.write(JSON.stringify(results));
