import type {
  AttachedFile,
  ConversationState,
  MessageVersion,
  MessageView,
  UndecryptableReason,
  Words,
} from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import type { FailureCode } from '../../lib/errorCode.ts';
import { mentionsIn } from '../../lib/markdown.ts';
import { messageTime } from '../../store/messageTime.ts';
import { withOwnName } from '../../store/people.ts';
import type { CurrentUser } from '../../store/session.ts';
import { groupOf, peerOf, recipientOf, selfOf } from '../core/conversationIds.ts';

/** One message of the export, by the names of spec section 3. */
export interface ExportedMessage {
  readonly id: string;
  readonly conversation_id: string;
  readonly sender_id: string;
  /** Direct messages. */
  readonly receiver_id: string | null;
  readonly group_id: string | null;
  /** Display names. */
  readonly from_user: string;
  readonly to_user: string | null;
  readonly group_name: string | null;
  /** Id of the message that it answers. */
  readonly in_reply_to: string | null;
  /** Its sender has passed it on. */
  readonly is_forwarded: boolean;
  /** The person has starred it. */
  readonly is_starred: boolean;
  /** It is pinned for everybody in the conversation. */
  readonly is_pinned: boolean;
  /** The message that it answers is here, is not on this device, or has disappeared; null where it answers none. */
  readonly answers: 'here' | 'missing' | 'disappeared' | null;
  /** The text, or the caption of files; null where there is none to read. */
  readonly content: string | null;
  /** The text is formatted, or stands as it is. */
  readonly content_type: 'text/markdown' | 'text/plain' | null;
  /** As it was written first and after each edit, oldest first; none where it was never edited. */
  readonly versions: readonly ExportedVersion[];
  /** The files as their sender describes them; their bytes are not in the export. */
  readonly files: readonly ExportedFile[];
  readonly reactions: readonly ExportedReaction[];
  /** The people whom a formatted text, or a former version of it, names by links `sinetti:user/{id}`. */
  readonly mentions: readonly { readonly id: string; readonly name: string }[];
  readonly kind: MessageView['content']['kind'];
  /** With `undecryptable`: why. */
  readonly reason: UndecryptableReason | null;
  /** RFC 3339: the time that is shown, and the sender's clock where that is not believed. */
  readonly timestamp: string;
  readonly sender_clock: string | null;
  readonly status: MessageView['status'];
  /** With `failed`: the code of what stopped it. */
  readonly failure: FailureCode | null;
  readonly is_read: boolean;
}

export interface ExportedVersion extends Pick<ExportedMessage, 'content_type'> {
  readonly timestamp: string;
  readonly text: string;
}

/** Sizes are in bytes. */
export type ExportedFile = Pick<AttachedFile, 'name' | 'kind' | 'type' | 'size' | 'description'>;

export interface ExportedReaction {
  readonly emoji: string;
  readonly users: readonly { readonly id: string; readonly name: string }[];
}

/** The names of the people and groups in a conversation, by id. */
export interface ConversationNames {
  readonly nameOf: (userId: string) => string;
  readonly groupNameOf: (groupId: string) => string | null;
}

/** Returns the heading of a conversation: the other person's name, the group's, or that of the notes. */
export function conversationTitle(
  conversationId: string,
  user: CurrentUser,
  { groupNameOf, nameOf }: ConversationNames,
): string {
  const groupId = groupOf(conversationId);
  if (groupId !== null) return groupNameOf(groupId) ?? t('profile.export.unnamedGroup');
  if (selfOf(conversationId) !== null) return t('notes.title');
  const peer = peerOf(conversationId, user.id);
  return peer === null ? conversationId : nameOf(peer);
}

export function messageRecord(
  message: MessageView,
  { pinned, readSeq, receipts }: ConversationState,
  user: CurrentUser,
  { groupNameOf, nameOf }: ConversationNames,
  versions: readonly MessageVersion[] = [],
  isStarred = false,
): ExportedMessage {
  const { content, conversationId, messageId, senderId, seq, status } = message;
  const { byClock, shown } = messageTime(message);
  const isWritten = content.kind === 'text' || (content.kind === 'files' && content.text !== '');
  const words = isWritten ? content : null;
  const name = withOwnName(user, nameOf);
  const groupId = groupOf(conversationId);
  const peer = recipientOf(conversationId, user.id);
  const isNote = peer === user.id;
  const peerReadSeq = receipts.find(({ userId }) => userId === peer)?.readSeq ?? 0;
  const receiver = senderId === user.id ? peer : peer === null ? null : user.id;
  return {
    id: messageId,
    conversation_id: conversationId,
    sender_id: senderId,
    receiver_id: receiver,
    group_id: groupId,
    from_user: name(senderId),
    to_user: receiver === null ? null : name(receiver),
    group_name: groupId === null ? null : groupNameOf(groupId),
    in_reply_to: message.quote?.message?.messageId ?? null,
    is_forwarded: message.isForwarded === true,
    is_starred: isStarred,
    is_pinned: pinned.some((one) => one.messageId === messageId),
    answers: answersOf(message),
    content: words?.text ?? null,
    content_type: words && typeOf(words),
    versions: versions.map((one) => ({
      timestamp: one.timestamp,
      text: one.text,
      content_type: typeOf(one),
    })),
    files: content.kind === 'files' ? content.files.map(exportedFile) : [],
    reactions: (message.reactions ?? []).map(({ emoji, userIds }) => ({
      emoji,
      users: userIds.map((id) => ({ id, name: name(id) })),
    })),
    mentions: mentionedIn([...(words ? [words] : []), ...versions]).map((id) => ({ id, name: name(id) })),
    kind: content.kind,
    reason: content.kind === 'undecryptable' ? content.reason : null,
    timestamp: shown,
    sender_clock: byClock,
    status,
    failure: message.failure ?? null,
    is_read: seq !== null && (isNote || seq <= (senderId === user.id ? peerReadSeq : readSeq)),
  };
}

function typeOf({ isMarkdown }: Words): NonNullable<ExportedMessage['content_type']> {
  return isMarkdown ? 'text/markdown' : 'text/plain';
}

function answersOf({ quote }: MessageView): ExportedMessage['answers'] {
  if (quote === undefined) return null;
  if (quote.message !== null) return 'here';
  return quote.hasDisappeared ? 'disappeared' : 'missing';
}

function exportedFile({ description, kind, name, size, type }: AttachedFile): ExportedFile {
  return { name, kind, type, size, description };
}

function mentionedIn(written: readonly Words[]): string[] {
  return [...new Set(written.flatMap(({ isMarkdown, text }) => (isMarkdown ? mentionsIn(text) : [])))];
}
