/** Processing a conversation's log, in order (PROTOCOL section 4). */
import { CryptoError, equalBytes, type ProcessedCommit, processCommit } from '@sinetti/crypto-core';
import type { ChainHeader } from '@sinetti/crypto-core/content';
import { ConversationId, check, LogEntries, Retention } from '../api/arguments.ts';
import type { ConversationEvent, CryptoApi, LogEntryInput, MessageView, OwnState } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import type { SignedPosition } from '../conversation/chainRecord.ts';
import type { Claim } from '../conversation/chainRows.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import {
  changeOf,
  forgetOldestEvents,
  hasEvent,
  type KeptChange,
  keepEvent,
  recordDifference,
} from '../conversation/events.ts';
import {
  acceptTreeMembers,
  clearNamelessDevices,
  clearUnauthorizedAdds,
  rememberUnauthorizedAdds,
  rememberWithoutDevice,
  trackNamelessDevices,
  trustCreator,
} from '../conversation/groupRecord.ts';
import { digestOf } from '../conversation/logChain.ts';
import type { MessageKeeper, Seen } from '../conversation/messageKeeper.ts';
import { isShown, type KnownMessage, messageView } from '../conversation/messageView.ts';
import type { MessageViews } from '../conversation/messageViews.ts';
import { MlsGroup } from '../conversation/mlsGroup.ts';
import { rememberRemoved } from '../conversation/removedDevices.ts';
import { IdentityChanged, offerAccountKey, readPin } from '../identity/pins.ts';
import { putCopied } from '../session/place.ts';
import type { Session } from '../session/session.ts';
import type { MessageRecord, PendingRecord } from '../storage/records.ts';
import { ascending, checkContiguous, checksOf, codeOf, isEmptied, reasonOf, refusal } from './logEntries.ts';
import { hasContent, isFromElsewhere, Missed, missedAmong } from './missed.ts';
import { takeOwnMessage } from './ownMessages.ts';
import { mergeOwnStates } from './ownStateMessage.ts';
import { failUnstored } from './queue.ts';
import { readMessage } from './readMessage.ts';
import { startSaying } from './sharedKeysMessage.ts';

