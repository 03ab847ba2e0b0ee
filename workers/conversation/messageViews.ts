/**
 * Messages as people see them: with what was changed of them since. Changes are entries of their own, kept as they came, and
 * put together here whenever a message is looked at. So it makes no difference in which order they came.
 */
import type { MessageContent, MessageVersion, MessageView, Quote, UnsentChange } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import { type MessageRow, type OutboxRow, type Transaction, withinConversation } from '../storage/db.ts';
import {
  contentIdOfRecord,
  keyOfContent,
  keyOfDeleting,
  keyOfEditing,
  keyOfReacting,
} from '../storage/messageRow.ts';
import { type Change, contentIdOf, payloadContent, readPayload, type Said } from '../storage/payload.ts';
import type { OutboxRecord } from '../storage/records.ts';
import {
  type Edit,
  isOver,
  type KnownMessage,
  type LoggedMessage,
  messageView,
  openMessage,
  outboxView,
  type Replacements,
  reactionsOf,
  saidBy,
  saidByKnown,
  textOf,
  timerView,
  unsentChange,
  type WaitingMessage,
  wordsOf,
} from './messageView.ts';
import { readOutbox } from './outboxRows.ts';

/** Puts the messages of one conversation together with their changes, as one transaction sees them. */
export class MessageViews {
  readonly #tx: Transaction;
  readonly #account: UnlockedAccount;
  readonly #conversationId: string;
  #hasChanges: Promise<boolean> | null = null;
  #waiting: Promise<readonly WaitingMessage[]> | null = null;

  constructor(tx: Transaction, account: UnlockedAccount, conversationId: string) {
    this.#tx = tx;
    this.#account = account;
    this.#conversationId = conversationId;
  }

