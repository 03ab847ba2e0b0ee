import type { CommitSubmission } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { claimFor } from '../core/claims.ts';
import type { Deps } from '../core/deps.ts';

/**
 * Starts a conversation with every device of another person and of one's own, or of one's own alone where both are the same.
 * @throws AppError `no-device` when the other person has none
 */
export async function startWithDevices(
  deps: Pick<Deps, 'api' | 'crypto'>,
  conversationId: string,
  [recipient, ownUserId]: readonly [string, string],
): Promise<CommitSubmission> {
  const keyPackages = await claimFor(deps, conversationId, [...new Set([recipient, ownUserId])]);
  // Notes need no other browser.
  if (recipient !== ownUserId && !keyPackages.some(({ userId }) => userId === recipient))
    throw new AppError('no-device', t('errors.noDevice'));
  return deps.crypto.startConversation({ conversationId, keyPackages });
}
