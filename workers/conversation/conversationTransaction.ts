/** The conversation transaction: lock, read, change, write, all or nothing (PROTOCOL section 5). */
import { CryptoError, type Env, type Group, saveEpoch, wipe } from '@sinetti/crypto-core';
import type { ConversationState } from '../api/cryptoApi.ts';
import { CryptoApiError, type CryptoApiErrorCode } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import { writeOrOfferKey } from '../identity/pins.ts';
import { conversationLock } from '../session/locks.ts';
import type { AccountOnDevice, SessionDeps } from '../session/session.ts';
import { type WriteTransaction, withinConversation } from '../storage/db.ts';
import {
  type ConversationRecord,
  type ForkReason,
  GroupRecord,
  MembersRecord,
  PendingRecord,
  readConversation,
  type Submission,
} from '../storage/records.ts';
import { sealingKey } from '../storage/sealer.ts';
import { parseConversationId, selfConversationId } from './conversationId.ts';
import { treeOf, validStatements } from './leaveStatements.ts';
import { LogChain } from './logChain.ts';
import { MembershipPolicy } from './membershipPolicy.ts';
import { MessageKeeper } from './messageKeeper.ts';
import { type CachedGroup, cacheGroup, MlsGroup, type RatchetLookup, takeCachedGroup } from './mlsGroup.ts';
import { forgetDiscarded } from './outboxRows.ts';
import { agreedIn } from './rules/agreed.ts';
import type { TransactionScope } from './transactionScope.ts';
import { conversationState } from './views.ts';

export type TransactionDeps = Pick<SessionDeps, 'env' | 'locks'>;

/**
 * Runs `body` in one transaction of one conversation, under its lock [Note: one ratchet step at a time]. The
 * cached group is taken out first and put back only after the browser has committed, so that after any
 * failure it is loaded again from storage.
 * @param durability `strict` when the transaction uses up a sending key
 */
export async function inTransaction<T>(
  account: AccountOnDevice,
  deps: TransactionDeps,
  conversationId: string,
  durability: 'strict' | 'relaxed',
  body: (transaction: ConversationTransaction) => Promise<T>,
): Promise<T> {
  return deps.locks.request(conversationLock(account.userId, conversationId), async () => {
    const cached = takeCachedGroup(account, conversationId);
    const begun: ConversationTransaction[] = [];
    try {
      const { result, keep } = await writeOrOfferKey(account, durability, async (tx) => {
        const conversation = await readConversation(tx, account.sealer, conversationId);
        const transaction = new ConversationTransaction(
          account,
          tx,
          conversationId,
          conversation,
          cached,
          deps.env,
        );
        begun.push(transaction);
        const result = await body(transaction);
        return { result, keep: await transaction.save() };
      });
      if (keep?.state !== cached?.state) cached?.state.end();
      if (keep !== null) cacheGroup(account, conversationId, keep);
      return result;
    } catch (error) {
      for (const transaction of begun) transaction.endState();
      cached?.state.end();
      throw error;
    }
  });
}

export class ConversationTransaction implements TransactionScope {
  readonly account: AccountOnDevice;
  readonly tx: WriteTransaction;
  readonly conversationId: string;
  /** Changed in place; stored by {@link save}. */
  readonly conversation: ConversationRecord;
  readonly chain: LogChain = new LogChain(this);
  #state: MlsGroup | null;
  readonly #cached: CachedGroup | null;
  readonly #env: Env;
  #group: GroupRecord | null | undefined;
  #isNewEpoch = false;
  #isGone = false;
  #membershipPolicy: MembershipPolicy | null = null;
  /** Resolves when all has been asked for that is to be written. */
  #asked: Promise<void> = Promise.resolve();
  #saved: Promise<CachedGroup | null> | null = null;
  readonly #writes: Promise<unknown>[] = [];

  constructor(
    account: AccountOnDevice,
    tx: WriteTransaction,
    conversationId: string,
    conversation: ConversationRecord,
    cached: CachedGroup | null,
    env: Env,
  ) {
    this.account = account;
    this.tx = tx;
    this.conversationId = conversationId;
    this.conversation = conversation;
    this.#cached = cached;
    this.#env = env;
    this.#state = cached?.version === conversation.version ? cached.state : null;
  }

  /** Loads the group of a member. Null when its records can't be read back, which makes this device fork. */
  async state(): Promise<MlsGroup | null> {
    try {
      this.#state ??= await this.#load();
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
      this.fork('storage-erased');
    }
    return this.#state;
  }

