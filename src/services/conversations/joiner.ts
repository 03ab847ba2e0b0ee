import type { CommitSubmission, ConversationState } from '../../crypto/client.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { isApiError } from '../../net/errors.ts';
import { groupOf, peerOf, recipientOf, takesPart } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';
import { withStart } from '../core/place.ts';
import { timings } from '../core/timings.ts';

type WelcomeItem = Awaited<ReturnType<Deps['api']['listWelcomes']>>[number];

/** The outcome of an attempt to become a member. */
export type EnterResult =
  /** By external commit: it takes effect once the log has been processed from `seq`. */
  | { readonly kind: 'committed'; readonly seq: number }
  /** By Welcome, or by another tab: this device is a member. */
  | { readonly kind: 'member' }
  /** Another commit took the epoch: worth another attempt. */
  | { readonly kind: 'lost-race' }
  /** The relay has no such conversation yet, or an own start of it is on its way. */
  | { readonly kind: 'not-started' };

export interface Joiner {
  /** Reads this device's mailbox and answers the conversations that have a Welcome in it which may open by now. */
  refreshMailbox(): Promise<readonly string[]>;
  /** Looks in the mailbox as far as it has been read. */
  hasWelcome(conversationId: string): Promise<boolean>;
  /** Becomes a member of a conversation that exists: by Welcome, else by external commit. */
  enter(conversationId: string): Promise<EnterResult>;
  /**
   * Starts a direct conversation with every device of both people, or that of the own devices with the others there are. Whether
   * this start or another one won shows in the log.
   * @throws AppError `no-device` when there is none to start it with
   */
  start(conversationId: string): Promise<void>;
  /**
   * Submits a commit, together with the people it brings into a group.
   * @returns its log position, or null when another one took its epoch
   */
  submit(submission: CommitSubmission): Promise<number | null>;
  /** Waits for the answer to the commit that is on its way there, if one is: told of before that, it would be fetched. */
  answered(conversationId: string): Promise<void>;
  /**
   * Names the entry above a position of which this device needs the digest alone, since it may have megabytes: the one that let it
   * in, which it can't read, or its own commit, which it has.
   */
  withoutContent(state: ConversationState, after: number): { readonly digestOf?: number };
  /** Comes back into a group that this device was out of, unseen; false where no Welcome says so. */
  returnByWelcome(conversationId: string): Promise<boolean>;
  /** Removes the Welcomes of a conversation that this device is a member of already. */
  dropWelcomes(conversationId: string): Promise<void>;
}

/** Failures that say nothing about the Welcome itself: it stays in the mailbox for the next attempt. */
export const passingFailures: ReadonlySet<FailureCode> = new Set([
  'locked',
  'storage',
  'keys-unreachable',
  'internal',
]);

/** Returns whether Welcomes would keep later ones out of the mailbox, which the relay gives in parts of eight megabytes. */
function isTooMuch(welcomes: readonly WelcomeItem[]): boolean {
  return welcomes.reduce((sum, { welcome }) => sum + welcome.length, 0) > 2 ** 20;
}

