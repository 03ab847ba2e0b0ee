// Measures commits in groups of many, beside the primitives that they need. A program of its own: commits.js <json> prints JSON.
import { EMPTY } from '../../../crypto-core/src/bytes.ts';
import { NO_LIMITS } from '../../../crypto-core/src/codec/limits.ts';
import { advanceEpoch } from '../../../crypto-core/src/group/epoch.ts';
import {
  type CipherSuiteId,
  createCommit,
  type Group,
  joinByWelcome,
  processCommit,
  ready,
} from '../../../crypto-core/src/index.ts';
import { decryptWithLabel, deriveSecret, encryptWithLabel } from '../../../crypto-core/src/suite/labels.ts';
import { directPath } from '../../../crypto-core/src/tree/math.ts';
import { anyone, anything, device, keyPackageOf } from '../../../crypto-core/test/scenario/world.ts';
import { testEnv } from '../../../crypto-core/test/testEnv.ts';
import { leastOf } from './least.ts';
import { GROUP_ID, madeGroup } from './madeGroup.ts';

interface Options {
  readonly sizes: readonly number[];
  readonly suites: readonly CipherSuiteId[];
  readonly rounds: number;
}

const options = JSON.parse(process.argv[2] ?? '') as Options;
const env = testEnv('commits');
const hooks = { memberCheck: anyone, policy: anything, limits: NO_LIMITS };

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
      groupId: GROUP_ID,
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

/** Lets a newcomer join. @returns milliseconds, of the least of at most three times, and how often it said how far it was */
function joining(suite: CipherSuiteId, sender: Group): { join: number; told: number } {
  const newcomer = device('newcomer', env);
  const bundle = keyPackageOf(newcomer, suite, env);
  const { welcome } = createCommit(sender, { ...hooks, adds: [bundle.bytes] }, env);
  let told = 0;
  const progress = (): void => void (told += 1);
  const args = { memberCheck: anyone, limits: NO_LIMITS, progress };
  const rounds = Math.min(options.rounds, 3);
  const join = leastOf(rounds, () => joinByWelcome(welcome ?? EMPTY, bundle, newcomer.signatureKey, args));
  return { join, told: told / rounds };
}

await ready();
const results = [];
for (const suite of options.suites) {
  for (const members of options.sizes) {
    for (const filled of [false, true]) {
      const [sender, receiver] = madeGroup(suite, members, filled, env);
      const args = { ...hooks, forcePath: true };
      const { commit } = createCommit(sender, args, env);
      const create = leastOf(options.rounds, () => createCommit(sender, args, env));
      const process = leastOf(options.rounds, () => processCommit(receiver, commit, hooks));
      const needed = leastOf(options.rounds, primitives(receiver, commit));
      const joined = joining(suite, sender);
      const bytes = commit.length;
      results.push({ suite, members, filled, bytes, create, process, primitives: needed, ...joined });
    }
  }
}
process.stdout.write(JSON.stringify(results));
