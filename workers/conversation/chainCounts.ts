/** Counts the entries of each device by the rows of the running hash, and by what senders have said of their own entries. */
import { equalBytes } from '@sinetti/crypto-core';
import { type ChainHeader, nextRunningHash } from '@sinetti/crypto-core/content';
import type { ChainRecord, Diverged } from './chainRecord.ts';
import type { ChainRow } from './chainRows.ts';

/** Hashes on over the rows of all positions above one and up to another; null where one of them is missing. */
export function fold(
  hash: Uint8Array,
  rows: readonly ChainRow[],
  after: number,
  upTo: number,
): Uint8Array | null {
  const within = rows.filter(({ seq }) => seq > after && seq <= upTo);
  if (within.length !== upTo - after) return null;
  return within.reduce((running, { digest }) => nextRunningHash(running, digest), hash);
}

/** Returns whether a header follows from an earlier one by the entries of this log; null where that can't be known. */
export function continues(
  before: Diverged,
  header: Pick<ChainHeader, 'position' | 'hash'>,
  rows: readonly ChainRow[],
): boolean | null {
  if (header.position < before.position) return null;
  const hash = fold(before.hash, rows, before.position, header.position);
  return hash === null ? null : equalBytes(hash, header.hash);
}

/**
 * Counts the entries of a device up to a position: its last claim below it and the rows since, else its tally. Null where
 * the device was there before this one, and has said nothing.
 */
export function countAt(
  { from, isComplete, tallies }: ChainRecord,
  rows: readonly ChainRow[],
  deviceId: string,
  position: number,
): number | null {
  const own = rows.filter((row) => row.deviceId === deviceId);
  const claim = own.findLast((row) => row.claim !== null)?.claim;
  const after = claim?.position ?? from;
  const known = claim?.count ?? tallies.find((tally) => tally.deviceId === deviceId)?.count;
  if (known === undefined && !isComplete) return null;
  return (known ?? 0) + own.filter(({ seq }) => seq > after && seq <= position).length;
}