export function createJoiner(deps: Deps, ownUserId: string): Joiner {
  const { api, clock, crypto, locks } = deps;
  let mailbox: readonly WelcomeItem[] = [];
  /** Until when Welcomes rest whose tree the relay has not got, by their ids. */
  const restingUntil = new Map<string, number>();
  let reading: Promise<readonly WelcomeItem[]> | null = null;
  /** Commits on their way, and the positions of those that were taken last, by conversation. */
  const onTheirWay = new Map<string, Promise<void>>();
  const ownPositions = new Map<string, number>();

  // Two tabs that joined at the same time would each replace the other's pending commit.
  function exclusively<T>(conversationId: string, task: () => Promise<T>): Promise<T> {
    return locks.request(`sinetti:join:${conversationId}`, task);
  }

  async function refreshMailbox(): Promise<readonly string[]> {
    const read = api.listWelcomes();
    reading = read;
    try {
      mailbox = await read;
    } finally {
      if (reading === read) reading = null;
    }
    return [...new Set(mailbox.filter(isReady).map((item) => item.conversationId))];
  }

  function isReady({ id }: WelcomeItem): boolean {
    return (restingUntil.get(id) ?? 0) <= clock.monotonicNow();
  }

  async function drop(item: WelcomeItem): Promise<void> {
    mailbox = mailbox.filter((other) => other.id !== item.id);
    await api.deleteWelcome(item.id).catch((error: unknown) => {
      // Another tab was first.
      if (!isApiError(error, 'not-found')) throw error;
    });
  }

  /**
   * Looks in the mailbox as far as it has been read; waits for a reading under way, since a Welcome to a large group
   * has megabytes.
   */
  async function hasWelcome(conversationId: string): Promise<boolean> {
    const isThere = () => mailbox.some((item) => item.conversationId === conversationId && isReady(item));
    if (!isThere()) await reading?.catch(() => undefined);
    return isThere();
  }

  async function welcomesFor(conversationId: string): Promise<WelcomeItem[]> {
    if (!(await hasWelcome(conversationId))) await refreshMailbox();
    const own = mailbox.filter((item) => item.conversationId === conversationId && isReady(item));
    return own.sort((a, b) => b.seq - a.seq);
  }

  async function treeNamed(conversationId: string, treeHash: string | undefined): Promise<string | null> {
    return treeHash === undefined
      ? null
      : (await import('./trees.ts')).fetchTree(deps, conversationId, treeHash);
  }

  async function joinByWelcome(conversationId: string): Promise<boolean> {
    for (const item of await welcomesFor(conversationId)) {
      const { epoch, seq, treeHash, welcome } = item;
      const tree = await treeNamed(conversationId, treeHash);
      try {
        await crypto.joinByWelcome({ conversationId, epoch, seq, welcome, tree });
      } catch (error) {
        // It stays for when the relay has the tree. The way from outside may be open meanwhile, or says what is wrong.
        if (errorCode(error) === 'missing-tree') {
          restingUntil.set(item.id, clock.monotonicNow() + timings.rejoinPause);
          if (!isTooMuch(mailbox.filter(({ id }) => restingUntil.has(id)))) continue;
        }
        if (passingFailures.has(errorCode(error))) throw error;
        // Not meant for the keys this device has: it will never open, and the external commit is the way in.
        await drop(item);
        continue;
      }
      await drop(item);
      return true;
    }
    return false;
  }

  async function isStarted(conversationId: string): Promise<boolean> {
    const recipient = recipientOf(conversationId, ownUserId);
    const groupId = groupOf(conversationId);
    try {
      if (groupId !== null) return (await api.listGroupMessages(groupId, { limit: 1 })).length > 0;
      return recipient !== null && (await api.listUserMessages(recipient, { limit: 1 })).length > 0;
    } catch (error) {
      if (isApiError(error, 'not-found')) return false;
      throw error;
    }
  }

  /** Null for a conversation that is held back, since its other person is blocked: nobody comes in until they are not. */
  async function groupInfoOf(conversationId: string) {
    try {
      return await api.getGroupInfo(conversationId);
    } catch (error) {
      if (isApiError(error, 'not-found')) return null;
      throw error;
    }
  }

  async function submit(submission: CommitSubmission): Promise<number | null> {
    const { conversationId } = submission;
    const taken = submitWithItsTree(submission);
    const answered = taken.then(
      (seq) => void (seq === null || ownPositions.set(conversationId, seq)),
      () => undefined,
    );
    onTheirWay.set(conversationId, answered);
    await answered;
    if (onTheirWay.get(conversationId) === answered) onTheirWay.delete(conversationId);
    return taken;
  }

  async function submitWithItsTree(submission: CommitSubmission): Promise<number | null> {
    const submitting = () => submitCommit(submission);
    return submission.tree === null
      ? submitting()
      : (await import('./trees.ts')).submitWithTree(deps, submission, submitting);
  }

  async function submitCommit(submission: CommitSubmission): Promise<number | null> {
    const { addedIds, conversationId, removedIds, sealedName, tree } = submission;
    const groupId = groupOf(conversationId);
    const body = {
      epoch: submission.epoch,
      commit: submission.commit,
      welcomes: submission.welcomes.map(({ deviceIds, welcome }) => ({ deviceIds: [...deviceIds], welcome })),
      groupInfo: submission.groupInfo,
      signature: submission.signature,
      ...(tree === null ? {} : { treeHash: tree.hash }),
      ...(sealedName === null ? {} : { sealedName }),
      ...(removedIds.length === 0 ? {} : { removed: [...removedIds] }),
    };
    try {
      const { seq } = await withStart(deps, null, (start) =>
        groupId === null || addedIds.length === 0
          ? api.submitCommit(conversationId, { ...body, start })
          : api.addGroupMembers(groupId, { ...body, start, user_ids: [...addedIds] }),
      );
      return seq;
    } catch (error) {
      if (isApiError(error, 'stale-epoch')) return null;
      throw error;
    }
  }

  /** No message brings the start of a group, or of the own devices', on the way again: after an interruption this does. */
  async function resumeStart(conversationId: string): Promise<EnterResult> {
    const isDirect = peerOf(conversationId, ownUserId) !== null;
    const waiting = isDirect ? null : await crypto.nextCommit(conversationId);
    if (waiting === null) return { kind: 'not-started' };
    const seq = await submit(waiting);
    return seq === null ? { kind: 'lost-race' } : { kind: 'committed', seq };
  }

  return {
    refreshMailbox,
    hasWelcome,
    submit,
    answered: async (conversationId) => onTheirWay.get(conversationId),
    withoutContent({ conversationId, joinedSeq }, after) {
      const seq = after < joinedSeq ? joinedSeq : (ownPositions.get(conversationId) ?? 0);
      return after < seq ? { digestOf: seq } : {};
    },

    enter: (conversationId) =>
      exclusively(conversationId, async () => {
        const { status } = await crypto.conversation(conversationId);
        if (status === 'joined') return { kind: 'member' };
        if (!takesPart(conversationId, ownUserId)) return { kind: 'not-started' };
        if (status === 'starting') return resumeStart(conversationId);
        const isWelcome = status === 'outside' && (await hasWelcome(conversationId));
        if (isWelcome && (await joinByWelcome(conversationId))) return { kind: 'member' };
        // Asked in a way that isn't an error: most chats that are opened for the first time are new.
        if (!(await isStarted(conversationId))) return { kind: 'not-started' };
        const mayBeWelcome = status === 'outside' && !isWelcome;
        if (mayBeWelcome && (await joinByWelcome(conversationId))) return { kind: 'member' };
        const current = await groupInfoOf(conversationId);
        if (current === null) return { kind: 'not-started' };
        const { epoch, groupInfo, treeHash } = current;
        const tree = await treeNamed(conversationId, treeHash);
        const submission = await crypto.joinByExternalCommit({ conversationId, epoch, groupInfo, tree });
        const seq = await submit(submission);
        return seq === null ? { kind: 'lost-race' } : { kind: 'committed', seq };
      }),

    start: (conversationId) =>
      exclusively(conversationId, async () => {
        const { status } = await crypto.conversation(conversationId);
        const recipient = recipientOf(conversationId, ownUserId);
        // KeyPackages are used up by asking for them: only where there is nothing to join.
        if (status !== 'outside' || recipient === null || (await isStarted(conversationId))) return;
        const { startWithDevices } = await import('./start.ts');
        await submit(await startWithDevices(deps, conversationId, [recipient, ownUserId]));
      }),

    returnByWelcome: (conversationId) => exclusively(conversationId, () => joinByWelcome(conversationId)),

    async dropWelcomes(conversationId) {
      for (const item of mailbox.filter((other) => other.conversationId === conversationId)) await drop(item);
    },
  };
}
