/** Processing a conversation's log, in order (PROTOCOL section 4). */
import {
  CryptoError,
  decryptApplication,
  equalBytes,
  type ProcessedCommit,
  processCommit,
} from '@sinetti/crypto-core';
import { ConversationId, check, LogEntries } from '../api/arguments.ts';
import type {
  ConversationChange,
  ConversationEvent,
  CryptoApi,
  LogEntryInput,
  MessageView,
  UndecryptableReason,
} from '../api/cryptoApi.ts';
import { CryptoApiError, type CryptoApiErrorCode } from '../api/errors.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { changeOf, forgetOldestEvents, keepEvent } from '../conversation/events.ts';
import {
  acceptTreeMembers,
  clearNamelessDevices,
  trackNamelessDevices,
} from '../conversation/groupRecord.ts';
import { MlsGroup } from '../conversation/mlsGroup.ts';
import { payloadText } from '../conversation/payload.ts';
import { messageView, openMessage, openOutbox } from '../conversation/views.ts';
import { certificateOf } from '../identity/certificates.ts';
import { IdentityChanged, offerAccountKey, readPin } from '../identity/pins.ts';
import type { Session } from '../session/session.ts';
import type { ForkReason, MessageRecord } from '../storage/records.ts';
import { startSaying, takeSharedKeys } from './sharedKeysMessage.ts';
import { reasonOfCode } from './undecryptableReasons.ts';

const encoder = new TextEncoder();

export function createLogProcessing(
  deps: TransactionDeps,
  session: Session,
): Pick<CryptoApi, 'processEntries'> {
  return {
    async processEntries(id, input) {
      const conversationId = check('processEntries', ConversationId, id);
      const entries = check('processEntries', LogEntries, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const processor = new LogProcessor(transaction, deps);
        const messages = await processor.process(entries);
        if (processor.events.length > 0) await forgetOldestEvents(transaction);
        const shown = transaction.isSelf ? [] : messages;
        return { messages: shown, events: processor.events, state: await transaction.finish() };
      });
    },
  };
}

/** The result of a commit after which this device is outside, so that it leaves the rest of the log alone. */
const STOP = Symbol('stop');

/** Processes a batch of entries inside one conversation transaction. */
class LogProcessor {
  /** The events of the entries that were new. */
  readonly events: ConversationEvent[] = [];
  readonly #transaction: ConversationTransaction;
  readonly #deps: TransactionDeps;

  constructor(transaction: ConversationTransaction, deps: TransactionDeps) {
    this.#transaction = transaction;
    this.#deps = deps;
  }

  async process(given: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversation } = this.#transaction;
    const entries = ascending(given);
    const firstNew = entries.findIndex(({ seq }) => seq > conversation.lastSeq);
    const known = firstNew < 0 ? entries : entries.slice(0, firstNew);
    const fresh = firstNew < 0 ? [] : entries.slice(firstNew);
    const views = await this.#viewProcessed(known);
    if (fresh.length > 0) views.push(...(await this.#processNew(fresh)));
    return views;
  }

  /**
   * Answers entries that were processed before from the message cache, or with a reason where it lacks them.
   */
  async #viewProcessed(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversationId, conversation, account, tx } = this.#transaction;
    // A Welcome doesn't say when it let this device in, but the entry of its commit does.
    const joining = entries.find(({ seq }) => seq === conversation.joinedSeq);
    conversation.joinedAt ??= (joining && (conversation.joinedBefore ?? joining.timestamp)) ?? null;
    if (conversation.returning && joining !== undefined) {
      conversation.returning = false;
      conversation.joinedBefore = null;
      this.#recordEvent(joining, { kind: 'returned' });
    }
    const messages = entries.filter(({ kind }) => kind === 'application');
    const rows = await Promise.all(
      messages.map(({ seq }) => tx.objectStore('messages').get([conversationId, seq])),
    );
    return messages.map((entry, i) => {
      const row = rows[i];
      if (row !== undefined) {
        return messageView(
          conversationId,
          entry.seq,
          row.messageId,
          openMessage(account, conversationId, entry.seq, row),
        );
      }
      const reason = entry.seq <= conversation.joinedSeq ? 'before-join' : 'storage-erased';
      return this.#viewOf(entry, refusal(entry, reason, entry.sender_device_id === account.device.deviceId));
    });
  }

