/** Views of single records for the worker's API: a message as it is kept, whatever was changed of it since. */
import type {
  MessageContent,
  MessageVersion,
  MessageView,
  Reaction,
  UnsentChange,
  Words,
} from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { MessageRow, OutboxRow } from '../storage/db.ts';
import { type Change, contentOf, readPayload, type Said, timerOf } from '../storage/payload.ts';
import { MessageRecord, OutboxRecord } from '../storage/records.ts';
import { sealingKey } from '../storage/sealer.ts';
import { selfConversationId } from './conversationId.ts';

/** A message or a change that the log has. */
export interface LoggedMessage {
  readonly seq: number;
  readonly messageId: string;
  readonly row: MessageRow;
  readonly record: MessageRecord;
}

/** A message or a change that waits in the outbox, discarded ones apart. */
export interface WaitingMessage {
  readonly messageId: string;
  readonly row: OutboxRow;
  readonly record: OutboxRecord;
  readonly said: Said;
  readonly contentId: string | null;
}

/** A message, wherever it is. */
export type KnownMessage = { readonly logged: LoggedMessage } | { readonly waiting: WaitingMessage };

/** An edit, of the log or one that waits. */
export interface Edit extends MessageVersion {
  readonly contentId: string;
  /** The entry, where the log has it. */
  readonly logged: LoggedMessage | null;
}

/** All that the author has changed of a message. */
export interface Replacements {
  /** Content ids of the message and of its edits, by which others mean it. */
  readonly ids: readonly string[];
  /** In the order of the log. */
  readonly edits: readonly Edit[];
  /** All edits that the log has, also of one content id. */
  readonly rows: readonly LoggedMessage[];
  readonly isDeleted: boolean;
}

export function messageView(
  conversationId: string,
  seq: number,
  messageId: string,
  record: MessageRecord,
  said: Said | null = saidBy({ record }),
): MessageView {
  return {
    conversationId,
    messageId,
    seq,
    senderId: record.senderId,
    senderDeviceId: record.senderDeviceId,
    timestamp: record.timestamp,
    ...clockOf(record),
    status: record.own ? 'sent' : 'received',
    content: messageContent(record, said),
    ...marksOf(said),
  };
}

/**
 * Returns whether a conversation shows a message. Among own devices it shows the notes, and what was damaged on its way, or
 * emptied by the relay, and may have been one: neither keys nor what is read and drafted.
 */
export function isShown(
  { userId }: Pick<UnlockedAccount, 'userId'>,
  { content, conversationId, senderId }: MessageView,
): boolean {
  if (conversationId !== selfConversationId(userId)) return true;
  const isDamaged = content.kind === 'undecryptable' && ['damaged', 'deleted'].includes(content.reason);
  return senderId === userId && (['text', 'files', 'deleted'].includes(content.kind) || isDamaged);
}

/** Returns whether the time of a message is over: nothing shows it then, also before it is erased. */
export function isOver(
  { now }: Pick<UnlockedAccount, 'now'>,
  { erased, expiresAt }: Pick<MessageRecord, 'erased' | 'expiresAt'>,
): boolean {
  return erased === null ? expiresAt !== null && expiresAt <= now() : erased.how === 'expired';
}

/** Returns whether two times, in milliseconds since the Unix epoch, are as close as the clocks of two machines are. */
export function areClocksClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= limits.clockDifference;
}

/** The clock of a message that the relay has taken, before the log shows it. */
function acceptedClock(sent: string, timestamp: string): Pick<MessageRecord, 'isClockOff' | 'sentAt'> {
  const sentAt = Date.parse(sent);
  return { sentAt, isClockOff: !areClocksClose(sentAt, Date.parse(timestamp)) };
}

function clockOf({
  isClockOff,
  sentAt,
}: Pick<MessageRecord, 'isClockOff' | 'sentAt'>): Pick<MessageView, 'clock'> {
  if (sentAt === null) return {};
  return { clock: { sentAt: new Date(sentAt).toISOString(), isBelieved: !isClockOff } };
}

function messageContent({ erased, reason }: MessageRecord, said: Said | null): MessageContent {
  if (erased !== null) return { kind: 'deleted' };
  if (said !== null) return contentOf(said);
  return { kind: 'undecryptable', reason: reason ?? 'damaged' };
}

export function outboxView(
  account: UnlockedAccount,
  conversationId: string,
  messageId: string,
  record: OutboxRecord,
  said: Said = readPayload(record.payload),
): MessageView {
  return {
    conversationId,
    messageId,
    seq: record.seq,
    senderId: account.userId,
    senderDeviceId: account.device?.deviceId ?? '',
    timestamp: record.timestamp ?? record.sentAt,
    ...(record.timestamp === null ? {} : clockOf(acceptedClock(record.sentAt, record.timestamp))),
    // A discarded message is hidden; an answer that contains it all the same says that it wasn't sent.
    status: record.status === 'discarded' ? 'failed' : record.status,
    ...(record.failure === null ? {} : { failure: record.failure }),
    content: contentOf(said),
    ...marksOf(said),
  };
}

