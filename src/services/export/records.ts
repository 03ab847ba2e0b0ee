import type {
  ConversationState,
  MessageVersion,
  MessageView,
  UndecryptableReason,
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
  /** The text; null where there is none to read. */
  readonly content: string | null;
  /** The text is formatted, or stands as it is. */
  readonly content_type: 'text/markdown' | 'text/plain' | null;
  /** As it was written first and after each edit, oldest first; none where it was never edited. */
  readonly versions: readonly Pick<MessageVersion, 'text' | 'timestamp'>[];
  readonly reactions: readonly ExportedReaction[];
  /** The people whom a formatted text names by links `sinetti:user/{id}`. */
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
  { readSeq, receipts }: ConversationState,
  user: CurrentUser,
  { groupNameOf, nameOf }: ConversationNames,
  versions: readonly MessageVersion[] = [],
  isStarred = false,
): ExportedMessage {
  const { content, conversationId, messageId, senderId, seq, status } = message;
  const { byClock, shown } = messageTime(message);
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
    content: content.kind === 'text' ? content.text : null,
    content_type: content.kind === 'text' ? (content.isMarkdown ? 'text/markdown' : 'text/plain') : null,
    versions: versions.map(({ text, timestamp }) => ({ timestamp, text })),
    reactions: (message.reactions ?? []).map(({ emoji, userIds }) => ({
      emoji,
      users: userIds.map((id) => ({ id, name: name(id) })),
    })),
    mentions: ('isMarkdown' in content ? mentionsIn(content.text) : []).map((id) => ({ id, name: name(id) })),
    kind: content.kind,
    reason: content.kind === 'undecryptable' ? content.reason : null,
    timestamp: shown,
    sender_clock: byClock,
    status,
    failure: message.failure ?? null,
    is_read: seq !== null && (isNote || seq <= (senderId === user.id ? peerReadSeq : readSeq)),
  };
}