  async #processNew(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversation } = this.#transaction;
    if (conversation.membership === 'none' && conversation.pending !== 'start') {
      const joined = conversation.pending === 'external' ? await this.#indexOfOwnJoin(entries) : -1;
      if (joined < 0) return [];
      checkContiguous(entries, entries[0]?.seq ?? 0);
      return this.#processFromJoin(entries, joined);
    }
    checkContiguous(entries, conversation.lastSeq + 1);
    return this.#processAll(entries);
  }

  async #indexOfOwnJoin(entries: readonly LogEntryInput[]): Promise<number> {
    const pending = await this.#transaction.pending();
    if (pending === null) return -1;
    const commit = toBase64Url(pending.commit);
    return entries.findIndex(({ kind, content }) => kind === 'commit' && content === commit);
  }

  async #processFromJoin(entries: readonly LogEntryInput[], joined: number): Promise<MessageView[]> {
    const before = entries
      .slice(0, joined)
      .filter(({ kind }) => kind === 'application')
      .map((entry) => this.#viewOf(entry, refusal(entry, 'before-join')));
    return [...before, ...(await this.#processAll(entries.slice(joined)))];
  }

  async #processAll(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversation } = this.#transaction;
    const views: MessageView[] = [];
    for (const entry of entries) {
      if (entry.kind === 'application') {
        const record = await takeSharedKeys(this.#transaction, await this.#decryptMessage(entry));
        this.#storeMessage(entry, record);
        views.push(this.#viewOf(entry, record));
      } else if ((await this.#applyCommit(entry)) === STOP) {
        return views;
      }
      conversation.lastSeq = entry.seq;
    }
    return views;
  }

  #storeMessage(entry: LogEntryInput, record: MessageRecord): void {
    const { conversation, account } = this.#transaction;
    this.#transaction.putMessage(entry.seq, entry.id, record);
    if (entry.sender_id !== account.userId && entry.seq > conversation.readSeq) {
      conversation.unread = Math.min(conversation.unread + 1, limits.unread);
    }
  }

  #viewOf(entry: LogEntryInput, record: MessageRecord): MessageView {
    return messageView(this.#transaction.conversationId, entry.seq, entry.id, record);
  }

  // Application entries.

  async #decryptMessage(entry: LogEntryInput): Promise<MessageRecord> {
    const { conversation, account } = this.#transaction;
    if (entry.sender_device_id === account.device.deviceId) {
      return entry.sender_id === account.userId ? this.#takeFromOutbox(entry) : refusal(entry, 'rules');
    }
    const state = conversation.membership === 'member' ? await this.#transaction.state() : null;
    if (state === null)
      return refusal(entry, conversation.membership === 'none' ? 'before-join' : conversation.forkReason);
    try {
      const record = received(entry, decryptEntry(state, entry, conversation.epoch));
      state.accept();
      return record;
    } catch (error) {
      state.revert();
      const reason = reasonOf(error);
      if (reason === 'storage-erased') this.#transaction.fork(reason);
      return refusal(entry, reason);
    }
  }

  /**
   * Takes the plaintext of an own message from the outbox, since MLS gives no device the key of its own
   * message.
   */
  async #takeFromOutbox(entry: LogEntryInput): Promise<MessageRecord> {
    const { conversationId, account, tx } = this.#transaction;
    const row = await tx.objectStore('outbox').get(entry.id);
    if (row === undefined || row.conversationId !== conversationId) {
      const seen = await tx.objectStore('messages').index('messageId').getKey(entry.id);
      return refusal(entry, seen === undefined ? 'storage-erased' : 'damaged', true);
    }
    const { ciphertext, payload } = openOutbox(account, entry.id, row);
    await tx.objectStore('outbox').delete(entry.id);
    const unaltered = ciphertext !== null && toBase64Url(ciphertext) === entry.content;
    return unaltered ? { ...received(entry, payload), own: true } : refusal(entry, 'damaged', true);
  }

  // Commits.

  async #applyCommit(entry: LogEntryInput): Promise<void | typeof STOP> {
    const { conversation } = this.#transaction;
    const content = fromBase64Url(entry.content);
    const pending = await this.#transaction.pending();
    if (pending !== null && content !== null && equalBytes(pending.commit, content)) {
      const wasOutside = conversation.membership !== 'member';
      const hasRejoined = conversation.membership === 'forked';
      const before = await this.#transaction.members();
      await startSaying(this.#transaction);
      if (conversation.membership === 'none') {
        conversation.joinedSeq = conversation.pending === 'start' ? 0 : entry.seq;
        conversation.joinedAt = entry.timestamp;
      }
      this.#transaction.enterPending(pending, this.#deps.env.now());
      if (wasOutside) await acceptTreeMembers(this.#transaction);
      await this.#clearUnauthorizedAdds(pending.addedIds);
      await clearNamelessDevices(this.#transaction);
      const state = await this.#transaction.state();
      if (state !== null) this.#recordEvent(entry, changeOf(before, state, this.#transaction, hasRejoined));
      return;
    }
    if (conversation.membership === 'none') {
      // The other person's start came first. This device drops its own and joins by the Welcome.
      this.#transaction.dropPending();
      return STOP;
    }
    if (conversation.membership === 'member') {
      // An honest relay takes commits for the current epoch only, so one of an earlier epoch changes nothing.
      if (entry.epoch < conversation.epoch)
        return this.#recordEvent(entry, { kind: 'refused', code: 'wrong-epoch' });
      if ((await this.#applyOthersCommit(entry, content)) === STOP) return STOP;
    }
    if (conversation.pending !== 'none' && conversation.pendingEpoch <= entry.epoch)
      this.#transaction.dropPending();
  }

  async #applyOthersCommit(entry: LogEntryInput, content: Uint8Array | null): Promise<void | typeof STOP> {
    const { conversation, tx, account } = this.#transaction;
    const membershipPolicy = await this.#transaction.membershipPolicy();
    const state = await this.#transaction.state();
    if (state === null) return;
    const before = await this.#transaction.members();
    let processed: ProcessedCommit;
    let next: MlsGroup;
    try {
      if (content === null || entry.epoch !== conversation.epoch)
        throw new CryptoError('malformed', 'log entry');
      const { memberCheck, policy } = membershipPolicy;
      processed = membershipPolicy.run(() => processCommit(state.group, content, { memberCheck, policy }));
      next = MlsGroup.fresh(processed.group);
    } catch (error) {
      if (error instanceof IdentityChanged) {
        await offerAccountKey(tx, account, error);
        if (await this.#waitsForWord(error, state, content)) {
          this.#transaction.hold();
          return STOP;
        }
      }
      this.#transaction.fork(reasonOf(error), codeOf(error));
      this.#recordEvent(entry, { kind: 'refused', code: codeOf(error) });
      await this.#rememberUnauthorizedAdds(membershipPolicy.unauthorizedAdds);
      return;
    }
    if (processed.selfRemoved) {
      this.#transaction.leave();
      this.#transaction.dropPending();
      conversation.lastSeq = entry.seq;
      return STOP;
    }
    this.#transaction.enterEpoch(next);
    await membershipPolicy.savePins(tx, account, this.#deps.env.now());
    await this.#clearUnauthorizedAdds(
      processed.adds.map(({ credential }) => certificateOf(credential).userId),
    );
    await trackNamelessDevices(this.#transaction, processed);
    this.#recordEvent(entry, changeOf(before, next, this.#transaction, false));
  }

  /**
   * Returns whether a commit waits for the person's word on a changed account key: nothing else is wrong with it, and they
   * have not refused the key. The log is read on from there, so that none of what follows is lost.
   */
  async #waitsForWord(
    changed: IdentityChanged,
    state: MlsGroup,
    content: Uint8Array | null,
  ): Promise<boolean> {
    const { account, tx } = this.#transaction;
    const pin = await readPin(tx, account, changed.userId);
    const isNewKey = (key: Uint8Array) => equalBytes(key, changed.accountKey);
    if (content === null || pin === null || pin.offered === null || !isNewKey(pin.offered)) return false;
    if (pin.refused.some(isNewKey)) return false;
    const membershipPolicy = await this.#transaction.membershipPolicy();
    const { memberCheck, policy } = membershipPolicy;
    return membershipPolicy.passesWith(changed, () =>
      processCommit(state.group, content, { memberCheck, policy }),
    );
  }

  #recordEvent(entry: LogEntryInput, change: ConversationChange | null): void {
    if (change !== null) this.events.push(keepEvent(this.#transaction, entry, change));
  }

  /** Forgets that the rules once refused people who are now added as the rules allow. */
  async #clearUnauthorizedAdds(userIds: readonly string[]): Promise<void> {
    const group = await this.#transaction.group();
    if (group === null || !group.uninvitedIds.some((userId) => userIds.includes(userId))) return;
    const uninvitedIds = group.uninvitedIds.filter((userId) => !userIds.includes(userId));
    this.#transaction.putGroup({ ...group, uninvitedIds });
  }

  async #rememberUnauthorizedAdds(userIds: ReadonlySet<string>): Promise<void> {
    const group = await this.#transaction.group();
    if (group === null || userIds.size === 0) return;
    const uninvitedIds = [...new Set([...group.uninvitedIds, ...userIds])].slice(-limits.devicesPerStart);
    this.#transaction.putGroup({ ...group, uninvitedIds });
  }
}

/**
 * Decrypts an entry and checks its sender.
 * @throws CryptoError for any fault of the entry; the ratchet may then have moved
 */
function decryptEntry(state: MlsGroup, entry: LogEntryInput, epoch: number): string {
  const content = fromBase64Url(entry.content);
  if (content === null || entry.epoch !== epoch) throw new CryptoError('malformed', 'log entry');
  if (!state.hasDevice(entry.sender_id, entry.sender_device_id)) {
    throw new CryptoError('unknown-sender', 'a device that is not in the group');
  }
  const { plaintext, authenticatedData, sender } = decryptApplication(state.group, content);
  const { userId, deviceId } = certificateOf(sender.credential);
  if (userId !== entry.sender_id || deviceId !== entry.sender_device_id) {
    throw new CryptoError('policy', 'the relay names another sender');
  }
  // A ciphertext that has another id in the log was copied there from its own entry.
  if (!equalBytes(authenticatedData, encoder.encode(entry.id))) {
    throw new CryptoError('malformed', 'message id');
  }
  const payload = payloadText(plaintext);
  if (payload === null) throw new CryptoError('malformed', 'payload');
  return payload;
}

/**
 * Returns the reason that is shown for a refused entry. Its bytes may be a stranger's, so even an unforeseen
 * error counts as a damaged entry and doesn't stop those after it.
 */
function reasonOf(error: unknown): ForkReason {
  if (error instanceof CryptoApiError && error.code === 'identity-changed') return 'unknown-device';
  return error instanceof CryptoError ? reasonOfCode[error.code] : 'damaged';
}

/** Returns the code that the details show; `internal` for an unforeseen error. */
function codeOf(error: unknown): CryptoApiErrorCode {
  return error instanceof CryptoError || error instanceof CryptoApiError ? error.code : 'internal';
}

function received(entry: LogEntryInput, payload: string): MessageRecord {
  return {
    senderId: entry.sender_id,
    senderDeviceId: entry.sender_device_id,
    timestamp: entry.timestamp,
    own: false,
    payload,
    reason: null,
  };
}

function refusal(entry: LogEntryInput, reason: UndecryptableReason, own = false): MessageRecord {
  return { ...received(entry, ''), payload: null, reason, own };
}

/**
 * Drops repetitions of entries that were delivered twice.
 * @throws CryptoApiError `usage` for entries out of order
 */
function ascending(entries: readonly LogEntryInput[]): LogEntryInput[] {
  return entries.filter(({ seq }, i) => {
    const before = entries[i - 1];
    if (before !== undefined && seq < before.seq) throw new CryptoApiError('usage', 'entries out of order');
    return before === undefined || seq > before.seq;
  });
}

/**
 * Checks that no entry is missing.
 * @throws CryptoApiError `gap`, whose detail is the position that is missing
 */
function checkContiguous(entries: readonly LogEntryInput[], first: number): void {
  for (const [i, { seq }] of entries.entries()) {
    if (seq !== first + i) throw new CryptoApiError('gap', String(first + i));
  }
}
