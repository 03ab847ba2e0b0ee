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
import { CryptoApiError } from '../api/errors.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import { type ConversationStep, inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { changeOf, forgetOldestEvents, keepEvent } from '../conversation/events.ts';
import { believeTree, followName, nameBrought } from '../conversation/groupRecord.ts';
import { GroupState } from '../conversation/mlsGroup.ts';
import { payloadText } from '../conversation/payload.ts';
import { messageView, openMessage, openOutbox } from '../conversation/views.ts';
import { certificateOf } from '../identity/certificates.ts';
import { IdentityChanged, offerAccountKey } from '../identity/pins.ts';
import type { Session } from '../session/session.ts';
import type { ForkReason, MessageRecord } from '../storage/records.ts';
import { reasonOfCode } from './undecryptableReasons.ts';

const encoder = new TextEncoder();

export function createLog(deps: StepDeps, session: Session): Pick<CryptoApi, 'processEntries'> {
  return {
    async processEntries(id, input) {
      const conversationId = check('processEntries', ConversationId, id);
      const entries = check('processEntries', LogEntries, input);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const reader = new LogReader(step, deps);
        const messages = await reader.read(entries);
        if (reader.events.length > 0) await forgetOldestEvents(step);
        return { messages, events: reader.events, state: await step.finish() };
      });
    },
  };
}

/** What stops the reading: the rest of the log is not for this device, as long as it stays outside. */
const STOP = Symbol('stop');

class LogReader {
  /** What happened beside messages in the entries that were new. */
  readonly events: ConversationEvent[] = [];
  readonly #step: ConversationStep;
  readonly #deps: StepDeps;

  constructor(step: ConversationStep, deps: StepDeps) {
    this.#step = step;
    this.#deps = deps;
  }

