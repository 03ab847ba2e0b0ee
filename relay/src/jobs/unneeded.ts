import type { EntrySize, Reader } from '../repositories/retention.ts';

/** Until when entries are kept. */
export interface Deadline {
  /** An entry that was stored then or before is kept no longer, whoever has not read it. */
  readonly atMost: number;
  /** One that was stored later is kept in any case: a browser that loses its power may lose its last minutes, too. */
  readonly atLeast: number;
}

/** Milliseconds by which the clocks of relays on one database may differ, or one may have been set back since a device came. */
export const clockTolerance = 5 * 60 * 1000;

/**
 * Counts the entries, from the first, that nobody needs: every device of the participants that was registered when the
 * entry was numbered has acknowledged it, or it has been kept long enough. Devices that came later were never given it.
 */
export function countUnneeded(
  entries: readonly EntrySize[],
  readers: readonly Reader[],
  { atMost, atLeast }: Deadline,
): number {
  const needed = entries.findIndex(({ createdAt, seq }) => {
    if (createdAt <= atMost) return false;
    const isAwaited = (reader: Reader) =>
      reader.registeredAt - clockTolerance <= createdAt && reader.joinedSeq <= seq && reader.position < seq;
    return createdAt > atLeast || readers.some(isAwaited);
  });
  return needed === -1 ? entries.length : needed;
}
