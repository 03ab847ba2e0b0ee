import { EMPTY, wipe } from '../bytes.ts';
import { DEFAULT_LIMITS } from '../codec/limits.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { deriveEpochSecrets } from '../schedule/keySchedule.ts';
import type { Credential } from '../structs/credential.ts';
import type { Extension } from '../structs/extension.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import { toLeafIndex } from '../structs/indices.ts';
import type { Lifetime } from '../structs/leafNode.ts';
import { type CipherSuiteId, getSuite } from '../suite/suites.ts';
import { nodeOfLeaf } from '../tree/math.ts';
import { RatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import { startEpoch } from './epoch.ts';
import type { SignatureKeyPair } from './keyPackage.ts';
import { type LeafOptions, ownLeafContent, signLeaf } from './ownLeaf.ts';
import type { Group } from './state.ts';
import { checkAppData, checkCapabilities, MAX_LIFETIME_SECONDS, secondsOf } from './validateLeaf.ts';

export interface CreateGroupArgs {
  readonly suite: CipherSuiteId;
  readonly groupId: Uint8Array;
  readonly credential: Credential;
  readonly signatureKey: SignatureKeyPair;
  /** The GroupContext's extensions. */
  readonly extensions?: readonly Extension[];
  readonly leaf?: LeafOptions;
  /** Seconds since the Unix epoch; else from an hour ago, and as long as is accepted. */
  readonly lifetime?: Lifetime;
}

/** The lifetime starts this much in the past, because clocks of peers may be behind. */
const CLOCK_SKEW_SECONDS = 60n * 60n;

function defaultLifetime(env: Env): Lifetime {
  const notBefore = secondsOf(env) - CLOCK_SKEW_SECONDS;
  return { notBefore, notAfter: notBefore + MAX_LIFETIME_SECONDS };
}

/**
 * Creates a group of one member in epoch 0 (RFC 9420 section 11).
 * @throws CryptoError 'unsupported' for another suite, 'invalid-credential', 'usage' for a group id of more than 256 bytes, 'invalid-leaf' for
 * extensions that this implementation doesn't know, 'malformed' for component data that nobody can read, or a
 * signature key of another length
 */
export function createGroup(args: CreateGroupArgs, env: Env): Group {
  const suite = getSuite(args.suite);
  if (args.groupId.length > DEFAULT_LIMITS.groupIdBytes) {
    throw new CryptoError('usage', 'a group id that nobody would accept');
  }
  if (args.credential.type !== 'basic') throw new CryptoError('invalid-credential', 'CRED-01: not basic');
  const leafKeyPair = suite.kem.generateKeyPair(env);
  const leaf = signLeaf(
    suite,
    {
      encryptionKey: leafKeyPair.publicKey,
      signatureKey: args.signatureKey.publicKey,
      credential: args.credential,
      ...ownLeafContent(env, args.leaf),
      source: { type: 'key-package', lifetime: args.lifetime ?? defaultLifetime(env) },
    },
    null,
    args.signatureKey.privateKey,
  );
  const extensions = args.extensions ?? [];
  checkCapabilities({ suite, groupExtensions: extensions }, leaf);
  checkAppData({ groupExtensions: extensions });
  const tree = RatchetTree.ofLeaf(leaf);
  const context: GroupContext = {
    cipherSuite: suite.id,
    groupId: args.groupId.slice(),
    epoch: 0n,
    treeHash: rootHash(suite, tree),
    confirmedTranscriptHash: EMPTY,
    extensions,
  };
  const epochSecret = env.random(suite.kdf.Nh);
  const secrets = deriveEpochSecrets(suite, epochSecret);
  wipe(epochSecret);
  const ownLeaf = toLeafIndex(0);
  return {
    suite,
    status: 'active',
    context,
    tree,
    ownLeaf,
    privateKeys: new Map([[nodeOfLeaf(ownLeaf), leafKeyPair.privateKey]]),
    signaturePrivateKey: args.signatureKey.privateKey.slice(),
    pendingUpdates: new Map(),
    ...startEpoch({ suite, context, leafCount: tree.leafCount }, secrets),
  };
}
