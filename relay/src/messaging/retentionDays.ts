import type { Storage } from '../../contract/index.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/tables.ts';
import { fewestDays } from '../repositories/retention.ts';

const day = 24 * 60 * 60 * 1000;

export interface RetentionDays {
  /** How long this relay keeps what it keeps of everybody, and how short that was lately. */
  storage(): Promise<Storage>;
}

export function createRetentionDays({
  clock,
  db,
  retention,
}: {
  readonly db: Db;
  readonly clock: () => number;
  readonly retention: Config['retention'];
}): RetentionDays {
  const { days: entryDays, historyDays } = retention;
  return {
    async storage() {
      // An entry that is younger than today's days can only have been deleted within them.
      const fewest = await fewestDays(db, clock() - entryDays * day);
      return { entryDays, fewestEntryDays: Math.min(entryDays, fewest ?? entryDays), historyDays };
    },
  };
}