  async read(given: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { head } = this.#step;
    const entries = ascending(given);
    const firstNew = entries.findIndex(({ seq }) => seq > head.lastSeq);
    const known = firstNew < 0 ? entries : entries.slice(0, firstNew);
    const fresh = firstNew < 0 ? [] : entries.slice(firstNew);
    const views = await this.#recall(known);
    if (fresh.length > 0) views.push(...(await this.#readFresh(fresh)));
    return views;
  }

  /** Entries processed before: from the cache, and what is in it no more has a reason instead. */
  async #recall(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversationId, head, person, tx } = this.#step;
    // A Welcome doesn't say when it let this device in; the commit that it came with does.
    const joining = entries.find(({ seq }) => seq === head.joinedSeq);
    head.joinedAt ??= (joining && (head.joinedBefore ?? joining.timestamp)) ?? null;
    if (head.returning && joining !== undefined) {
      head.returning = false;
      head.joinedBefore = null;
      this.#tell(joining, { kind: 'returned' });
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
          openMessage(person, conversationId, entry.seq, row),
        );
      }
      const reason = entry.seq <= head.joinedSeq ? 'before-join' : 'storage-erased';
      return this.#view(entry, refusal(entry, reason, entry.sender_device_id === person.device.deviceId));
    });
  }

  async #readFresh(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { head } = this.#step;
    if (head.membership === 'none' && head.pending !== 'start') {
      const joined = head.pending === 'external' ? await this.#findOwnJoin(entries) : -1;
      if (joined < 0) return [];
      checkContiguous(entries, entries[0]?.seq ?? 0);
      return this.#readFromJoin(entries, joined);
    }
    checkContiguous(entries, head.lastSeq + 1);
    return this.#readAll(entries);
  }

  async #findOwnJoin(entries: readonly LogEntryInput[]): Promise<number> {
    const pending = await this.#step.pending();
    if (pending === null) return -1;
    const commit = toBase64Url(pending.commit);
    return entries.findIndex(({ kind, content }) => kind === 'commit' && content === commit);
  }

  async #readFromJoin(entries: readonly LogEntryInput[], joined: number): Promise<MessageView[]> {
    const before = entries
      .slice(0, joined)
      .filter(({ kind }) => kind === 'application')
      .map((entry) => this.#view(entry, refusal(entry, 'before-join')));
    return [...before, ...(await this.#readAll(entries.slice(joined)))];
  }

  async #readAll(entries: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { head } = this.#step;
    const views: MessageView[] = [];
    for (const entry of entries) {
      if (entry.kind === 'application') {
        const record = await this.#message(entry);
        this.#keep(entry, record);
        views.push(this.#view(entry, record));
      } else if ((await this.#commit(entry)) === STOP) {
        return views;
      }
      head.lastSeq = entry.seq;
    }
    return views;
  }

  #keep(entry: LogEntryInput, record: MessageRecord): void {
    const { head, person } = this.#step;
    this.#step.putMessage(entry.seq, entry.id, record);
    if (entry.sender_id !== person.userId && entry.seq > head.readSeq) {
      head.unread = Math.min(head.unread + 1, limits.unread);
    }
  }

  #view(entry: LogEntryInput, record: MessageRecord): MessageView {
    return messageView(this.#step.conversationId, entry.seq, entry.id, record);
  }

  // Application entries.

  async #message(entry: LogEntryInput): Promise<MessageRecord> {
    const { head, person } = this.#step;
    if (entry.sender_device_id === person.device.deviceId) {
      return entry.sender_id === person.userId ? this.#ownMessage(entry) : refusal(entry, 'rules');
    }
    const state = head.membership === 'member' ? await this.#step.state() : null;
    if (state === null) return refusal(entry, head.membership === 'none' ? 'before-join' : head.forkReason);
    try {
      const record = received(entry, decryptEntry(state, entry, head.epoch));
      state.accept();
      return record;
    } catch (error) {
      state.revert();
      const reason = reasonOf(error);
      if (reason === 'storage-erased') this.#step.fork(reason);
      return refusal(entry, reason);
    }
  }

  /** MLS gives no device the key of its own message: the plaintext is the one that waited in the outbox. */
  async #ownMessage(entry: LogEntryInput): Promise<MessageRecord> {
    const { conversationId, person, tx } = this.#step;
    const row = await tx.objectStore('outbox').get(entry.id);
    if (row === undefined || row.conversationId !== conversationId) {
      const seen = await tx.objectStore('messages').index('messageId').getKey(entry.id);
      return refusal(entry, seen === undefined ? 'storage-erased' : 'damaged', true);
    }
    const { ciphertext, payload } = openOutbox(person, entry.id, row);
    await tx.objectStore('outbox').delete(entry.id);
    const unaltered = ciphertext !== null && toBase64Url(ciphertext) === entry.content;
    return unaltered ? { ...received(entry, payload), own: true } : refusal(entry, 'damaged', true);
  }

  // Commits.

  async #commit(entry: LogEntryInput): Promise<void | typeof STOP> {
    const { head } = this.#step;
    const content = fromBase64Url(entry.content);
    const pending = await this.#step.pending();
    if (pending !== null && content !== null && equalBytes(pending.commit, content)) {
      const wasOutside = head.membership !== 'member';
      const hasLostPlace = head.membership === 'forked';
      const before = await this.#step.members();
      if (head.membership === 'none') {
        head.joinedSeq = head.pending === 'start' ? 0 : entry.seq;
        head.joinedAt = entry.timestamp;
      }
      this.#step.enterPending(pending, this.#deps.env.now());
      if (wasOutside) await believeTree(this.#step);
      await this.#welcomed(pending.addedIds);
      await nameBrought(this.#step);
      const state = await this.#step.state();
      if (state !== null) this.#tell(entry, changeOf(before, state, this.#step, hasLostPlace));
      return;
    }
    if (head.membership === 'none') {
      // The other one's start took the place of this one's: that is joined by its Welcome.
      this.#step.dropPending();
      return STOP;
    }
    if (head.membership === 'member') {
      // The relay takes a commit for the current epoch only; what claims an earlier one changes nothing.
      if (entry.epoch < head.epoch) return this.#tell(entry, { kind: 'refused', code: 'wrong-epoch' });
      if ((await this.#othersCommit(entry, content)) === STOP) return STOP;
    }
    if (head.pending !== 'none' && head.pendingEpoch <= entry.epoch) this.#step.dropPending();
  }

  async #othersCommit(entry: LogEntryInput, content: Uint8Array | null): Promise<void | typeof STOP> {
    const { head, tx, person } = this.#step;
    const membership = await this.#step.membership();
    const state = await this.#step.state();
    if (state === null) return;
    const before = await this.#step.members();
    let processed: ProcessedCommit;
    let next: GroupState;
    try {
      if (content === null || entry.epoch !== head.epoch) throw new CryptoError('malformed', 'log entry');
      const { memberCheck, policy } = membership;
      processed = membership.run(() => processCommit(state.group, content, { memberCheck, policy }));
      next = GroupState.fresh(processed.group);
    } catch (error) {
      if (error instanceof IdentityChanged) await offerAccountKey(tx, person, error);
      this.#step.fork(reasonOf(error), codeOf(error));
      this.#tell(entry, { kind: 'refused', code: codeOf(error) });
      await this.#rememberUninvited(membership.uninvited);
      return;
    }
    if (processed.selfRemoved) {
      this.#step.leave();
      this.#step.dropPending();
      head.lastSeq = entry.seq;
      return STOP;
    }
    this.#step.enterEpoch(next);
    await membership.savePins(tx, person, this.#deps.env.now());
    await this.#welcomed(processed.adds.map(({ credential }) => certificateOf(credential).userId));
    await followName(this.#step, processed);
    this.#tell(entry, changeOf(before, next, this.#step, false));
  }

  #tell(entry: LogEntryInput, change: ConversationChange | null): void {
    if (change !== null) this.events.push(keepEvent(this.#step, entry, change));
  }

  /** Whoever was refused once and is now added as the rules want it is a member like any other. */
  async #welcomed(userIds: readonly string[]): Promise<void> {
    const group = await this.#step.group();
    if (group === null || !group.uninvitedIds.some((userId) => userIds.includes(userId))) return;
    const uninvitedIds = group.uninvitedIds.filter((userId) => !userIds.includes(userId));
    this.#step.putGroup({ ...group, uninvitedIds });
  }

  async #rememberUninvited(userIds: ReadonlySet<string>): Promise<void> {
    const group = await this.#step.group();
    if (group === null || userIds.size === 0) return;
    const uninvitedIds = [...new Set([...group.uninvitedIds, ...userIds])].slice(-limits.devicesPerStart);
    this.#step.putGroup({ ...group, uninvitedIds });
  }
}

/** @throws CryptoError for whatever is wrong with it; the ratchet may then have moved */
function decryptEntry(state: GroupState, entry: LogEntryInput, epoch: number): string {
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
  // A ciphertext that stands under another id in the log is a copy.
  if (!equalBytes(authenticatedData, encoder.encode(entry.id))) {
    throw new CryptoError('malformed', 'message id');
  }
  const payload = payloadText(plaintext);
  if (payload === null) throw new CryptoError('malformed', 'payload');
  return payload;
}

/**
 * What an entry was refused for. Its bytes are a stranger's, so an error that nobody foresaw is the entry's doing as
 * well: it must not stop the ones after it.
 */
function reasonOf(error: unknown): ForkReason {
  if (error instanceof CryptoApiError && error.code === 'identity-changed') return 'unknown-device';
  return error instanceof CryptoError ? reasonOfCode[error.code] : 'damaged';
}

/** For those who look closer; an unforeseen error has no code. */
function codeOf(error: unknown): string {
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

/** An entry that was delivered twice counts once. @throws CryptoApiError `usage` for entries out of order */
function ascending(entries: readonly LogEntryInput[]): LogEntryInput[] {
  return entries.filter(({ seq }, i) => {
    const before = entries[i - 1];
    if (before !== undefined && seq < before.seq) throw new CryptoApiError('usage', 'entries out of order');
    return before === undefined || seq > before.seq;
  });
}

/** @throws CryptoApiError `gap`, whose detail is the sequence number that is missing */
function checkContiguous(entries: readonly LogEntryInput[], first: number): void {
  for (const [i, { seq }] of entries.entries()) {
    if (seq !== first + i) throw new CryptoApiError('gap', String(first + i));
  }
}
