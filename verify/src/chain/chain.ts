import { sha256 } from './canonical.ts';
import { Failure } from './errors.ts';
import { isSignedBy, parseSigningKey } from './sshsig.ts';
import { type KeysStatement, parseStatement, type ReleaseStatement, type Statement } from './statement.ts';

/** One step as it is kept and served: its bytes, and the armored signatures by the names of their makers. */
export interface SignedStep {
  readonly bytes: Uint8Array;
  readonly signatures: Readonly<Record<string, string>>;
}

/** A place in the chain, by which a later one is known to follow. */
export interface Place {
  readonly seq: number;
  /** The SHA-256 of the step's bytes. */
  readonly hash: string;
}

/** The chain up to a step whose signatures have been verified. */
export interface Chain extends Place {
  /** The keys whose signatures the next step needs. */
  readonly keys: KeysStatement;
  /** The newest release; null before the first. */
  readonly release: (ReleaseStatement & { readonly hash: string }) | null;
  /** The hash of each step, the first one first. */
  readonly hashes: readonly string[];
}

/** @throws Failure `chain` for a first step that is not the one which the reader knows */
export async function requireRoot(bytes: Uint8Array, root: string): Promise<string> {
  const hash = await sha256(bytes);
  if (hash !== root) throw new Failure('chain', `The chain begins with ${hash}, not with the root ${root}.`);
  return hash;
}

/**
 * Verifies the first step, which makes the chain: its keys sign themselves, and its hash is known beforehand.
 * @throws Failure `malformed`, `chain` or `signature`
 */
export async function begin(step: SignedStep, root: string): Promise<Chain> {
  const hash = await requireRoot(step.bytes, root);
  const statement = parseStatement(step.bytes);
  if (statement.type !== 'sinetti-release-keys' || statement.seq !== 1 || statement.prev !== null) {
    throw new Failure('chain', 'The first step of a chain names its keys.');
  }
  await requireSignatures(step, statement, statement);
  return { seq: 1, hash, keys: statement, release: null, hashes: [hash] };
}

/**
 * Verifies the step after the end of a chain: that it is the next one, names the one before it, and is signed by enough of
 * the keys in force. New keys are signed by enough of the old ones and of themselves, so that who holds them can use them.
 * @throws Failure `malformed`, `chain` or `signature`
 */
export async function follow(chain: Chain, step: SignedStep): Promise<Chain> {
  const statement = parseStatement(step.bytes);
  if (statement.seq !== chain.seq + 1) {
    throw new Failure('chain', `Step ${chain.seq + 1} of the chain calls itself step ${statement.seq}.`);
  }
  if (statement.prev !== chain.hash) {
    throw new Failure('chain', `Step ${statement.seq} doesn't follow the step before it.`);
  }
  await requireSignatures(step, chain.keys, statement);
  if (statement.type === 'sinetti-release-keys') {
    await requireSignatures(step, statement, statement);
    for (const [name, key] of Object.entries(statement.keys)) {
      const former = chain.keys.keys[name];
      // The old key's signature and the new one's would be in one file.
      if (former !== undefined && former !== key) {
        throw new Failure(
          'chain',
          `Step ${statement.seq} gives another key to ${name}: it needs a name of its own.`,
        );
      }
    }
  }
  const hash = await sha256(step.bytes);
  return {
    seq: statement.seq,
    hash,
    keys: statement.type === 'sinetti-release-keys' ? statement : chain.keys,
    release: statement.type === 'sinetti-release' ? { ...statement, hash } : chain.release,
    hashes: [...chain.hashes, hash],
  };
}

/**
 * Verifies a whole chain.
 * @param root the SHA-256 of its first step, which the reader has from elsewhere
 * @param seen the end of the chain as this reader has seen it before: it may have grown since, and nothing else
 * @throws Failure
 */
export async function verifyChain(
  steps: readonly SignedStep[],
  root: string,
  seen: Place | null = null,
): Promise<Chain> {
  const [first, ...others] = steps;
  if (first === undefined) throw new Failure('unsigned', 'There is no step in the chain.');
  let chain = await begin(first, root);
  for (const step of others) chain = await follow(chain, step);
  requireSeen(chain, seen);
  return chain;
}

/** @throws Failure `rollback` unless the chain goes on from where this reader has seen its end before */
export function requireSeen(chain: Chain, seen: Place | null): void {
  if (seen !== null && chain.seq < seen.seq) {
    throw new Failure(
      'rollback',
      `Step ${seen.seq} was seen here before, and now ${chain.seq} is the last one.`,
    );
  }
  if (seen !== null && chain.hashes[seen.seq - 1] !== seen.hash) {
    throw new Failure('rollback', `Step ${seen.seq} is another one than was seen here before.`);
  }
}

async function requireSignatures(step: SignedStep, keys: KeysStatement, { seq }: Statement): Promise<void> {
  const signers: string[] = [];
  for (const [name, line] of Object.entries(keys.keys)) {
    const armored = step.signatures[name];
    if (armored !== undefined && (await isSignedBy(parseSigningKey(line), step.bytes, armored)))
      signers.push(name);
  }
  if (signers.length >= keys.threshold) return;
  const found = signers.length === 0 ? 'none' : signers.join(', ');
  throw new Failure(
    'signature',
    `Step ${seq} needs ${keys.threshold} signatures, and has of these keys: ${found}.`,
  );
}
