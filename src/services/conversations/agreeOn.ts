import type { CommitSubmission } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { toAppError } from '../core/failures.ts';
import { type CommitSubmitter, maxCommits } from './commitSubmitter.ts';

/**
 * Brings what the members of a conversation agree on into its log, after what has to go first, and again where another commit was
 * faster.
 * @param nextCommit the worker's method, which answers null once the log has it
 * @param about whose texts say what failed
 * @throws AppError with the catalogue's sentence
 */
export async function agreeOn(
  nextCommit: () => Promise<CommitSubmission | null>,
  commitSubmitter: Pick<CommitSubmitter, 'submit'>,
  about: 'timer' | 'pinned',
): Promise<void> {
  const failed = t(`${about}.failed`);
  try {
    for (let commits = 0; commits < maxCommits; commits += 1) {
      const submission = await nextCommit();
      if (submission === null) return;
      await commitSubmitter.submit(submission);
    }
  } catch (error) {
    if (errorCode(error) === 'invalid-proposal')
      throw new AppError('invalid-proposal', t(`${about}.tooOld`), { cause: error });
    throw toAppError(error, failed);
  }
  throw new AppError('stale-epoch', failed);
}
