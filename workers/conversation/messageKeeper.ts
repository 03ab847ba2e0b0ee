/** Keeping the messages of a conversation and their changes, and erasing what was deleted. */
import type { MessageView } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import { UNREAD, type WriteTransaction } from '../storage/db.ts';
import { messageRow } from '../storage/messageRow.ts';
import { encodeChangePayload, timerOf } from '../storage/payload.ts';
import type { ConversationRecord, MessageRecord } from '../storage/records.ts';
import { isOver, type KnownMessage, type LoggedMessage, type Replacements, saidBy } from './messageView.ts';
import { MessageViews } from './messageViews.ts';

/** The time of an edit of a message that has none. */
const NEVER = Number.MAX_SAFE_INTEGER;

type Erased = NonNullable<MessageRecord['erased']>;

/** A message that came, or the one that it changes; as a view, one that isn't kept. */
export type Seen = KnownMessage | MessageView;

export class MessageKeeper {
  readonly views: MessageViews;
  readonly #tx: WriteTransaction;
  readonly #account: UnlockedAccount;
  readonly #conversationId: string;
  readonly #queueWrite: (request: Promise<unknown>) => void;

  /** @param queueWrite takes requests; without it, one that fails ends the transaction, which says so */
  constructor(
    tx: WriteTransaction,
    account: UnlockedAccount,
    conversationId: string,
    queueWrite: (request: Promise<unknown>) => void = (request) => void request.catch(() => {}),
  ) {
    this.views = new MessageViews(tx, account, conversationId);
    this.#tx = tx;
    this.#account = account;
    this.#conversationId = conversationId;
    this.#queueWrite = queueWrite;
  }

  /**
   * Keeps a message or a change under its position, and nothing of what was deleted.
   * @param conversation where content ids are still to be given, for a change of a message that isn't found
   * @returns the message, or the one that it changes; null where that isn't known, and of one whose time is over as it comes
   */
  async keep(
    seq: number,
    messageId: string,
    record: MessageRecord,
    conversation: ConversationRecord | null,
  ): Promise<KnownMessage | null> {
    const row = this.#put(seq, messageId, record);
    const given: LoggedMessage = { seq, messageId, record, row };
    const logged = row.expires === undefined ? given : this.#timed(given, conversation);
    if (logged.record.erased === null && (await this.expire(logged))) return null;
    if (row.about !== undefined) this.views.noteChange();
    else if (!(await this.views.hasChanges())) return { logged };
    const changed = await this.#settle(logged);
    if (changed !== null || conversation === null || conversation.withoutIds === 0) return changed;
    await this.giveIds(conversation, Number.POSITIVE_INFINITY);
    return this.#settle(logged);
  }