  /** Returns the members of the tree as this device last knew it; null for a device that is outside. */
  async members(): Promise<MembersRecord | null> {
    if (this.conversation.membership === 'none') return null;
    if (this.#state !== null) return this.#state.members();
    const sealed = await this.tx.objectStore('members').get(this.conversationId);
    return sealed === undefined
      ? null
      : this.account.sealer.open('members', this.conversationId, sealed, MembersRecord);
  }

  /** Marks that this device can't follow the others any more, until it rejoins. */
  fork(reason: ForkReason, refusal: CryptoApiErrorCode | null = null): void {
    // The rejoin compares its tree with these members.
    if (this.#state !== null && this.#isNewEpoch) this.#putMembers(this.#state);
    this.endState();
    this.conversation.membership = 'forked';
    this.conversation.forkReason = reason;
    this.conversation.refusal = refusal;
  }

  /** Marks that the log is read no further before the person has judged a changed account key. */
  hold(): void {
    this.conversation.refusal = 'identity-changed';
  }

  async membershipPolicy(): Promise<MembershipPolicy> {
    const { account, conversationId, tx } = this;
    this.#membershipPolicy ??= await MembershipPolicy.load(tx, account, conversationId, await this.group());
    return this.#membershipPolicy;
  }

  get isGroup(): boolean {
    return parseConversationId(this.conversationId, this.account.userId).kind === 'group';
  }

  /** It is the conversation of this person's own devices. */
  get isSelf(): boolean {
    return this.conversationId === selfConversationId(this.account.userId);
  }

  /**
   * Reads the record of a group; null for a direct conversation, and for a group that this device was never
   * in.
   */
  async group(): Promise<GroupRecord | null> {
    if (this.#group === undefined) {
      const { conversationId, account, tx } = this;
      const sealed = this.isGroup ? await tx.objectStore('groups').get(conversationId) : undefined;
      this.#group =
        sealed === undefined ? null : account.sealer.open('groups', conversationId, sealed, GroupRecord);
    }
    return this.#group;
  }

  putGroup(record: GroupRecord): void {
    this.#group = record;
    const sealed = this.account.sealer.seal('groups', this.conversationId, record);
    this.queueWrite(this.tx.objectStore('groups').put(sealed, this.conversationId));
  }

  /** Wipes the epoch that this device leaves, or that a failed transaction has in memory. */
  endState(): void {
    this.#state?.end();
    this.#state = null;
  }

  /** Enters a new epoch, which deletes the keys of the one before. */
  enterEpoch(state: MlsGroup): void {
    this.endState();
    this.#state = state;
    this.#isNewEpoch = true;
    this.#isGone = false;
    this.conversation.membership = 'member';
    this.conversation.refusal = null;
    this.conversation.epoch = state.epoch;
    Object.assign(this.conversation, agreedIn(state.group.context.extensions));
    this.queueWrite(forgetDiscarded(this));
  }

  /** Leaves the group after this device was removed: its keys are deleted, its messages stay. */
  leave(): void {
    this.endState();
    this.#isNewEpoch = false;
    this.#isGone = true;
    this.conversation.membership = 'none';
  }

  async pending(): Promise<PendingRecord | null> {
    if (this.conversation.pending === 'none') return null;
    const sealed = await this.tx.objectStore('pending').get(this.conversationId);
    return sealed === undefined
      ? null
      : this.account.sealer.open('pending', this.conversationId, sealed, PendingRecord);
  }

  /**
   * Keeps an own commit until the log shows it, or another in its place. Its group is in the record from then on, and
   * ended in memory.
   * @throws CryptoApiError `usage` for one that the relay wouldn't take: too many devices at once
   */
  setPending(
    kind: 'start' | 'member' | 'external',
    epoch: number,
    group: Group,
    submission: Submission,
  ): void {
    const { commit, groupInfo, tree, welcome, welcomeParts } = submission;
    if (
      commit.length > limits.commit ||
      Math.max(welcome?.length ?? 0, ...welcomeParts.map((part) => part.welcome.length)) > limits.welcome ||
      (tree?.parts.length ?? 0) > limits.treeCalls ||
      groupInfo.length > limits.groupInfo
    ) {
      throw new CryptoApiError('usage', 'too many devices at once');
    }
    const state = MlsGroup.fresh(group);
    const ratchets = state.takeUnsaved().puts;
    const record: PendingRecord = {
      group: saveEpoch(group),
      ratchets: [...ratchets].map(([key, value]) => ({ key, value })),
      ...submission,
    };
    this.conversation.pending = kind;
    this.conversation.pendingEpoch = epoch;
    const sealed = this.account.sealer.seal('pending', this.conversationId, record);
    state.end();
    wipe(record.group);
    this.queueWrite(this.tx.objectStore('pending').put(sealed, this.conversationId));
  }

  /** Enters the epoch of the pending commit, which the log has shown. */
  enterPending(pending: PendingRecord, now: number): void {
    const ratchets = new Map(pending.ratchets.map(({ key, value }) => [key, value]));
    this.dropPending();
    this.enterEpoch(MlsGroup.restore(pending.group, ratchets));
    if (!pending.renewsLeaf) return;
    this.conversation.committedAt = now;
    this.conversation.sentSinceCommit = 0;
  }

  dropPending(): void {
    if (this.conversation.pending === 'none') return;
    this.conversation.pending = 'none';
    this.queueWrite(this.tx.objectStore('pending').delete(this.conversationId));
  }

  /** Keeps messages of the conversation in this transaction. */
  keeper(): MessageKeeper {
    return new MessageKeeper(this.tx, this.account, this.conversationId, (request) =>
      this.queueWrite(request),
    );
  }

  /** Queues a write request, which {@link save} awaits. */
  queueWrite(request: Promise<unknown>): void {
    // Without a handler a failure before `save` would count as unhandled.
    request.catch(() => {});
    this.#writes.push(request);
  }

  /** Saves, and returns the state that results. Nothing may change in the transaction after it. */
  async finish(): Promise<ConversationState> {
    const { account, conversation, conversationId, tx } = this;
    const saved = this.save();
    // A transaction reads what it was asked to write before, so there is nothing to wait for.
    const read = () => conversationState(tx, account, conversationId, conversation);
    const [state] = await Promise.all([this.#asked.then(read), saved]);
    return state;
  }

  /**
   * Writes the conversation record and all that changed, once.
   * @returns the group to cache when the transaction has committed
   */
  save(): Promise<CachedGroup | null> {
    this.#saved ??= this.#write();
    return this.#saved;
  }

  /** Writes nothing at the end, because nothing has changed: the group was only looked at. */
  leaveUnchanged(): void {
    const { epochVersion, version } = this.conversation;
    this.#saved ??= Promise.resolve(this.#state && { version, epochVersion, state: this.#state });
  }

  async #write(): Promise<CachedGroup | null> {
    const { conversation } = this;
    const state = this.#state;
    this.#asked = this.#askToWrite(state);
    await this.#asked;
    await Promise.all(this.#writes);
    return state === null
      ? null
      : { version: conversation.version, epochVersion: conversation.epochVersion, state };
  }

  async #askToWrite(state: MlsGroup | null): Promise<void> {
    const { conversationId, conversation, account, tx } = this;
    const changes = state?.takeUnsaved();
    const ratchets = tx.objectStore('ratchets');
    const moved = changes !== undefined && changes.puts.size + changes.deletes.size > 0;
    if (this.#isNewEpoch || this.#isGone) {
      this.queueWrite(ratchets.delete(withinConversation(conversationId)));
    }
    if (this.#isGone) {
      this.queueWrite(tx.objectStore('epochs').delete(conversationId));
      this.queueWrite(tx.objectStore('members').delete(conversationId));
    }
    if (this.#isNewEpoch && state !== null) {
      await this.#dropSpentStatements(state);
      const epoch = account.sealer.sealBytes('epochs', conversationId, saveEpoch(state.group));
      this.queueWrite(tx.objectStore('epochs').put(epoch, conversationId));
      this.#putMembers(state);
    }
    for (const [key, value] of changes?.puts ?? []) {
      const sealed = account.sealer.sealBytes('ratchets', sealingKey(conversationId, key), value);
      this.queueWrite(ratchets.put(sealed, [conversationId, key]));
    }
    if (!this.#isNewEpoch) {
      for (const key of changes?.deletes ?? []) this.queueWrite(ratchets.delete([conversationId, key]));
    }
    // A conversation that was forgotten and begins anew must not reach a version that another tab still has
    // cached.
    if (conversation.version === 0) conversation.version = randomVersion(this.#env);
    if (moved || this.#isNewEpoch || this.#isGone) conversation.version++;
    if (this.#isNewEpoch) conversation.epochVersion = conversation.version;
    this.queueWrite(
      tx.objectStore('heads').put(account.sealer.seal('heads', conversationId, conversation), conversationId),
    );
  }

  async #load(): Promise<MlsGroup> {
    const { conversationId, account, tx } = this;
    const range = withinConversation(conversationId);
    const sameEpoch =
      this.#cached?.epochVersion === this.conversation.epochVersion ? this.#cached.state : null;
    const [keys, values, epoch] = await Promise.all([
      tx.objectStore('ratchets').getAllKeys(range),
      tx.objectStore('ratchets').getAll(range),
      sameEpoch === null ? tx.objectStore('epochs').get(conversationId) : undefined,
    ]);
    const sealed = new Map(keys.map(([, key], i) => [key, values[i]]));
    // A large group has many ratchets, so each is opened only when it is first needed.
    const stored: RatchetLookup = (key) => {
      const value = sealed.get(key);
      return value === undefined
        ? undefined
        : account.sealer.openBytes('ratchets', sealingKey(conversationId, key), value);
    };
    if (sameEpoch !== null) return sameEpoch.reload(stored);
    if (epoch === undefined) throw new CryptoError('corrupt-record', 'epochs: missing');
    return MlsGroup.load(account.sealer.openBytes('epochs', conversationId, epoch), stored);
  }

  #putMembers(state: MlsGroup): void {
    const sealed = this.account.sealer.seal('members', this.conversationId, state.members());
    this.queueWrite(this.tx.objectStore('members').put(sealed, this.conversationId));
  }

  /** Drops the leave statements of people who are out of the tree, or back in it with other leaves. */
  async #dropSpentStatements(state: MlsGroup): Promise<void> {
    const record = await this.group();
    if (record === null || record.departures.length === 0) return;
    this.putGroup({ ...record, departures: validStatements(record.departures, treeOf(state.group)) });
  }
}

function randomVersion(env: Env): number {
  return env.random(5).reduce((number, byte) => number * 256 + byte, 1);
}
