import type { ContactTrust, ConversationState, SafetyNumbers } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { activeChatAtom } from '../../store/chats.ts';
import { contactsAtom } from '../../store/contacts.ts';
import { memberNamesAtom } from '../../store/names.ts';
import { trustAtom } from '../../store/trust.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { SendPermission } from '../conversations/outbox.ts';
import type { Sync } from '../conversations/sync.ts';
import type { AccountStates } from '../core/accountState.ts';
import type { Confirmation } from '../core/confirmation.ts';
import { directConversationId, peerOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';
import { onStates } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';

export interface Trust {
  /** Shows what this browser knows of people; from now on looks at their devices whenever a chat is opened. */
  start(): Promise<void>;
  stop(): void;
  /** Takes over who was verified, on whichever device. */
  refresh(): Promise<void>;
  /** Looks at what this browser knows once more: a step has met another account key. */
  reload(): Promise<void>;
  /** Returns whether messages may be sent: not while it is in doubt who the other one is. */
  maySend(conversationId: string): Promise<SendPermission>;
  safetyNumbers(userId: string): Promise<SafetyNumbers>;
  setVerified(userId: string, safetyNumber: string, verified: boolean): Promise<void>;
  accept(userId: string, safetyNumber: string): Promise<void>;
  refuse(userId: string, safetyNumber: string): Promise<void>;
}

export interface TrustOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'catchUp'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly confirmation: Pick<Confirmation, 'confirm'>;
  readonly accountStates: Pick<AccountStates, 'load' | 'replace'>;
  readonly background: Background;
}

const maxAttempts = 5;