  /** Gives content ids to the newest messages that have none: they are from versions that kept none. */
  async giveIds(conversation: ConversationRecord, most: number): Promise<void> {
    const upTo = [this.#conversationId, conversation.withoutIds];
    const range = IDBKeyRange.bound([this.#conversationId], upTo);
    const found: LoggedMessage[] = [];
    let cursor = await this.#tx.objectStore('messages').openCursor(range, 'prev');
    for (; cursor !== null && found.length < most; cursor = await cursor.continue())
      found.push(this.views.open(cursor.key[1], cursor.value));
    conversation.withoutIds = cursor === null ? 0 : (found.at(-1)?.seq ?? 1) - 1;
    for (const { messageId, record, row, seq } of found)
      if (row.content === undefined && record.payload !== null) await this.keep(seq, messageId, record, null);
  }

  /** Returns messages as they are shown by now, in the order of the log: each once, though it was changed often. */
  async viewsOf(seen: readonly Seen[]): Promise<MessageView[]> {
    this.views.forgetWaiting();
    const hasChanges = await this.views.hasChanges();
    // By their positions: a relay may give the id of one message to another.
    const found = new Map<number | string, MessageView>();
    for (const one of seen) {
      if ('senderId' in one) found.set(one.seq ?? one.messageId, one);
      if ('senderId' in one || found.has(placeOf(one))) continue;
      const now = hasChanges && 'logged' in one ? await this.views.at(one.logged.seq) : null;
      const view = await this.views.shownBy(now === null ? one : { logged: now });
      if (view !== null) found.set(view.seq ?? view.messageId, view);
    }
    const last = Number.POSITIVE_INFINITY;
    return [...found.values()].sort((one, other) => (one.seq ?? last) - (other.seq ?? last));
  }

  /**
   * Erases what is over. An edit has the time of its message, whatever it says: older words would come back in its place.
   * @returns whether it was over
   */
  async expire(logged: LoggedMessage): Promise<boolean> {
    const { messageId, record, seq } = logged;
    if (!isOver(this.#account, record)) return false;
    const said = saidBy(logged);
    const meant = said?.kind === 'edit' ? (await this.views.meant(said.of, record.senderId)).known : null;
    const message = meant !== null && 'logged' in meant ? meant.logged.record : null;
    if (message === null || message.erased !== null || isOver(this.#account, message)) {
      await this.erase(logged, 'expired');
      return true;
    }
    this.#put(seq, messageId, { ...record, expiresAt: message.expiresAt ?? NEVER });
    return false;
  }

  /**
   * Erases a message without a word: because its time is over, or for this person on this device alone. One that has a time is over then,
   * since no copy would know of the time any more.
   */
  async erase(logged: LoggedMessage, why: 'here' | 'expired'): Promise<void> {
    const how = logged.row.expires === undefined ? why : 'expired';
    const contentId = this.views.contentIdOf({ logged });
    const said = saidBy(logged);
    const { erased, senderId } = logged.record;
    const of = said?.kind === 'edit' ? said.of : null;
    this.#erase(logged, { id: contentId, of, isShown: false, how: erased?.how ?? how });
    this.views.noteChange();
    // The changes of an edit are those of its message.
    if (contentId === null || said?.kind === 'edit') return;
    const replacements = await this.views.replacements(senderId, contentId, Infinity);
    this.#eraseEdits(replacements, how);
    if (how === 'expired' && senderId === this.#account.userId) await this.#eraseWaiting(replacements.ids);
    await this.#eraseReactions(replacements);
  }

  /**
   * Starts the clocks of messages that nobody has read yet; by the word of another device also those that were read here later,
   * so that they run out at one time.
   * @param at when they were read, in milliseconds since the Unix epoch
   * @param where on this device, whose copies say the time to the others, or on another one
   * @returns whether there were any
   */
  async startClocks(upTo: number, at: number, where: 'here' | 'elsewhere'): Promise<boolean> {
    const isHere = where === 'here';
    const range = isHere
      ? IDBKeyRange.only([UNREAD, this.#conversationId])
      : IDBKeyRange.lowerBound([at, this.#conversationId]);
    const keys = await this.#tx.objectStore('messages').index('expires').getAllKeys(range);
    let isAny = false;
    for (const [conversationId, seq] of keys) {
      if (conversationId !== this.#conversationId || seq > upTo) continue;
      const logged = await this.views.at(seq);
      // The own ones run from their sending.
      if (logged === null || (!isHere && logged.record.senderId === this.#account.userId)) continue;
      isAny = true;
      await this.startClock(logged, at, isHere);
    }
    return isAny;
  }

  /** Takes from a copy the time at which its message disappears, which another device has started. */
  async takeTime(seq: number, expiresAt: number | null): Promise<void> {
    const logged = expiresAt === null ? null : await this.views.at(seq);
    if (expiresAt === null || logged === null || expiresAt >= (logged.record.expiresAt ?? Infinity)) return;
    await this.startClock(logged, expiresAt - timerOf(saidBy(logged)) * 1000, false);
  }

  /** Starts the clock of a message, and erases one whose time is over. */
  async startClock(logged: LoggedMessage, readAt: number, isCopyDue: boolean): Promise<void> {
    const started = this.#started(logged, readAt, isCopyDue || logged.row.copyDue !== undefined);
    await this.expire(started);
  }

  /** Has a message that was read disappear when it would have by the clock before it was set back, from which `seen` is. */
  setTimeBack({ messageId, record, row, seq }: LoggedMessage, seen: number): void {
    const left = Math.max(0, (record.expiresAt ?? seen) - seen);
    const expiresAt = this.#account.now() + Math.min(left, timerOf(saidBy({ record })) * 1000);
    this.#put(seq, messageId, { ...record, expiresAt }, row.copyDue !== undefined);
  }

  /**
   * No clock of another device, and none of the relay, gives a message more than its span from now on, or has it read before the relay had
   * it.
   */
  #started(logged: LoggedMessage, readAt: number, isCopyDue: boolean): LoggedMessage {
    const { messageId, record, seq } = logged;
    const from = Math.min(Math.max(readAt, Date.parse(record.timestamp)), this.#account.now());
    const latest = from + timerOf(saidBy(logged)) * 1000;
    const expiresAt = Math.max(0, Math.min(latest, record.expiresAt ?? latest));
    const timed = { ...record, expiresAt };
    return { ...logged, record: timed, row: this.#put(seq, messageId, timed, isCopyDue) };
  }

  /** Starts the clock of one that came: from its sending where it is this person's, or from where another device has read it. */
  #timed(logged: LoggedMessage, conversation: ConversationRecord | null): LoggedMessage {
    const { expiresAt, own, senderId, sentAt, timestamp } = logged.record;
    // The device that wrote it knows when the relay took it, and asks nobody else.
    if (own && expiresAt !== null) return this.#started(logged, Number.POSITIVE_INFINITY, false);
    const isOwn = senderId === this.#account.userId;
    // A reading of what was still to come is none.
    const earliest = Date.parse(timestamp) - limits.clockDifference;
    const told = conversation?.readElsewhere.find(({ at, seq }) => seq >= logged.seq && at >= earliest)?.at;
    const readAt = isOwn ? (sentAt ?? 0) : told;
    if (readAt !== undefined) return this.#started(logged, readAt, false);
    return expiresAt === null ? logged : this.#started(logged, Number.POSITIVE_INFINITY, false);
  }

  /** Applies what is known of a message or a change by now, in whichever order it came. */
  async #settle(logged: LoggedMessage): Promise<KnownMessage | null> {
    const { senderId } = logged.record;
    const [said, contentId] = [saidBy(logged), this.views.contentIdOf({ logged })];
    if (contentId === null) return { logged };
    if (said === null) {
      if (logged.record.erased?.how !== 'everywhere') return { logged };
      const { of } = logged.record.erased;
      await this.#eraseDeleted(senderId, of === null ? contentId : (await this.views.meant(of, senderId)).id);
      return { logged };
    }
    if (said.kind === 'message') {
      await this.#eraseDeleted(senderId, contentId);
      return { logged };
    }
    if (said.kind === 'reaction') {
      const { known } = await this.views.meant(said.of);
      if (erasedOf(known) !== null || (await this.views.isDeleted(senderId, contentId))) this.#spend(logged);
      return this.views.changedBy(said, senderId);
    }
    const { id, known } = await this.views.meant(said.of, senderId);
    const target = known !== null && 'logged' in known ? known.logged : null;
    const changed = await this.views.changedBy(said, senderId);
    const erased = erasedOf(known);
    if (erased?.how === 'spent') return changed;
    if (target !== null && saidBy(target)?.kind === 'reaction') {
      if (said.kind === 'deletion') this.#spend(target);
    } else if (said.kind === 'edit' && erased !== null) {
      this.#erase(logged, { id: contentId, of: said.of, isShown: false, how: erased.how });
    } else if (said.kind === 'edit') {
      // All that came before it has been looked at as it came.
      if (known === null || (await this.views.isDeleted(senderId, contentId)))
        await this.#eraseDeleted(senderId, id);
    } else if (erased?.how !== 'everywhere') await this.#eraseDeleted(senderId, id, Infinity);
    return changed;
  }

  /** Erases a message with all that was changed of it, or what is known of that, if its author has deleted it. */
  async #eraseDeleted(senderId: string, contentId: string, most?: number): Promise<void> {
    const replacements = await this.views.replacements(senderId, contentId, most);
    const same = await this.views.withContent(contentId);
    const messages = same.filter(
      ({ record }) =>
        record.senderId === senderId &&
        record.erased?.how !== 'spent' &&
        saidBy({ record })?.kind !== 'deletion',
    );
    const isErasedThere = messages.some(({ record }) => record.erased?.how === 'everywhere');
    const erasedAs = messages.find(({ record }) => record.erased !== null)?.record.erased?.how;
    const how = replacements.isDeleted || isErasedThere ? 'everywhere' : erasedAs;
    if (how === undefined) return;
    for (const message of messages) {
      const { erased } = message.record;
      if (erased?.how !== how)
        this.#erase(message, {
          id: contentId,
          of: null,
          isShown: erased?.isShown ?? how === 'everywhere',
          how,
        });
    }
    this.#eraseEdits(replacements, how);
    if (senderId === this.#account.userId && how === 'everywhere') await this.#eraseWaiting(replacements.ids);
    // Nobody's word on somebody else's message counts, so it has to be known whose it is.
    if (messages.length > 0) await this.#eraseReactions(replacements);
  }

  #eraseEdits({ rows }: Replacements, how: Erased['how']): void {
    for (const logged of rows) {
      const said = saidBy(logged);
      if (said?.kind !== 'edit') continue;
      this.#erase(logged, { id: this.views.contentIdOf({ logged }), of: said.of, isShown: false, how });
    }
  }

  async #eraseReactions({ ids }: Replacements): Promise<void> {
    for (const id of ids) for (const reaction of await this.views.reactingTo(id)) this.#spend(reaction);
  }

  /** Takes the texts of edits of a deleted message out of the outbox; their ciphertexts may be under way. */
  async #eraseWaiting(ids: readonly string[]): Promise<void> {
    const outbox = this.#tx.objectStore('outbox');
    for (const { messageId, record, row, said } of await this.views.waiting()) {
      if (said.kind !== 'edit' || !ids.includes(said.of)) continue;
      if (record.ciphertext === null) {
        this.#queueWrite(outbox.delete(messageId));
        continue;
      }
      const payload = encodeChangePayload({ kind: 'deletion', of: said.of }, new Uint8Array(16));
      const status = record.status === 'sent' ? 'sent' : 'discarded';
      const sealed = this.#account.sealer.seal('outbox', messageId, { ...record, payload, status });
      this.#queueWrite(outbox.put({ ...row, sealed }, messageId));
    }
    this.views.forgetWaiting();
  }

  /** Keeps of a reaction that there was something. */
  #spend(logged: LoggedMessage): void {
    this.#erase(logged, { id: this.views.contentIdOf({ logged }), of: null, isShown: false, how: 'spent' });
  }

  /** A copy in the message backup goes with what its author has deleted, with what is over, and with nothing else. */
  #erase({ messageId, record, row, seq }: LoggedMessage, erased: Erased): void {
    const isDue = erased.how === 'everywhere' || erased.how === 'expired' || row.copyDue !== undefined;
    this.#put(seq, messageId, { ...record, payload: null, reason: null, erased }, isDue);
  }

  #put(seq: number, messageId: string, record: MessageRecord, isCopyDue = false) {
    const at = { conversationId: this.#conversationId, messageId, seq };
    const row = messageRow(this.#account.sealer, at, record, isCopyDue);
    this.#queueWrite(this.#tx.objectStore('messages').put(row, [this.#conversationId, seq]));
    return row;
  }
}

function erasedOf(known: KnownMessage | null): MessageRecord['erased'] {
  return known !== null && 'logged' in known ? known.logged.record.erased : null;
}

function placeOf(known: KnownMessage): number | string {
  return 'logged' in known ? known.logged.seq : (known.waiting.record.seq ?? known.waiting.messageId);
}