export function timerView(said: Said | null): Pick<MessageView, 'timer'> {
  const timer = timerOf(said);
  return timer === 0 ? {} : { timer };
}

function marksOf(said: Said | null): Pick<MessageView, 'timer' | 'isForwarded'> {
  const isForwarded = said?.kind === 'message' && said.isForwarded === true;
  return { ...timerView(said), ...(isForwarded ? { isForwarded } : {}) };
}

export function openMessage(
  account: UnlockedAccount,
  conversationId: string,
  seq: number,
  row: MessageRow,
): MessageRecord {
  return account.sealer.open('messages', sealingKey(conversationId, seq), row.sealed, MessageRecord);
}

export function openOutbox(account: UnlockedAccount, messageId: string, row: OutboxRow): OutboxRecord {
  return account.sealer.open('outbox', messageId, row.sealed, OutboxRecord);
}

/** Reads a message of the log; null for one that can't be read, or was erased. */
export function saidBy({ record }: Pick<LoggedMessage, 'record'>): Said | null {
  return record.payload === null ? null : readPayload(record.payload);
}

/** Reads a message, wherever it is; null as {@link saidBy}. */
export function saidByKnown(known: KnownMessage): Said | null {
  return 'logged' in known ? saidBy(known.logged) : known.waiting.said;
}

/** Returns what the screen is told of a change that waits; nothing of one that the relay has. */
export function unsentChange(
  { messageId, record }: WaitingMessage,
  kind: UnsentChange['kind'],
): UnsentChange[] {
  const { failure, status } = record;
  if (status !== 'sending' && status !== 'failed') return [];
  return [{ messageId, kind, status, ...(failure === null ? {} : { failure }) }];
}

/** Returns whether it is a reaction that a message shows; a star is for its person alone. */
export function isReaction(said: Said | null): said is Extract<Said, { kind: 'reaction' }> {
  return said?.kind === 'reaction' && said.starredIn === undefined;
}

/** Reactions to a message: each emoji once a person, and no more of them than a person needs. */
class FoundReactions {
  readonly #userIds = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();

  add(emoji: string, userId: string): void {
    const count = this.#counts.get(userId) ?? 0;
    const users = this.#userIds.get(emoji) ?? new Set();
    if (users.has(userId) || count >= limits.emojisPerPerson) return;
    this.#counts.set(userId, count + 1);
    this.#userIds.set(emoji, users.add(userId));
  }

  all(): Reaction[] {
    return [...this.#userIds].map(([emoji, userIds]) => ({ emoji, userIds: [...userIds] }));
  }
}

/**
 * Puts the reactions to a message together: those of the log, and with this person's those that wait in the outbox, or are taken back there.
 * @param ids of the message and its edits
 * @param logged in the order of the log
 * @returns this person's apart from all, and what of it is not sent yet
 */
export function reactionsOf(
  userId: string,
  ids: readonly string[],
  logged: readonly LoggedMessage[],
  waiting: readonly (WaitingMessage & { readonly said: Change })[],
  contentIdOf: (logged: LoggedMessage) => string | null,
) {
  const given = waiting.filter(({ said }) => isReaction(said) && ids.includes(said.of));
  const takings = waiting.filter(({ said }) => said.kind === 'deletion');
  const taken = new Set(takings.map(({ said }) => said.of));
  const found = new FoundReactions();
  const own: { readonly emoji: string; readonly known: KnownMessage }[] = [];
  const ownIds = new Set<string | null>();
  for (const one of logged) {
    const said = saidBy(one);
    if (!isReaction(said)) continue;
    const { senderId } = one.record;
    const isOwn = senderId === userId;
    const id = isOwn ? contentIdOf(one) : null;
    if (isOwn) ownIds.add(id);
    if (id !== null && taken.has(id)) continue;
    found.add(said.emoji, senderId);
    if (isOwn) own.push({ emoji: said.emoji, known: { logged: one } });
  }
  for (const one of given) {
    ownIds.add(one.contentId);
    if (one.said.kind !== 'reaction' || (one.contentId !== null && taken.has(one.contentId))) continue;
    found.add(one.said.emoji, userId);
    own.push({ emoji: one.said.emoji, known: { waiting: one } });
  }
  const unsent = [...given, ...takings.filter(({ said }) => ownIds.has(said.of))];
  return { reactions: found.all(), own, unsent: unsent.flatMap((one) => unsentChange(one, 'reaction')) };
}

/** Returns the content that edits give a message; null without any. */
export function textOf(edits: readonly Edit[]): MessageContent | null {
  const last = edits.at(-1);
  return last === undefined ? null : { kind: 'text', ...wordsOf(last) };
}

/** Returns the words alone of what has more. */
export function wordsOf({ isMarkdown, text }: Words): Words {
  return isMarkdown === true ? { text, isMarkdown } : { text };
}
