/** Keeping the messages of a conversation and their changes, and erasing what was deleted. */
import type { MessageView } from '../api/cryptoApi.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { WriteTransaction } from '../storage/db.ts';
import { messageRow } from '../storage/messageRow.ts';
import { encodeChangePayload } from '../storage/payload.ts';
import type { ConversationRecord, MessageRecord } from '../storage/records.ts';
import { type KnownMessage, type LoggedMessage, type Replacements, saidBy } from './messageView.ts';
import { MessageViews } from './messageViews.ts';

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
   * @returns the message, or the one that it changes; null where that isn't known
   */
  async keep(
    seq: number,
    messageId: string,
    record: MessageRecord,
    conversation: ConversationRecord | null,
  ): Promise<KnownMessage | null> {
    const row = this.#put(seq, messageId, record);
    const logged: LoggedMessage = { seq, messageId, record, row };
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

  /** Erases a message for this person on this device alone. */
  async deleteHere(logged: LoggedMessage): Promise<void> {
    const contentId = this.views.contentIdOf({ logged });
    const how = logged.record.erased?.how ?? 'here';
    this.#erase(logged, { id: contentId, of: null, isShown: false, how });
    if (contentId === null) return;
    const replacements = await this.views.replacements(logged.record.senderId, contentId, Infinity);
    this.#eraseEdits(replacements, 'here');
    await this.#eraseReactions(replacements);
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
    const how = replacements.isDeleted || isErasedThere ? 'everywhere' : 'here';
    if (how === 'here' && !messages.some(({ record }) => record.erased !== null)) return;
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

  #eraseEdits({ rows }: Replacements, how: 'everywhere' | 'here'): void {
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

  /** A copy in the message backup goes with what its author has deleted, and with nothing else. */
  #erase({ messageId, record, row, seq }: LoggedMessage, erased: Erased): void {
    const isDue = erased.how === 'everywhere' || row.copyDue !== undefined;
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
