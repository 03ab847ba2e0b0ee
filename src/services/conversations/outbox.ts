import type { MessageView, PreparedMessage, QueuedMessage, ReadyMessage } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { createBackoff } from '../../lib/backoff.ts';
import { delay, timestamp } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import { ApiError, isApiError, NetworkError } from '../../net/errors.ts';
import type { Acknowledgement, Realtime } from '../../net/mqtt.ts';
import { groupOf, isUnseen, recipientOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { copied, withStart } from '../core/place.ts';
import { timings } from '../core/timings.ts';
import type { Chats } from './chats.ts';
import type { CommitSubmitter } from './commitSubmitter.ts';
import type { Joiner } from './joiner.ts';
import { stopsAll } from './sendErrors.ts';
import type { Sync } from './sync.ts';

/** The number of times a message is prepared, because the conversation may move under it. */
const maxPreparations = 8;
const conversationsAtOnce = 4;

/** The recipient of a message. */
type Recipient =
  | { readonly groupId: null; readonly userId: string }
  | { readonly groupId: string; readonly userId?: never };

/**
 * The permission to send messages: `held` keeps them waiting while it is in doubt who would read them.
 * `yes-after-check` says that a check was made for it, and may have changed what has to be sent first.
 */
export type SendPermission = 'yes' | 'yes-after-check' | 'held';

interface Failure {
  readonly reason: unknown;
}

export interface Outbox {
  /** Flushes after a message was written: one that nothing has to go before is sent as it is. */
  send(conversationId: string, ready: ReadyMessage | null): Promise<void>;
  /** Sends what waits in a conversation, in order. `retry` names a failed message that is to be tried again. */
  flush(conversationId: string, retry?: string): Promise<void>;
  /** Every conversation with waiting messages. */
  flushAll(): Promise<void>;
  /**
   * Sends what another tab has left waiting since the last look, as one does that was closed, or that reaches nobody. What this
   * one has tried waits for its own occasion.
   */
  flushLeft(): Promise<void>;
}

export interface OutboxOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'catchUp' | 'hasRead'>;
  readonly joiner: Pick<Joiner, 'start'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly maySend: (conversationId: string) => Promise<SendPermission>;
  /** While it lasts everything goes on waiting, instead of failing. */
  readonly isOffline: () => boolean;
  /** Another account key was met, for the person to judge: everything goes on waiting. */
  readonly onIdentityChanged: () => void;
  readonly chats: Pick<Chats, 'addMessages'>;
  readonly realtime: Pick<Realtime, 'isConnected' | 'publish'>;
  /** Once for a flush, however many messages failed with it. */
  readonly onFailed: (error: unknown) => void;
  readonly background: Background;
}

/** Sends a message that the worker has queued, or a change, and shows it, or what it changes. */
export function sendQueued(
  {
    background,
    chats,
    outbox,
  }: {
    readonly background: Background;
    readonly chats: Pick<Chats, 'addMessages' | 'setState'>;
    readonly outbox: Pick<Outbox, 'send'>;
  },
  { message, ready, state }: QueuedMessage,
): void {
  // Before anything else: the other one waits for it.
  background(() => outbox.send(message.conversationId, ready));
  chats.addMessages(message.conversationId, [message]);
  // The list of chats shows the newest message, also while it waits.
  chats.setState(state);
}

