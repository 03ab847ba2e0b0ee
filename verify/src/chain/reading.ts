import { sha256 } from './canonical.ts';
import { begin, type Chain, follow, type Place, requireRoot, requireSeen, type SignedStep } from './chain.ts';
import { Failure } from './errors.ts';
import { type KeysStatement, parseStatement } from './statement.ts';

/** The folder of an origin in which a relay serves the releases. */
export const releasesPath = '/.well-known/sinetti';

/** Reads a file of the folder of releases; null for one that isn't there. */
export type ReleasesReader = (name: string) => Promise<Uint8Array | null>;

/** How far, how long and for how much a chain is followed. */
export interface ChainLimits {
  readonly steps: number;
  /** Milliseconds until the last file of the chain is asked for. */
  readonly time: number;
  readonly bytes: number;
}

/** A release a day for years, each of a hundred kilobytes. */
const chainLimits: ChainLimits = { steps: 1000, time: 3 * 60_000, bytes: 128 * 1024 * 1024 };

/** @throws Failure `chain` once what is read is beyond the limits */
function bounded(read: ReleasesReader, { bytes, time }: ChainLimits): ReleasesReader {
  const end = Date.now() + time;
  let left = bytes;
  return async (name) => {
    if (Date.now() > end) throw new Failure('chain', 'The chain takes longer than any that is taken.');
    const content = await read(name);
    left -= content?.byteLength ?? 0;
    if (left < 0) throw new Failure('chain', 'The chain is larger than any that is taken.');
    return content;
  };
}

/**
 * Reads the chain of releases and verifies it, each step before the next one is asked for, so that somebody else's chain costs its reader
 * one file.
 * @param root the SHA-256 of its first step
 * @param seen where its end was before, for this reader
 * @throws Failure `unsigned` where there is none; otherwise as `begin`, `follow` and `requireSeen`
 */
export async function chainOf(
  source: ReleasesReader,
  root: string,
  seen: Place | null,
  limits = chainLimits,
): Promise<Chain> {
  const read = bounded(source, limits);
  const first = await read(nameOf(1));
  if (first === null) throw unsigned();
  await requireRoot(first, root);
  const chain = await rest(read, await begin(await signedStep(read, 1, first, null), root), limits);
  requireSeen(chain, seen);
  return chain;
}

/**
 * Reads what a chain has grown by since this reader has verified it: the step that was its last is the same one still.
 * @throws Failure as {@link chainOf}; `rollback` for a chain that is shorter than before or another one, `unsigned` where none is left
 */
export async function grownChain(source: ReleasesReader, known: Chain, limits = chainLimits): Promise<Chain> {
  const read = bounded(source, limits);
  const last = await read(nameOf(known.seq));
  if (last === null) {
    if ((await read('release.json')) === null) throw unsigned();
    throw new Failure('rollback', `Step ${known.seq} was seen here before, and is gone.`);
  }
  if ((await sha256(last)) !== known.hash)
    throw new Failure('rollback', `Step ${known.seq} is another one than was seen here before.`);
  return rest(read, known, limits);
}

const unsigned = () => new Failure('unsigned', 'There is no signed release here.');

/** Follows a chain from its end to that which is served. */
async function rest(read: ReleasesReader, known: Chain, limits: ChainLimits): Promise<Chain> {
  let chain = known;
  const newest = await read('release.json');
  if (newest === null) throw unsigned();
  const last = parseStatement(newest).seq;
  for (let seq = chain.seq + 1; ; seq += 1) {
    const bytes = await read(nameOf(seq));
    // Keys may have been replaced after the newest release.
    if (bytes === null && seq > last) break;
    if (bytes === null) throw new Failure('chain', `Step ${seq} of the chain is missing.`);
    if (seq > limits.steps) throw new Failure('chain', 'The chain has more steps than any that is taken.');
    chain = await follow(chain, await signedStep(read, seq, bytes, chain.keys));
  }
  if (chain.release === null || chain.release.hash !== (await sha256(newest))) {
    throw new Failure('chain', 'The release that is served is not the newest one of the chain.');
  }
  return chain;
}

const nameOf = (seq: number) => `chain/${seq}.json`;

/** Bytes of a signature: one of OpenSSH's over Ed25519 has about 300. */
const largestSignature = 4096;

/** Reads the signatures of a step: by the keys in force, and by those that it names. */
async function signedStep(
  read: ReleasesReader,
  seq: number,
  bytes: Uint8Array,
  keys: KeysStatement | null,
): Promise<SignedStep> {
  const statement = parseStatement(bytes);
  const named = statement.type === 'sinetti-release-keys' ? statement.keys : {};
  const signatures: Record<string, string> = {};
  for (const holder of Object.keys({ ...keys?.keys, ...named })) {
    const armored = await read(`${nameOf(seq)}.${holder}.sig`);
    if (armored !== null && armored.length <= largestSignature)
      signatures[holder] = String.fromCharCode(...armored);
  }
  return { bytes, signatures };
}
