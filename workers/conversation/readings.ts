/** Readings on the person's other devices, from which messages here disappear (PROTOCOL section 4). */
import { limits } from '../codec/limits.ts';
import { readConversation } from '../storage/records.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import { MessageKeeper } from './messageKeeper.ts';

/**
 * Starts the clocks of what another device has read, and notes the reading for what is still to come here. Of a conversation
 * that this device isn't in it knows nothing that could disappear.
 * @param transaction of the own devices' group, in which that is told
 */
export async function takeReading(
  transaction: Pick<ConversationTransaction, 'account' | 'queueWrite' | 'tx'>,
  reading: { readonly conversationId: string; readonly seq: number; readonly at: number },
): Promise<void> {
  const { account, tx } = transaction;
  const { conversationId, seq } = reading;
  const at = Math.min(reading.at, account.now());
  const heads = tx.objectStore('heads');
  if ((await heads.getKey(conversationId)) === undefined) return;
  const keeper = new MessageKeeper(tx, account, conversationId, (put) => transaction.queueWrite(put));
  await keeper.startClocks(seq, at, 'elsewhere');
  const conversation = await readConversation(tx, account.sealer, conversationId);
  if (seq <= conversation.lastSeq) return;
  const ahead = conversation.readElsewhere.filter((one) => one.seq > conversation.lastSeq);
  // The first reading of an entry counts.
  const readElsewhere = [...ahead, { seq, at }].sort(
    (one, other) => one.seq - other.seq || one.at - other.at,
  );
  const sealed = account.sealer.seal('heads', conversationId, {
    ...conversation,
    readElsewhere: readElsewhere.slice(0, limits.readingsTold),
  });
  await heads.put(sealed, conversationId);
}
