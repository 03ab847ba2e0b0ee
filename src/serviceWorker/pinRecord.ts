import { canonicalBytes, type Json, sha256 } from '../../verify/src/chain/canonical.ts';
import type { Chain } from '../../verify/src/chain/chain.ts';
import { Failure } from '../../verify/src/chain/errors.ts';
import { type KeysStatement, parseStatement } from '../../verify/src/chain/statement.ts';

export type Release = NonNullable<Chain['release']>;

/** The record of what this browser holds on to, from the first visit on. */
export interface Pin {
  /** The SHA-256 of each step of the chain as it was last seen; the first one is the root, which the first visit has trusted. */
  readonly hashes: readonly string[];
  /** Its keys and its newest release. */
  readonly keys: KeysStatement;
  readonly newest: Release;
  /** The release in use: the first one, or the one that the person has agreed to last. */
  readonly agreed: Release;
  /** The origin of the keys, which a relay can't move to where nothing is held on to; records from before have none. */
  readonly keysOrigin?: string | undefined;
}

/** Reads a record; null for what somebody has written in the place of one: they could delete it as well. */
export async function parsePin(text: string): Promise<Pin | null> {
  try {
    const { agreed, hashes, keys, keysOrigin, newest } = JSON.parse(text) as Record<
      keyof Pin,
      Json | undefined
    >;
    const inForce = parseStatement(canonicalBytes(keys ?? null));
    const areHashes = Array.isArray(hashes) && hashes.every((hash) => typeof hash === 'string');
    if (!areHashes || hashes.length === 0 || inForce.type !== 'sinetti-release-keys') return null;
    const releases = { agreed: await releaseIn(agreed ?? null), newest: await releaseIn(newest ?? null) };
    return { hashes, keys: inForce, ...releases, ...(typeof keysOrigin === 'string' ? { keysOrigin } : {}) };
  } catch {
    return null;
  }
}

/** The record as it is kept. A release's hash is that of the rest of it. */
export function textOfPin(pin: Pin): string {
  return JSON.stringify(pin, (name, value: unknown) => (name === 'hash' ? undefined : value));
}

async function releaseIn(value: Json): Promise<Release> {
  const bytes = canonicalBytes(value);
  const statement = parseStatement(bytes);
  if (statement.type !== 'sinetti-release') throw new Failure('malformed', 'This is no release.');
  return { ...statement, hash: await sha256(bytes) };
}

export function released({ release }: Chain): Release {
  if (release === null) throw new Failure('unsigned', 'There is no release in the chain.');
  return release;
}

/** The chain as it was last seen, to go on from. */
export function known({ hashes, keys, newest }: Pin): Chain {
  return { seq: hashes.length, hash: hashes.at(-1) ?? '', keys, release: newest, hashes };
}
