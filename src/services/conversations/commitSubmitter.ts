import type { CommitSubmission } from '../../crypto/client.ts';
import { isApiError } from '../../net/errors.ts';
import type { Deps } from '../core/deps.ts';
import type { Joiner } from './joiner.ts';
import type { Sync } from './sync.ts';

/** The outcome of a commit: `taken` may also mean that another tab had brought it in before. */
export type CommitOutcome =
  | { readonly kind: 'taken' }
  /** Another commit took its epoch. */
  | { readonly kind: 'overtaken' }
  /** The relay will never add these people: the commit has been dropped. */
  | { readonly kind: 'refused'; readonly reason: unknown };

export interface CommitSubmitter {
  /**
   * Submits a commit and processes the log, in which it takes effect. A commit that is being submitted already is not
   * submitted again: the relay would take the second for one that came too late.
   */
  submit(submission: CommitSubmission): Promise<CommitOutcome>;
  /**
   * Brings on its way what has to go first: an own commit that waits, or the removal of who has left. After some
   * attempts it leaves the rest to the next occasion.
   */
  settle(conversationId: string): Promise<void>;
}

/** The number of times a commit is made, because others may be faster. */
export const maxCommits = 8;

/** Answers to the adding of people that asking again does not change. */
const finalCodes = [
  'forbidden',
  'not-a-contact',
  'already-member',
  'asked-first',
  'limit-reached',
  'quota',
  'invalid-request',
  'payload-too-large',
] as const;

export function createCommitSubmitter(
  { crypto }: Pick<Deps, 'crypto'>,
  joiner: Pick<Joiner, 'submit'>,
  sync: Pick<Sync, 'catchUp'>,
): CommitSubmitter {
  /** Outcomes of the commits on their way, by the commit. */
  const outcomes = new Map<string, Promise<CommitOutcome>>();

  function submit(submission: CommitSubmission): Promise<CommitOutcome> {
    const { commit } = submission;
    const outcome =
      outcomes.get(commit) ?? submitAndProcess(submission).finally(() => outcomes.delete(commit));
    outcomes.set(commit, outcome);
    return outcome;
  }

  async function submitAndProcess(submission: CommitSubmission): Promise<CommitOutcome> {
    const { conversationId } = submission;
    let seq: number | null = null;
    let reason: unknown = null;
    try {
      seq = await joiner.submit(submission);
    } catch (error) {
      if (submission.addedIds.length === 0 || !isApiError(error, ...finalCodes)) throw error;
      reason = error;
    }
    await sync.catchUp(conversationId, seq ?? undefined);
    if (reason === null) return { kind: seq === null ? 'overtaken' : 'taken' };
    // An earlier attempt, whose answer was lost, may be what made the relay refuse this one: then it is in the log.
    const waiting = await crypto.nextCommit(conversationId);
    if (waiting?.commit !== submission.commit) return { kind: 'overtaken' };
    await crypto.discardCommit(conversationId);
    return { kind: 'refused', reason };
  }

  return {
    submit,

    async settle(conversationId) {
      for (let commits = 0; commits < maxCommits; commits += 1) {
        const waiting = await crypto.nextCommit(conversationId);
        if (waiting === null) return;
        await submit(waiting);
      }
    },
  };
}