export function createLogProcessing(deps: TransactionDeps, session: Session) {
  return {
    async processEntries(id, input, rules) {
      const conversationId = check('processEntries', ConversationId, id);
      const entries = check('processEntries', LogEntries, input);
      const retention = check('processEntries', Retention, rules);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const missed = new Missed(transaction, retention, deps.env.now());
        const processor = new LogProcessor(transaction, deps, missed);
        const messages = [
          ...(await processor.process(entries)),
          ...(await failUnstored(transaction, processor.views)),
        ];
        if (processor.events.length > 0) await forgetOldestEvents(transaction);
        const shown = messages.filter((message) => isShown(account, message));
        const state = await transaction.finish();
        const { events, isCopied, told } = processor;
        return {
          messages: shown,
          events,
          state,
          ...(told.length > 0 ? { ownState: mergeOwnStates(told) } : {}),
          ...(isCopied ? { isCopied: true } : {}),
        };
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** The result of a commit after which this device is outside, so that it leaves the rest of the log alone. */
const STOP = Symbol('stop');

/** Processes a batch of entries inside one conversation transaction. */
class LogProcessor {
  /** The events of the entries that were new. */
  readonly events: ConversationEvent[] = [];
  /** News of other own devices, in the order of the log. */
  readonly told: OwnState[] = [];
  /** An entry is from this device's leaf, and none that this device has sent. */
  isCopied = false;
  readonly #keeper: MessageKeeper;
  readonly #transaction: ConversationTransaction;
  readonly #deps: TransactionDeps;
  readonly #missed: Missed;

  constructor(transaction: ConversationTransaction, deps: TransactionDeps, missed: Missed) {
    this.#missed = missed;
    this.#transaction = transaction;
    this.#deps = deps;
    this.#keeper = transaction.keeper();
  }

  get views(): MessageViews {
    return this.#keeper.views;
  }

  /** Processes entries, and returns their messages and those that they change as they are after all of them. */
  async process(given: readonly LogEntryInput[]): Promise<MessageView[]> {
    const { conversation } = this.#transaction;
    if (conversation.withoutIds > 0) await this.#keeper.giveIds(conversation, limits.idsPerTransaction);
    const entries = ascending(given);
    const firstNew = entries.findIndex(({ seq }) => seq > conversation.lastSeq);
    const known = firstNew < 0 ? entries : entries.slice(0, firstNew);
    const fresh = firstNew < 0 ? [] : entries.slice(firstNew);
    const seen = await this.#seeProcessed(known);
    await this.#link(known);
    // New entries would be compared with nothing.
    if (fresh.length > 0 && conversation.linkFrom !== null)
      throw new CryptoApiError('gap', String(conversation.linkFrom + 1));
    if (fresh.length > 0) seen.push(...(await this.#processNew(fresh)));
    this.events.push(...(await this.#missed.keep()));
    return this.#keeper.viewsOf(seen);
  }

  /** Answers entries that were processed before from the message cache, or with a reason where it lacks them. */
  async #seeProcessed(entries: readonly LogEntryInput[]): Promise<Seen[]> {
    const { conversationId, conversation, account, tx } = this.#transaction;
    // A Welcome doesn't say when it let this device in, but the entry of its commit does.
    const joining = entries.find(({ seq }) => seq === conversation.joinedSeq);
    conversation.joinedAt ??= (joining && (conversation.joinedBefore ?? joining.timestamp)) ?? null;
    if (conversation.returning && joining !== undefined) {
      conversation.returning = false;
      conversation.joinedBefore = null;
      // An event here says more: the device was shown another log than before.
      if (!(await hasEvent(this.#transaction, joining.seq))) this.#recordEvent(joining, { kind: 'returned' });
    }
    for (const entry of entries) await this.#checkRepeated(entry);
    const messages = entries.filter(({ kind }) => kind === 'application');
    const rows = await Promise.all(
      messages.map(({ seq }) => tx.objectStore('messages').get([conversationId, seq])),
    );
    const lacking = messages.filter(({ seq }, i) => rows[i] === undefined && seq > conversation.joinedSeq);
    const missed = await missedAmong(
      this.#transaction,
      lacking.map(({ seq }) => seq),
    );
    return messages.flatMap((entry, i) => {
      if (missed.has(entry.seq)) return [];
      const row = rows[i];
      if (row !== undefined) return { logged: this.#keeper.views.open(entry.seq, row) };
      const reason = entry.seq <= conversation.joinedSeq ? 'before-join' : 'storage-erased';
      return this.#viewOf(entry, refusal(entry, reason, entry.sender_device_id === account.device.deviceId));
    });
  }

  /** Finds an entry that the relay gave otherwise before; the finding stays the first one at that position. */
  async #checkRepeated(entry: LogEntryInput): Promise<void> {
    if (!(await this.#transaction.chain.isContradicted(entry))) return;
    if (!(await hasEvent(this.#transaction, entry.seq))) this.#recordEvent(entry, { kind: 'diverged' });
  }

  async #processNew(entries: readonly LogEntryInput[]): Promise<Seen[]> {
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

  async #link(entries: readonly LogEntryInput[]): Promise<void> {
    const { chain, conversation, conversationId } = this.#transaction;
    if (conversation.linkFrom === null) return;
    const digests = new Map(entries.map((entry) => [entry.seq, digestOf(conversationId, entry)]));
    const event = await recordDifference(
      this.#transaction,
      await chain.linking.link(digests),
      this.#deps.env,
    );
    if (event !== null) this.events.push(event);
  }

  /** Reads the commit that takes this device out as the last of its log. */
  async #leaveLog(entry: LogEntryInput): Promise<void> {
    const { chain, conversation } = this.#transaction;
    chain.append(entry, null);
    conversation.lastSeq = entry.seq;
    await chain.linking.leave();
  }

  async #indexOfOwnJoin(entries: readonly LogEntryInput[]): Promise<number> {
    const pending = await this.#transaction.pending();
    if (pending === null) return -1;
    const { conversationId } = this.#transaction;
    return entries.findIndex(
      (entry) => entry.kind === 'commit' && hasContent(conversationId, entry, pending.commit),
    );
  }

  async #processFromJoin(entries: readonly LogEntryInput[], joined: number): Promise<Seen[]> {
    const { conversation } = this.#transaction;
    const before = entries
      .slice(0, joined)
      .filter(({ kind }) => kind === 'application')
      .map((entry) => this.#viewOf(entry, refusal(entry, 'before-join')));
    const seen = await this.#processAll(entries.slice(joined, joined + 1));
    await this.#link(entries.slice(0, joined));
    if (conversation.linkFrom !== null) return [...before, ...seen];
    return [...before, ...seen, ...(await this.#processAll(entries.slice(joined + 1)))];
  }

  async #processAll(entries: readonly LogEntryInput[]): Promise<Seen[]> {
    const { chain, conversation } = this.#transaction;
    const seen: Seen[] = [];
    for (const entry of entries) {
      let claim: Claim | null = null;
      const { epoch } = conversation;
      if (entry.kind === 'application' && (await this.#missed.takes(entry))) {
        // Its place and its digest count all the same.
        if (await isFromElsewhere(this.#transaction, entry)) await this.#findCopied();
      } else if (entry.kind === 'application') {
        const { header, isCopied, record } = await readMessage(this.#transaction, entry);
        if (isCopied) await this.#findCopied();
        if (header !== null) claim = await this.#compare(entry, header);
        const { kept, told } = this.#transaction.isSelf
          ? await takeOwnMessage(this.#transaction, entry.seq, record)
          : { kept: record, told: null };
        if (told !== null) this.told.push(told);
        if (kept !== null) {
          const shown = await this.#storeMessage(entry, kept);
          if (shown !== null) seen.push(shown);
        }
      } else if ((await this.#applyCommit(entry)) === STOP) {
        return seen;
      }
      if (entry.kind === 'commit') await this.#missed.passes(entry);
      if (entry.seq === 1 && conversation.linkFrom === null) chain.begin();
      chain.append(entry, claim);
      conversation.lastSeq = entry.seq;
      if (conversation.epoch !== epoch && conversation.membership === 'member')
        await chain.startEpoch(entry.seq);
    }
    return seen;
  }

  /** Compares what the sender had read with what this device has, and keeps what is found where the message is. */
  async #compare(entry: LogEntryInput, header: ChainHeader): Promise<Claim | null> {
    const { claim, finding } = await this.#transaction.chain.compare(entry, header);
    this.#recordEvent(entry, finding);
    return claim;
  }

  /** Notes that this device's data is in another place, where it is used (PROTOCOL section 3). */
  async #findCopied(): Promise<void> {
    const { account, tx } = this.#transaction;
    this.isCopied = true;
    await putCopied(tx, account, this.#deps.env.random(16));
  }

  async #storeMessage(entry: LogEntryInput, record: MessageRecord): Promise<KnownMessage | null> {
    const { conversation, account } = this.#transaction;
    const shown = await this.#keeper.keep(entry.seq, entry.id, record, conversation);
    const isNew = shown !== null && 'logged' in shown && shown.logged.seq === entry.seq;
    const isOthers = entry.sender_id !== account.userId && !this.#transaction.isSelf;
    if (isNew && isOthers && entry.seq > conversation.readSeq) {
      conversation.unread = Math.min(conversation.unread + 1, limits.unread);
    }
    return shown;
  }

  #viewOf(entry: LogEntryInput, record: MessageRecord): MessageView {
    return messageView(this.#transaction.conversationId, entry.seq, entry.id, record);
  }

  async #applyCommit(entry: LogEntryInput): Promise<void | typeof STOP> {
    const { conversation } = this.#transaction;
    const content = fromBase64Url(entry.content);
    const pending = await this.#transaction.pending();
    if (pending !== null && hasContent(this.#transaction.conversationId, entry, pending.commit)) {
      const wasOutside = conversation.membership !== 'member';
      const hasRejoined = conversation.membership === 'forked';
      const before = { ...conversation, members: await this.#transaction.members() };
      const group = await this.#transaction.group();
      await startSaying(this.#transaction);
      if (conversation.membership === 'none') {
        conversation.joinedSeq = conversation.pending === 'start' ? 0 : entry.seq;
        conversation.joinedAt = entry.timestamp;
      }
      if (conversation.membership === 'none' && conversation.pending === 'external')
        await this.#transaction.chain.linking.join(signedPosition(pending), entry.seq);
      this.#transaction.enterPending(pending, this.#deps.env.now());
      const state = await this.#transaction.state();
      if (state !== null && wasOutside) await acceptTreeMembers(this.#transaction, before.members, state);
      await clearUnauthorizedAdds(this.#transaction, pending.addedIds);
      await clearNamelessDevices(this.#transaction);
      if (state === null) return;
      await rememberRemoved(this.#transaction, before.members, state);
      await rememberWithoutDevice(this.#transaction, { ...before, group }, state, null);
      this.#recordEvent(entry, changeOf(before, state, this.#transaction, hasRejoined));
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
      // Nothing is wrong, but its change is unknown for good: this device comes back by a commit of its own.
      if (isEmptied(entry)) {
        this.#transaction.fork('expired');
        if (await isFromElsewhere(this.#transaction, entry)) await this.#findCopied();
      } else if ((await this.#applyOthersCommit(entry, content)) === STOP) return STOP;
    }
    if (conversation.pending !== 'none' && conversation.pendingEpoch <= entry.epoch)
      this.#transaction.dropPending();
  }

  async #applyOthersCommit(entry: LogEntryInput, content: Uint8Array | null): Promise<void | typeof STOP> {
    const { conversation, tx, account } = this.#transaction;
    const membershipPolicy = await this.#transaction.membershipPolicy();
    const state = await this.#transaction.state();
    if (state === null) return;
    const before = { ...conversation, members: await this.#transaction.members() };
    const group = await this.#transaction.group();
    const checks = checksOf(entry, membershipPolicy);
    let processed: ProcessedCommit;
    let next: MlsGroup;
    try {
      if (content === null || entry.epoch !== conversation.epoch)
        throw new CryptoError('malformed', 'log entry');
      processed = membershipPolicy.run(() => processCommit(state.group, content, checks));
      next = MlsGroup.fresh(processed.group);
    } catch (error) {
      if (error instanceof IdentityChanged) {
        const isElseFine =
          content !== null &&
          membershipPolicy.passesWith(error, () => processCommit(state.group, content, checks));
        // The person isn't asked about a key in a commit that is wrong anyway.
        if (isElseFine) {
          await offerAccountKey(tx, account, error);
          if (await this.#waitsForWord(error)) {
            this.#transaction.hold();
            return STOP;
          }
        }
      }
      const isOwn = entry.sender_device_id === account.device.deviceId && codeOf(error) === 'own-message';
      this.#transaction.fork(reasonOf(error), codeOf(error));
      // Tells the person of a copy, not of a wrong commit, if it is by this device's leaf in another place.
      if (isOwn) await this.#findCopied();
      else this.#recordEvent(entry, { kind: 'refused', code: codeOf(error) });
      await rememberUnauthorizedAdds(this.#transaction, membershipPolicy.unauthorizedAdds);
      return;
    }
    if (processed.selfRemoved) {
      await this.#leaveLog(entry);
      this.#transaction.leave();
      this.#transaction.dropPending();
      return STOP;
    }
    this.#transaction.enterEpoch(next);
    await membershipPolicy.savePins(tx, account, this.#deps.env.now());
    await trustCreator(this.#transaction, processed);
    await trackNamelessDevices(this.#transaction, processed);
    await rememberRemoved(this.#transaction, before.members, next);
    const { authenticatedData } = processed;
    await rememberWithoutDevice(this.#transaction, { ...before, group }, next, authenticatedData);
    this.#recordEvent(entry, changeOf(before, next, this.#transaction, false));
  }

  /**
   * Returns whether a commit with which nothing else is wrong waits for the person's word on a changed account key: they
   * have not refused it. The log is read on from there, so that none of what follows is lost.
   */
  async #waitsForWord(changed: IdentityChanged): Promise<boolean> {
    const { account, tx } = this.#transaction;
    const pin = await readPin(tx, account, changed.userId);
    const isNewKey = (key: Uint8Array) => equalBytes(key, changed.accountKey);
    if (pin === null || pin.offered === null || !isNewKey(pin.offered)) return false;
    return !pin.refused.some(isNewKey);
  }

  #recordEvent(entry: LogEntryInput, change: KeptChange | null): void {
    if (change === null) return;
    this.events.push(keepEvent(this.#transaction, entry, change));
  }
}

function signedPosition({ logPosition, logSigner }: PendingRecord): SignedPosition | null {
  return logPosition === null || logSigner === null ? null : { ...logPosition, signer: logSigner };
}
