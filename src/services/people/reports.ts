import { t } from '../../i18n/i18n.ts';
import { clip } from '../../lib/clip.ts';
import { limits } from '../../net/contract.ts';
import type { PersonReport } from '../../store/reports.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** Sends a report as the person has written it; what is too long is cut. @throws AppError */
export async function report(
  { api }: Pick<Deps, 'api'>,
  { messages, reason, text, userId }: PersonReport,
): Promise<void> {
  try {
    await api.report({
      user_id: userId,
      reason,
      text: sendable(text, limits.reportTextMax),
      messages: messages.slice(0, limits.messagesPerReport).map((message) => ({
        sent_at: message.timestamp,
        text: sendable(message.text, limits.reportedMessageMax),
      })),
    });
  } catch (error) {
    throw toAppError(error, t('reports.failed'));
  }
}

/** Text without what a database refuses, and no longer than it may be. */
const sendable = (text: string, length: number) => clip(text.replaceAll(/[\0\p{Cs}]/gu, '\uFFFD'), length);
