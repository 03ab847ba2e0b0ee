/**
 * The row of a message, with the hidden keys by which others find it: its own content id, and that of what it changes. Equal keys
 * show that two rows belong together, and nothing else.
 */

import { type MessageRow, UNREAD } from './db.ts';
import { contentIdOf, type MessagePlace, readPayload, type Said, timerOf } from './payload.ts';
import type { MessageRecord } from './records.ts';
import { type Sealer, sealingKey } from './sealer.ts';

/** The content id of a message, also of an erased one; null for one that can't be read. */
export function contentIdOfRecord(record: MessageRecord, at: Omit<MessagePlace, 'senderId'>): string | null {
  if (record.erased !== null) return record.erased.id;
  return record.payload === null ? null : contentIdOf(record.payload, { ...at, senderId: record.senderId });
}

/** The key of the messages that have a content id. */
export function keyOfContent(sealer: Sealer, conversationId: string, contentId: string): string {
  return sealer.hiddenKey('messages', `${conversationId}/is/${contentId}`);
}

/** The key of a person's edits of a message: nobody else's count. */
export function keyOfEditing(sealer: Sealer, conversationId: string, senderId: string, of: string): string {
  return sealer.hiddenKey('messages', `${conversationId}/edits/${senderId}/${of}`);
}

/** The key of a person's deletions of a message, and of their taking a reaction back: nobody else's count. */
export function keyOfDeleting(sealer: Sealer, conversationId: string, senderId: string, of: string): string {
  return sealer.hiddenKey('messages', `${conversationId}/deletes/${senderId}/${of}`);
}

/** The key of the reactions to a message. */
export function keyOfReacting(sealer: Sealer, conversationId: string, of: string): string {
  return sealer.hiddenKey('messages', `${conversationId}/reacts/${of}`);
}

/** A row that changes nothing any more and is on no screen: taken back, or deleted on this device. */
const SPENT = '';

/** @param isCopyDue the copy in the message backup is to be replaced, since it has what was erased */
export function messageRow(
  sealer: Sealer,
  at: { readonly conversationId: string; readonly seq: number; readonly messageId: string },
  record: MessageRecord,
  isCopyDue = false,
): MessageRow {
  const { conversationId, messageId, seq } = at;
  const contentId = contentIdOfRecord(record, at);
  const said = record.payload === null ? null : readPayload(record.payload);
  const about = aboutKey(sealer, conversationId, record, said);
  return {
    messageId,
    sealed: sealer.seal('messages', sealingKey(conversationId, seq), record),
    ...(contentId === null ? {} : { content: keyOfContent(sealer, conversationId, contentId) }),
    ...(about === null ? {} : { about: [conversationId, about] }),
    ...(isCopyDue ? { copyDue: conversationId } : {}),
    ...(timerOf(said) === 0 ? {} : { expires: [record.expiresAt ?? UNREAD, conversationId] }),
  };
}

function aboutKey(
  sealer: Sealer,
  conversationId: string,
  { erased, senderId }: MessageRecord,
  said: Said | null,
): string | null {
  if (erased !== null) {
    if (erased.of !== null) return keyOfEditing(sealer, conversationId, senderId, erased.of);
    return erased.isShown ? null : SPENT;
  }
  if (said === null || said.kind === 'message') return null;
  if (said.kind === 'reaction') return keyOfReacting(sealer, conversationId, said.of);
  const keyOf = said.kind === 'edit' ? keyOfEditing : keyOfDeleting;
  return keyOf(sealer, conversationId, senderId, said.of);
}