/**
 * Brings queued messages into the log, one conversation at a time and in the order they were written. The worker keeps
 * each message until the log has it, so what is lost here (a reload, a crash) is found again by the next flush.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { chats, commitSubmitter, maySend, joiner, ownUserId, realtime, sync } = options;
  const { api, clock, crypto, locks, log } = options.deps;
  const flushes = new Map<string, (ready?: ReadyMessage) => Promise<void>>();
  const retries = new Set<string>();
  /** Ids of waiting messages that this tab has tried to send. */
  const tried = new Set<string>();
  /** Ids of those that it had not, at the last look. */
  let untried: ReadonlySet<string> = new Set();

  async function publish(
    { content, epoch, messageId }: ReadyMessage,
    to: Recipient,
    start: string,
  ): Promise<Acknowledgement> {
    if (realtime.isConnected()) {
      const sent = { messageId, senderId: ownUserId, epoch, content, timestamp: timestamp(clock), start };
      try {
        return await realtime.publish(
          to.groupId === null
            ? { type: 'message', ...sent, recipientId: to.userId }
            : { type: 'group_message', ...sent, groupId: to.groupId },
        );
      } catch (error) {
        // It may have arrived or not; the message id makes sending it again over REST harmless.
        if (!(error instanceof NetworkError)) throw error;
      }
    }
    const body = { messageId, epoch, content, start };
    return to.groupId === null
      ? api.sendUserMessage(to.userId, body)
      : api.sendGroupMessage(to.groupId, body);
  }

  function requireRecipient(conversationId: string): Recipient {
    const groupId = groupOf(conversationId);
    if (groupId !== null) return { groupId };
    const userId = recipientOf(conversationId, ownUserId);
    if (userId === null) throw new ApiError({ status: 404, code: 'not-found', detail: null });
    return { groupId, userId };
  }

  /** @throws AppError while messages of the conversation wait for the person's word */
  async function requirePermission(conversationId: string): Promise<SendPermission> {
    const permission = await maySend(conversationId);
    if (permission === 'held') throw new AppError('members-in-doubt', t('errors.membersInDoubt'));
    return permission;
  }

  /** Prepares and sends until the relay takes the message. The conversation may move in between, but not for ever. */
  async function deliver(
    conversationId: string,
    messageId: string,
    ready: ReadyMessage | undefined,
  ): Promise<MessageView> {
    const permission = await requirePermission(conversationId);
    // The log has messages that a restored browser had sent: this device must know of them before it first encrypts.
    const hadRead = sync.hasRead(conversationId);
    if (!hadRead) await sync.catchUp(conversationId);
    let next: PreparedMessage | undefined = hadRead && permission === 'yes' ? ready : undefined;
    const recipient = requireRecipient(conversationId);
    const backoff = createBackoff({
      baseMs: timings.commitRetryBase,
      maxMs: timings.commitRetryMax,
      random: options.deps.random,
    });
    for (let preparation = 0; preparation < maxPreparations; preparation += 1) {
      // The first repetition is ordinary (healing, a lost race); after that somebody else is as busy as we are.
      if (preparation > 1) await delay(clock, backoff.next());
      // This device may have come back meanwhile, to others than it left.
      if (preparation > 0 || !hadRead) await requirePermission(conversationId);
      const prepared = next ?? (await crypto.prepareMessage(messageId));
      next = undefined;
      if (prepared.kind === 'sent') return prepared.message;
      if (prepared.kind === 'message') {
        try {
          const { seq, timestamp: storedAt } = await withStart(options.deps, prepared.start, (start) =>
            publish(prepared, recipient, start),
          );
          return await crypto.messageAccepted(messageId, { seq, timestamp: storedAt });
        } catch (error) {
          if (!isApiError(error, 'stale-epoch')) throw error;
        }
      }
      if (prepared.kind === 'commit') {
        // A commit that the relay refuses for good has been dropped by then, and the message goes without it.
        await commitSubmitter.submit(prepared.submission);
        continue;
      }
      const state = await sync.catchUp(conversationId);
      if (prepared.kind === 'outside' && state.status !== 'joined') {
        await joiner.start(conversationId);
        await sync.catchUp(conversationId);
      }
    }
    throw new ApiError({ status: 409, code: 'stale-epoch', detail: null });
  }

  /** @returns whether it is a message that the person knows of */
  async function fail(conversationId: string, messageId: string, code: FailureCode): Promise<boolean> {
    try {
      const failed = await crypto.messageFailed(messageId, code);
      chats.addMessages(conversationId, [failed]);
      return !isUnseen(failed);
    } catch (error) {
      // The person has discarded it in the meantime.
      if (errorCode(error) !== 'unknown-message') throw error;
      return true;
    }
  }

  async function attempt(
    conversationId: string,
    messageId: string,
    ready: ReadyMessage | undefined,
  ): Promise<Failure | null> {
    tried.add(messageId);
    try {
      chats.addMessages(conversationId, [await deliver(conversationId, messageId, ready)]);
      tried.delete(messageId);
      return null;
    } catch (reason) {
      return { reason };
    }
  }

  /** Returns whether a waiting message is to be sent: not one that failed, unless it is tried again. */
  function isDue({ messageId, status }: MessageView): boolean {
    return status === 'sending' || retries.has(messageId);
  }

  async function flushLocked(conversationId: string): Promise<void> {
    if (options.isOffline()) return;
    const due = (await crypto.outbox(conversationId)).filter(isDue);
    await sendAll(
      conversationId,
      due.map(({ messageId }) => messageId),
    );
  }

  async function sendAll(
    conversationId: string,
    messageIds: readonly string[],
    ready?: ReadyMessage,
  ): Promise<void> {
    let stopped: Failure | null = null;
    for (const messageId of messageIds) {
      retries.delete(messageId);
      const failure: Failure | null = stopped ?? (await attempt(conversationId, messageId, ready));
      if (failure === null) continue;
      const code = failure.reason instanceof NetworkError ? 'network' : errorCode(failure.reason);
      // The session is over, or the keys are locked: the message keeps waiting for the next one.
      if (code === 'session-ended' || code === 'locked') throw failure.reason;
      if (code === 'device-copied') throw copied(options.deps);
      if (code === 'identity-changed') options.onIdentityChanged();
      const isHeld =
        code === 'members-in-doubt' ||
        code === 'identity-changed' ||
        (code === 'network' && options.isOffline());
      if (isHeld) {
        retries.add(messageId);
        return;
      }
      // The person has discarded it.
      if (code === 'unknown-message') continue;
      const isSeen = await fail(conversationId, messageId, code);
      if (stopped === null) {
        log.warn('send-failed', { code });
        if (isSeen) options.onFailed(failure.reason);
      }
      if (stopsAll(failure.reason)) stopped = failure;
    }
  }

  function flushOf(conversationId: string): (ready?: ReadyMessage) => Promise<void> {
    const known = flushes.get(conversationId);
    if (known !== undefined) return known;
    const flush = coalesce<ReadyMessage>((ready) =>
      ready === undefined || options.isOffline()
        ? // Another tab may be sending the same messages.
          locks.request(`sinetti:outbox:${conversationId}`, () => flushLocked(conversationId))
        : // Nothing waits before it, in no tab; one that sends it as well sends the same.
          sendAll(conversationId, [ready.messageId], ready),
    );
    flushes.set(conversationId, flush);
    return flush;
  }

  async function flushWaiting(messages: readonly MessageView[]): Promise<void> {
    const ids = new Set(messages.map(({ conversationId }) => conversationId));
    await forEachLimited(ids, conversationsAtOnce, (id) => flushOf(id)());
  }

  options.deps.sessionEvents.on('holdReleased', ({ conversationId }) =>
    options.background(() => flushOf(conversationId)()),
  );

  return {
    async send(conversationId, ready) {
      await flushOf(conversationId)(ready ?? undefined);
    },
    async flush(conversationId, retry) {
      if (retry !== undefined) retries.add(retry);
      await flushOf(conversationId)();
    },
    async flushAll() {
      await flushWaiting((await crypto.outbox()).filter(isDue));
    },
    async flushLeft() {
      const due = (await crypto.outbox()).filter(
        (message) => isDue(message) && !tried.has(message.messageId),
      );
      const left = due.filter(({ messageId }) => untried.has(messageId));
      untried = new Set(due.map(({ messageId }) => messageId));
      await flushWaiting(left);
    },
  };
}
