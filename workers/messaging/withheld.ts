/** Claims of the relay that it has deleted an entry, which its own rules don't allow yet (PROTOCOL section 10). */
import { isReceiptSigned } from '@sinetti/crypto-core/content';
import type { LogEntryInput, RetentionRules } from '../api/cryptoApi.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { groupIdOf } from '../conversation/conversationId.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { isEmptied } from './logEntries.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Returns whether an entry that the relay calls deleted is too young for it. A relay deletes what every device has
 * acknowledged, and this one has not, or what has been there for its days. An entry is no older than what this device has read
 * before it, by the clock of a sender that agreed with the relay's then, whatever the relay says of it now.
 * @param retention null where the relay was not asked
 * @param now milliseconds since the Unix epoch, by this device's clock
 */
export function isWithheld(
  transaction: ConversationTransaction,
  entry: LogEntryInput,
  retention: RetentionRules | null,
  now: number,
): boolean {
  if (retention === null || !isEmptied(entry) || entry.expired !== true) return false;
  if (entry.seq <= acknowledgedUpTo(transaction, retention)) return false;
  const { joinedAt, latestSentAt } = transaction.conversation;
  // A clock that is behind what this device has read before can't tell how long ago that was.
  if (now < latestSentAt - day) return false;
  const said = [entry.timestamp, joinedAt ?? '']
    .map((time) => Date.parse(time))
    .filter((time) => time <= now);
  const since = Math.max(latestSentAt, ...said);
  return now - since < (retention.days - limits.daysOfDoubt) * day;
}

/** Another place may have acknowledged what this storage, which is an earlier copy of it, has not: its signature tells. */
function acknowledgedUpTo(
  { account, conversation, conversationId }: ConversationTransaction,
  { ownReceipt }: RetentionRules,
): number {
  if (ownReceipt === null || ownReceipt.position <= conversation.told.position)
    return conversation.told.position;
  const { deviceId, signatureKey } = account.device;
  const { epoch, position } = ownReceipt;
  const [sealed, signature] = [fromBase64Url(ownReceipt.sealed), fromBase64Url(ownReceipt.signature)];
  const place = { groupId: groupIdOf(conversationId), epoch, userId: account.userId, deviceId, position };
  const isOwn =
    sealed !== null &&
    signature !== null &&
    isReceiptSigned(signatureKey.publicKey, place, sealed, signature);
  return isOwn ? position : conversation.told.position;
}