export function createTrust(options: TrustOptions): Trust {
  const { accountStates, background, commitSubmitter, confirmation, ownUserId, sync } = options;
  const { api, clock, crypto, sessionEvents, store } = options.deps;
  let unsubscribe: () => void = () => undefined;
  let sharing: Timer | null = null;
  /** People in conversations whom this session has shared, or tried to; null until it knows whom it knows. */
  let shared: Set<string> | null = null;

  function shareSoon(): void {
    sharing ??= clock.after(timings.pinsSharing, () => {
      sharing = null;
      background(refresh);
    });
  }

  function show(trust: ContactTrust): void {
    const known = store.get(trustAtom).get(trust.userId);
    if (known?.keyOffered !== trust.keyOffered || known.changedAt.length !== trust.changedAt.length)
      shareSoon();
    store.set(trustAtom, (known) => new Map(known).set(trust.userId, trust));
  }

  // One at a time, so that what was read first is not shown last.
  const reload = coalesce(async () => {
    const known = await crypto.contactTrust();
    store.set(trustAtom, () => new Map(known.map((trust) => [trust.userId, trust])));
  });

  /** The devices that a person has now, as the relay says: another account key among them is shown at once. */
  async function observe(userId: string): Promise<void> {
    const devices = await api.userDevices(userId);
    const trust = await crypto.observeDevices(
      userId,
      devices.map(({ certificate }) => certificate),
    );
    if (trust !== null) show(trust);
  }

  /** Puts a person's present devices in the place of those under the account key they had before. */
  async function replaceFormerDevices(conversationId: string, userId: string): Promise<void> {
    await sync.catchUp(conversationId);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      await commitSubmitter.settle(conversationId);
      if (!(await crypto.hasFormerDevices(conversationId))) return;
      const { claimFor } = await import('../core/claims.ts');
      const keyPackages = await claimFor(options.deps, conversationId, [userId]);
      if (keyPackages.length === 0) return;
      await commitSubmitter.submit(await crypto.addMembers({ conversationId, keyPackages }));
    }
  }

  function nameOf(userId: string): string {
    const contact = store.get(contactsAtom).items.find(({ id }) => id === userId);
    return contact?.username ?? store.get(memberNamesAtom).get(userId) ?? '';
  }

  async function decide(userId: string, decision: () => Promise<ContactTrust>): Promise<void> {
    const conversationId = directConversationId(ownUserId, userId);
    try {
      show(await decision());
    } catch (error) {
      throw toAppError(error, t('trust.decisionFailed'));
    }
    sessionEvents.emit('holdReleased', { conversationId });
    background(readOn);
  }

  /** Reads the logs on that waited for the person's word. */
  async function readOn(): Promise<void> {
    for (const { conversationId, refusal } of await crypto.conversations()) {
      if (refusal !== 'identity-changed') continue;
      const state = await sync.catchUp(conversationId);
      if (state.refusal === undefined) sessionEvents.emit('holdReleased', { conversationId });
    }
  }

  /** Takes over what other devices know, and goes on where one of them has decided about a key. */
  async function refresh(): Promise<void> {
    await accountStates.load();
    const before = store.get(trustAtom);
    await reload();
    const settled = [...store.get(trustAtom).values()].filter(({ changedAt, keyOffered, userId }) => {
      const known = before.get(userId);
      if (known === undefined) return false;
      return changedAt.length > known.changedAt.length || (known.keyOffered && !keyOffered);
    });
    for (const { userId } of settled) {
      sessionEvents.emit('holdReleased', { conversationId: directConversationId(ownUserId, userId) });
    }
    if (settled.length > 0) background(readOn);
  }

  /** The person's other devices learn of people whom this one has met. */
  function share(states: readonly ConversationState[]): void {
    if (shared === null) return;
    const trust = store.get(trustAtom);
    const met = states.flatMap(({ members }) => members.map(({ userId }) => userId));
    const fresh = met.filter((id) => id !== ownUserId && !trust.has(id) && shared?.has(id) === false);
    for (const id of fresh) shared.add(id);
    if (fresh.length > 0) shareSoon();
  }

  onStates(sessionEvents, (states) => {
    share(states);
    if (states.some(({ refusal }) => refusal === 'identity-changed')) background(() => reload());
  });

  return {
    reload: () => reload(),

    async start() {
      await reload();
      shared = new Set();
      unsubscribe = store.sub(activeChatAtom, () => {
        const userId = store.get(activeChatAtom);
        if (userId !== null) background(() => observe(userId));
      });
    },

    stop() {
      unsubscribe();
      sharing?.cancel();
    },

    refresh,

    async maySend(conversationId) {
      const userId = peerOf(conversationId, ownUserId);
      const trust = userId === null ? undefined : store.get(trustAtom).get(userId);
      if (userId === null || trust === undefined) return 'yes';
      if (trust.keyOffered) return 'held';
      if (trust.changedAt.length === 0) return 'yes';
      if (await crypto.hasFormerDevices(conversationId)) await replaceFormerDevices(conversationId, userId);
      return 'yes-after-check';
    },

    async safetyNumbers(userId) {
      try {
        // Offline, what is known has to do.
        await observe(userId).catch(() => undefined);
        return await crypto.safetyNumbers(userId);
      } catch (error) {
        const sentence = errorCode(error) === 'unknown-person' ? t('trust.noDevice') : t('trust.loadFailed');
        throw toAppError(error, sentence);
      }
    },

    async setVerified(userId, safetyNumber, verified) {
      try {
        const kind = verified ? 'mark-verified' : 'unmark-verified';
        await accountStates.replace(async (sealedState) => {
          await confirmation.confirm({ kind, target: nameOf(userId), id: userId });
          return crypto.sealVerified(sealedState, { userId, safetyNumber, verified });
        });
      } catch (error) {
        throw toAppError(error, t('trust.markFailed'));
      }
      await reload();
    },

    accept: (userId, safetyNumber) =>
      decide(userId, async () => {
        await confirmation.confirm({ kind: 'accept-account-key', target: nameOf(userId), id: userId });
        return crypto.acceptAccountKey(userId, safetyNumber);
      }),

    refuse: (userId, safetyNumber) => decide(userId, () => crypto.refuseAccountKey(userId, safetyNumber)),
  };
}
