import { coalesce } from '../../lib/coalesce.ts';

export interface MemberComparisons {
  /** @param upTo unless it was done with what the relay said at this position of the log, or later */
  run(groupId: string, upTo?: number): Promise<void>;
  /** @param isNeeded asked when none goes on */
  runIf(groupId: string, isNeeded: () => boolean): Promise<void>;
  /** The one that goes on. */
  running(groupId: string): Promise<void> | null;
  delete(groupId: string): void;
}

interface Entry {
  readonly run: () => Promise<void>;
  running: Promise<void> | null;
  /** The position of the log that the last one was made at; -1 before. */
  seq: number;
}

/**
 * Comparisons of groups' members with their keys: one at a time for each group. Much calls for one at once (the relay's
 * list, a commit, the opening of the chat), and one that began late enough is an answer to all of it.
 * @param compare answers the position of the log that the relay's word was given at; null where it gave none
 */
export function createMemberComparisons(
  compare: (groupId: string) => Promise<number | null>,
): MemberComparisons {
  const entries = new Map<string, Entry>();

  function entryOf(groupId: string): Entry {
    const present = entries.get(groupId);
    if (present !== undefined) return present;
    const entry: Entry = {
      run: coalesce(async () => {
        entry.seq = (await compare(groupId)) ?? entry.seq;
      }),
      running: null,
      seq: -1,
    };
    entries.set(groupId, entry);
    return entry;
  }

  async function start(entry: Entry): Promise<void> {
    const running = entry.run().finally(() => {
      if (entry.running === running) entry.running = null;
    });
    entry.running = running;
    await running;
  }

  async function runIf(groupId: string, isNeeded: () => boolean): Promise<void> {
    const running = () => entries.get(groupId)?.running ?? null;
    for (let one = running(); one !== null; one = running()) await one.catch(() => undefined);
    if (isNeeded()) await start(entryOf(groupId));
  }

  return {
    async run(groupId, upTo) {
      if (upTo === undefined) return start(entryOf(groupId));
      return runIf(groupId, () => (entries.get(groupId)?.seq ?? -1) < upTo);
    },
    runIf,
    running: (groupId) => entries.get(groupId)?.running ?? null,
    delete: (groupId) => void entries.delete(groupId),
  };
}
