import type { CryptoApi } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { toAppError } from '../core/failures.ts';
import { type CommitSubmitter, maxCommits } from './commitSubmitter.ts';

/** A thing on which the members of a conversation agree: its timer, or that a message is pinned. */
export type Agreement =
  | { readonly seconds: number }
  | { readonly messageId: string; readonly isPinned: boolean };

/**
 * Brings what the members of a conversation agree on into its log, after what has to go first, and again where another commit was
 * faster.
 * @throws AppError with the catalogue's sentence
 */
export async function agreeOn(
  crypto: Pick<CryptoApi, 'setPinned' | 'setTimer'>,
  commitSubmitter: Pick<CommitSubmitter, 'submit'>,
  conversationId: string,
  agreement: Agreement,
): Promise<void> {
  const about = 'seconds' in agreement ? 'timer' : 'pinned';
  const failed = t(`${about}.failed`);
  try {
    for (let commits = 0; commits < maxCommits; commits += 1) {
      const submission =
        'seconds' in agreement
          ? await crypto.setTimer(conversationId, agreement.seconds)
          : await crypto.setPinned(conversationId, agreement.messageId, agreement.isPinned);
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