  /**
   * Returns a message of the log as it is shown by now; null for a change, and for what this person has deleted here.
   * @param most reactions of the log that are read
   */
  async view(logged: Omit<LoggedMessage, 'row'>, most?: number): Promise<MessageView | null> {
    const { messageId, record, seq } = logged;
    const said = saidBy({ record });
    if (isOver(this.#account, record) || (said === null && record.erased?.isShown === false)) return null;
    if (said !== null && said.kind !== 'message') return null;
    const plain = messageView(this.#conversationId, seq, messageId, record, said);
    if (said === null) return plain;
    return this.#withChanges(plain, said, () => contentIdOfRecord(record, this.#at(messageId)), most);
  }

  /** Returns a message of the outbox as it is shown by now; null for a change. */
  async waitingView({ contentId, messageId, record, said }: WaitingMessage): Promise<MessageView | null> {
    if (said.kind !== 'message') return null;
    const plain = outboxView(this.#account, this.#conversationId, messageId, record, said);
    return this.#withChanges(plain, said, () => contentId);
  }

  /** Returns a message that was written just now, which nobody can have changed. */
  async newView(messageId: string, record: OutboxRecord): Promise<MessageView> {
    const said = readPayload(record.payload);
    const plain = outboxView(this.#account, this.#conversationId, messageId, record, said);
    const inReplyTo = said.kind === 'message' ? said.inReplyTo : null;
    return inReplyTo === null ? plain : { ...plain, quote: await this.#quote(inReplyTo) };
  }

  async viewOf(known: KnownMessage): Promise<MessageView | null> {
    return 'logged' in known ? this.view(known.logged) : this.waitingView(known.waiting);
  }

  /** Finds a message by its message id; null for one of another conversation. */
  async find(messageId: string): Promise<KnownMessage | null> {
    const [outbox, keys] = await Promise.all([
      this.waiting(),
      this.#tx.objectStore('messages').index('messageId').getAllKeys(messageId),
    ]);
    const waiting = outbox.find((one) => one.messageId === messageId);
    if (waiting !== undefined) return { waiting };
    const key = keys.find(([conversationId]) => conversationId === this.#conversationId);
    const logged = key === undefined ? null : await this.at(key[1]);
    return logged === null ? null : { logged };
  }

  async at(seq: number): Promise<LoggedMessage | null> {
    const row = await this.#tx.objectStore('messages').get([this.#conversationId, seq]);
    return row === undefined ? null : this.open(seq, row);
  }

  open(seq: number, row: MessageRow): LoggedMessage {
    const record = openMessage(this.#account, this.#conversationId, seq, row);
    return { seq, messageId: row.messageId, row, record };
  }

  /**
   * Returns the message that is meant by a content id: of two with one id the first, and by an edit what it edits.
   * @param authorId the only one whose message may be meant
   * @returns also the content id up to which that could be followed
   */
  async meant(
    contentId: string,
    authorId: string | null = null,
  ): Promise<{ id: string; known: KnownMessage | null }> {
    let [id, author] = [contentId, authorId];
    for (const seen = new Set<string>(); !seen.has(id) && seen.size < limits.editsOfEdits; ) {
      seen.add(id);
      const [logged] = await this.withContent(id, 1);
      const waiting =
        logged === undefined ? (await this.waiting()).find((one) => one.contentId === id) : undefined;
      if (logged === undefined && waiting === undefined) break;
      const senderId = logged?.record.senderId ?? this.#account.userId;
      if (author !== null && author !== senderId) break;
      author = senderId;
      const said = waiting?.said ?? (logged && saidBy(logged));
      const of = logged?.record.erased?.of ?? (said?.kind === 'edit' ? said.of : null);
      if (of !== null) id = of;
      else if (logged !== undefined) return { id, known: { logged } };
      else if (waiting !== undefined) return { id, known: { waiting } };
    }
    return { id, known: null };
  }

  /** Returns the message that a change is about, as far as it counts. */
  async changedBy({ kind, of }: Change, senderId: string): Promise<KnownMessage | null> {
    const { known } = await this.meant(of, kind === 'reaction' ? null : senderId);
    const said = known && saidByKnown(known);
    if (said?.kind === 'reaction') return kind === 'deletion' ? this.changedBy(said, senderId) : null;
    return said?.kind === 'deletion' ? null : known;
  }

  /** Returns a message as it is shown by now, or the one that it changes; null where neither is. */
  async shownBy(known: KnownMessage): Promise<MessageView | null> {
    const said = saidByKnown(known);
    if (said === null || said.kind === 'message') return this.viewOf(known);
    const changed = await this.changedBy(said, this.#senderOf(known));
    return changed === null ? null : this.viewOf(changed);
  }

  /** Lists the messages and changes of the log that have a content id, in the order of the log. */
  async withContent(contentId: string, most?: number): Promise<LoggedMessage[]> {
    return this.#rows('content', keyOfContent(this.#account.sealer, this.#conversationId, contentId), most);
  }

  /** Lists the reactions that name a content id, in the order of the log; those that were taken back are none. */
  async reactingTo(contentId: string, most?: number): Promise<LoggedMessage[]> {
    const key = keyOfReacting(this.#account.sealer, this.#conversationId, contentId);
    return this.#rows('about', [this.#conversationId, key], most);
  }

  /** Lists the edits of a person that name a content id, in the order of the log. */
  async #editing(senderId: string, contentId: string, most: number): Promise<LoggedMessage[]> {
    const key = keyOfEditing(this.#account.sealer, this.#conversationId, senderId, contentId);
    return this.#rows('about', [this.#conversationId, key], Number.isFinite(most) ? most : undefined);
  }

  /** Returns whether a person has deleted, or taken back, what has a content id. */
  async isDeleted(senderId: string, contentId: string): Promise<boolean> {
    const key = keyOfDeleting(this.#account.sealer, this.#conversationId, senderId, contentId);
    const about = this.#tx.objectStore('messages').index('about');
    return (await about.getKey([this.#conversationId, key])) !== undefined;
  }

  /** Returns whether the log has changes in this conversation at all. A change that is put in meanwhile has to be told of. */
  hasChanges(): Promise<boolean> {
    const within = withinConversation(this.#conversationId);
    this.#hasChanges ??= this.#tx
      .objectStore('messages')
      .index('about')
      .getKey(within)
      .then((key) => key !== undefined);
    return this.#hasChanges;
  }

  /** Notes that the log has one. */
  noteChange(): void {
    this.#hasChanges = Promise.resolve(true);
  }

  /** Lists what waits in the outbox, in the order of writing. */
  waiting(): Promise<readonly WaitingMessage[]> {
    this.#waiting ??= this.#readOutbox();
    return this.#waiting;
  }

  /** Has the outbox read again, which was written to. */
  forgetWaiting(): void {
    this.#waiting = null;
  }

  /**
   * Follows what the author has changed of a message in the log, also by edits of edits.
   * @param most edits that are looked at, the first ones: the others count for nothing
   */
  async replacements(
    authorId: string,
    contentId: string,
    most: number = limits.editsRead,
  ): Promise<Replacements> {
    const ids = [contentId];
    const edits: Edit[] = [];
    const rows: LoggedMessage[] = [];
    let isDeleted = false;
    // Each edit found adds an id.
    for (const id of (await this.hasChanges()) ? ids : []) {
      const left = most - rows.length;
      const [isGone, editing]: [boolean, LoggedMessage[]] = await Promise.all([
        isDeleted || this.isDeleted(authorId, id),
        left > 0 ? this.#editing(authorId, id, left) : [],
      ]);
      isDeleted = isGone;
      for (const logged of editing) {
        rows.push(logged);
        const editId = contentIdOfRecord(logged.record, this.#at(logged.messageId));
        if (editId === null || ids.includes(editId)) continue;
        ids.push(editId);
        const said = saidBy(logged);
        if (said?.kind === 'edit')
          edits.push({ ...wordsOf(said), contentId: editId, timestamp: logged.record.timestamp, logged });
      }
    }
    edits.sort((one, other) => (one.logged?.seq ?? 0) - (other.logged?.seq ?? 0));
    return { ids, edits, rows, isDeleted };
  }

  /** Returns a message as it was written first and after each edit, oldest first; none where it was deleted. */
  async versions(known: KnownMessage): Promise<MessageVersion[]> {
    const view = await this.viewOf(known);
    const contentId = this.contentIdOf(known);
    if (view === null || view.content.kind === 'deleted' || contentId === null) return [];
    const { payload } = 'logged' in known ? known.logged.record : known.waiting.record;
    const first = payload === null ? null : payloadContent(payload);
    const { edits } = await this.#allReplacements(view.senderId, contentId);
    const written = first?.kind === 'text' ? [{ timestamp: view.timestamp, ...wordsOf(first) }] : [];
    return [...written, ...edits.map((edit) => ({ timestamp: edit.timestamp, ...wordsOf(edit) }))];
  }

  #senderOf(known: KnownMessage): string {
    return 'logged' in known ? known.logged.record.senderId : this.#account.userId;
  }

  contentIdOf(known: KnownMessage): string | null {
    if ('waiting' in known) return known.waiting.contentId;
    return contentIdOfRecord(known.logged.record, this.#at(known.logged.messageId));
  }

  async #withChanges(
    plain: MessageView,
    said: Extract<Said, { kind: 'message' }>,
    contentIdOfIt: () => string | null,
    mostReactions?: number,
  ): Promise<MessageView> {
    const mayBeChanged = (await this.hasChanges()) || (await this.#changesWaiting()).length > 0;
    const contentId = mayBeChanged ? contentIdOfIt() : null;
    const quote = said.inReplyTo === null ? {} : { quote: await this.#quote(said.inReplyTo) };
    if (contentId === null) return { ...plain, ...quote };
    const {
      replacements,
      reactions,
      unsent: unsentReactions,
    } = await this.#changesOf(plain.senderId, contentId, mostReactions);
    const { edits, ids, isDeleted } = replacements;
    const unsent = [...(await this.#unsentReplacements(plain.senderId, ids)), ...unsentReactions];
    const unsentChanges = unsent.length > 0 ? { unsentChanges: unsent } : {};
    if (isDeleted) return { ...plain, content: { kind: 'deleted' }, ...unsentChanges };
    return {
      ...plain,
      content: textOf(edits) ?? plain.content,
      ...(edits.length > 0 ? { isEdited: true } : {}),
      ...quote,
      ...(reactions.length > 0 ? { reactions } : {}),
      ...unsentChanges,
    };
  }

  async #quote(contentId: string): Promise<Quote> {
    const { id, known } = await this.meant(contentId);
    const [none, hasDisappeared] = [{ message: null }, true as const];
    if (known === null) return none;
    const { messageId } = 'logged' in known ? known.logged : known.waiting;
    const senderId = this.#senderOf(known);
    const erased = 'logged' in known ? known.logged.record.erased : null;
    if ('logged' in known && isOver(this.#account, known.logged.record)) return { ...none, hasDisappeared };
    if (erased !== null)
      return erased.isShown ? { message: { messageId, senderId, content: { kind: 'deleted' } } } : none;
    const said = saidByKnown(known);
    if (said?.kind !== 'message') return none;
    const { edits, isDeleted } = await this.#allReplacements(senderId, id);
    const content: MessageContent = isDeleted ? { kind: 'deleted' } : (textOf(edits) ?? said.content);
    return { message: { messageId, senderId, content, ...timerView(said) } };
  }

  /** Adds to what the log has what waits in the outbox, where the message is this person's. */
  async #allReplacements(authorId: string, contentId: string): Promise<Replacements> {
    const logged = await this.replacements(authorId, contentId);
    if (authorId !== this.#account.userId) return logged;
    const ids = [...logged.ids];
    const edits = [...logged.edits];
    let { isDeleted } = logged;
    for (const { contentId: id, record, said } of await this.#changesWaiting()) {
      if (!ids.includes(said.of)) continue;
      if (said.kind === 'deletion') isDeleted = true;
      if (said.kind !== 'edit' || id === null) continue;
      ids.push(id);
      edits.push({
        ...wordsOf(said),
        contentId: id,
        timestamp: record.timestamp ?? record.sentAt,
        logged: null,
      });
    }
    return { ...logged, ids, edits, isDeleted };
  }

  async #unsentReplacements(authorId: string, ids: readonly string[]): Promise<UnsentChange[]> {
    if (authorId !== this.#account.userId) return [];
    const waiting = await this.#changesWaiting();
    return waiting.flatMap((one) =>
      one.said.kind !== 'reaction' && ids.includes(one.said.of) ? unsentChange(one, one.said.kind) : [],
    );
  }

  /** Lists this person's reactions to somebody's message with an emoji, those that were taken back apart. */
  async ownReactions(authorId: string, contentId: string, emoji: string): Promise<readonly KnownMessage[]> {
    const { own } = await this.#changesOf(authorId, contentId);
    return own.filter((one) => one.emoji === emoji).map(({ known }) => known);
  }

  /** Reads what was changed of a message, and its reactions at the same time: each answer of the database takes a while. */
  async #changesOf(authorId: string, contentId: string, most: number = limits.reactionsRead) {
    const [replacements, reacting] = await Promise.all([
      this.#allReplacements(authorId, contentId),
      this.hasChanges().then((has) => (has && most > 0 ? this.reactingTo(contentId, most) : [])),
    ]);
    return { replacements, ...(await this.#reactions(replacements.ids, reacting, most)) };
  }

  /** @param reacting the logged reactions to the first id */
  async #reactions(ids: readonly string[], reacting: readonly LoggedMessage[], most: number) {
    const { userId } = this.#account;
    const logged = [...reacting];
    for (const id of (await this.hasChanges()) ? ids.slice(1) : []) {
      const left = most - logged.length;
      if (left > 0) logged.push(...(await this.reactingTo(id, left)));
    }
    logged.sort((one, other) => one.seq - other.seq);
    const waiting = await this.#changesWaiting();
    return reactionsOf(userId, ids, logged, waiting, (one) => this.contentIdOf({ logged: one }));
  }

  async #changesWaiting() {
    const waiting = await this.waiting();
    return waiting.filter((one): one is WaitingMessage & { said: Change } => one.said.kind !== 'message');
  }

  async #readOutbox(): Promise<WaitingMessage[]> {
    const entries = await readOutbox(this.#tx, this.#account, this.#conversationId);
    return entries.flatMap(({ messageId, record, row }) =>
      record.status === 'discarded' ? [] : [this.waitingMessage(messageId, row, record)],
    );
  }

  waitingMessage(messageId: string, row: OutboxRow, record: OutboxRecord): WaitingMessage {
    const at = { ...this.#at(messageId), senderId: this.#account.userId };
    const said = readPayload(record.payload);
    return { messageId, row, record, said, contentId: contentIdOf(record.payload, at) };
  }

  async #rows(index: 'content' | 'about', key: string | [string, string], most?: number) {
    const within = this.#tx.objectStore('messages').index(index);
    const range = IDBKeyRange.only(key);
    const [keys, rows] = await Promise.all([within.getAllKeys(range, most), within.getAll(range, most)]);
    return rows.flatMap((row, i) => {
      const seq = keys[i]?.[1];
      return seq === undefined ? [] : [this.open(seq, row)];
    });
  }

  #at(messageId: string) {
    return { conversationId: this.#conversationId, messageId };
  }
}
