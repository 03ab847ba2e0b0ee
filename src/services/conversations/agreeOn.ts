import type { CryptoApi } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { toAppError } from '../core/failures.ts';
import { type CommitSubmitter, maxCommits } from './commitSubmitter.ts';

/**
 * Brings a conversation's timer into its log, after what has to go first, and again where another commit was faster.
 * @throws AppError with the catalogue's sentence
 */
export async function agreeOnTimer(
  crypto: Pick<CryptoApi, 'setTimer'>,
  commitSubmitter: Pick<CommitSubmitter, 'submit'>,
  conversationId: string,
  seconds: number,
): Promise<void> {
  try {
    for (let commits = 0; commits < maxCommits; commits += 1) {
      const submission = await crypto.setTimer(conversationId, seconds);
      if (submission === null) return;
      await commitSubmitter.submit(submission);
    }
  } catch (error) {
    if (errorCode(error) === 'invalid-proposal')
      throw new AppError('invalid-proposal', t('timer.tooOld'), { cause: error });
    throw toAppError(error, t('timer.failed'));
  }
  throw new AppError('stale-epoch', t('timer.failed'));
}
