import type { ConversationState } from '../crypto/client.ts';
import type { Timer } from '../lib/clock.ts';
import type { IncomingEvent } from '../net/contract.ts';
import type { Presence, PresenceListeners } from '../net/presence.ts';
import type { Realtime, RealtimeListeners } from '../net/mqtt.ts';
import { activeChatAtom, activeGroupAtom, chatsAtom, groupKeyOf } from '../store/chats.ts';
import { realtimeStatusAtom } from '../store/connection.ts';
import {
  contactsAtom,
  contactsErrorAtom,
  incomingRequestsAtom,
  outgoingRequestsAtom,
} from '../store/contacts.ts';
import { groupProgressAtom, groupsAtom, groupsErrorAtom } from '../store/groups.ts';
import { notificationsAtom, notificationsErrorAtom } from '../store/notifications.ts';
import { createChats } from './chats.ts';
import { createCommitter } from './committer.ts';
import { type Contacts, createContacts } from './contacts.ts';
import { keyOf, peerOf } from './conversationIds.ts';
import type { Deps } from './deps.ts';
import { createBackground } from './failures.ts';
import { createGroupActions, type GroupActions } from './groupActions.ts';
import { createGroupList, type GroupList } from './groupList.ts';
import { createMembership } from './membership.ts';
import { createMessaging, createSendFailureReport, type Messaging } from './messaging.ts';
import { createNotifications, type Notifications } from './notifications.ts';
import { createOutbox } from './outbox.ts';
import { dispatchWsMessage, trackPresence } from './presence.ts';
import { createReading, type Reading } from './reading.ts';
import { sessionScopedStore } from './scopedStore.ts';
import { createSync } from './sync.ts';
import { timings } from './timings.ts';

export interface MessengerOptions {
  readonly deps: Deps;
  readonly userId: string;
  readonly hasToken: () => boolean;
  readonly isVisible: () => boolean;
  readonly createRealtime: (userId: string, listeners: RealtimeListeners) => Realtime;
  readonly createPresence: (userId: string, listeners: PresenceListeners) => Presence;
  /** The relay refuses the token in real time: the session is worth a check. */
  readonly onUnauthorized: () => void;
  readonly leaveForLogin: (afterMs: number) => void;
  /** KeyPackages have been used up: others need new ones to reach this device. */
  readonly topUpKeyPackages: () => Promise<void>;
}

/** Everything of one signed-in session. It is made at sign-in, and after stop() nothing of it touches the store. */
export interface Messenger {
  readonly contacts: Contacts;
  readonly groups: GroupActions;
  readonly notifications: Notifications;
  readonly messaging: Messaging;
  readonly reading: Reading;
  /** Shows what this browser has; the network follows in the background. */
  start(): Promise<void>;
  stop(): void;
}

export function createMessenger(options: MessengerOptions): Messenger {
  const { hasToken, userId } = options;
  let active = true;
  const store = sessionScopedStore(options.deps.store, () => active);
  const deps: Deps = { ...options.deps, store };
  const { clock, crypto, events } = deps;
  const background = createBackground(deps.log);

  const chats = createChats(store, userId);
  const contacts = createContacts(deps, userId);
  const notifications = createNotifications(deps);
  const membership = createMembership(deps, userId);

  function activeKey(): string | null {
    const groupId = store.get(activeGroupAtom);
    return groupId === null ? store.get(activeChatAtom) : groupKeyOf(groupId);
  }

  function showState(state: ConversationState, committedAt: string | null = null): void {
    chats.setState(state);
    groupList.onState(state, committedAt);
  }

  const sync = createSync(deps, userId, membership, {
    onState: (state) => showState(state),
    onRefused: (conversationId, code) => groupList.onRefused(conversationId, code),
    onProcessed({ messages, state }, committedAt) {
      showState(state, committedAt);
      chats.addMessages(state.conversationId, messages);
      const key = keyOf(state.conversationId, userId);
      if (key === null || messages.length === 0) return;
      const peer = peerOf(state.conversationId, userId);
      if (peer !== null) dispatchWsMessage(events, { type: 'message', userId: peer });
      if (activeKey() === key) reading.markRead();
    },
  });
  const committer = createCommitter(deps, membership, sync);

  const groupList: GroupList = createGroupList({
    deps,
    ownUserId: userId,
    chats,
    sync,
    committer,
    onForgotten: (groupId) => reading.forget(groupKeyOf(groupId)),
    onResolved: (conversationId) => background(() => outbox.flush(conversationId)),
    background,
  });

  const realtime = options.createRealtime(userId, {
    onStatus(status) {
      if (!active) return;
      store.set(realtimeStatusAtom, status);
      if (status === 'connected') background(catchUpAfterConnecting);
    },
    onEvent: (event) => background(() => handle(event)),
    onPresence: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    onUnauthorized: options.onUnauthorized,
  });

  const presence = options.createPresence(userId, {
    onOnlineUsers: (userIds) => dispatchWsMessage(events, { type: 'online_users', userIds }),
    onChange: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    onLost: () => dispatchWsMessage(events, { type: 'online_users', userIds: [] }),
  });

  const outbox = createOutbox({
    deps,
    ownUserId: userId,
    sync,
    membership,
    committer,
    maySend: (conversationId) => groupList.maySend(conversationId),
    chats,
    realtime,
    onFailed: createSendFailureReport({ deps, leaveForLogin: options.leaveForLogin }),
  });

  const messaging = createMessaging({
    deps,
    ownUserId: userId,
    chats,
    outbox,
    hasToken,
    leaveForLogin: options.leaveForLogin,
    background,
  });

  const reading: Reading = createReading({
    deps,
    ownUserId: userId,
    chats,
    sync,
    watch: (chat) => realtime.watch(chat),
    hasToken,
    isVisible: options.isVisible,
    background,
  });

  const groups = createGroupActions({
    deps,
    ownUserId: userId,
    list: groupList,
    sync,
    committer,
    reading,
  });

  async function handle(event: IncomingEvent): Promise<void> {
    switch (event.type) {
      case 'message':
      case 'commit':
        return sync.onEntry(event);
      case 'available':
        return sync.onAvailable(event, keyOf(event.conversationId, userId) === activeKey());
      case 'welcome':
        if (keyOf(event.conversationId, userId) === null) return;
        await membership.refreshMailbox();
        await sync.catchUp(event.conversationId);
        await membership.dropWelcomes(event.conversationId);
        return options.topUpKeyPackages();
      case 'delivered':
        return sync.onDelivered(event);
      case 'contacts':
        return contacts.refresh();
      case 'groups':
        return groupList.refresh();
      case 'devices':
        // Nothing that this client shows depends on them.
        return;
    }
  }

  async function syncAndSend(): Promise<void> {
    // What waits can leave even when some conversation could not be brought up to date.
    try {
      await sync.syncAll();
    } finally {
      await outbox.flushAll();
    }
  }

  async function catchUpAfterConnecting(): Promise<void> {
    reading.markRead();
    await Promise.all([contacts.load(), groupList.load(), notifications.load(), syncAndSend()]);
  }

  let timers: Timer[] = [];
  let endPresence: () => void = () => undefined;

  function clear(): void {
    const empty = { items: [], loading: false, loaded: false };
    store.set(chatsAtom, {});
    store.set(activeChatAtom, null);
    store.set(activeGroupAtom, null);
    store.set(groupsAtom, empty);
    store.set(groupsErrorAtom, null);
    store.set(groupProgressAtom, null);
    store.set(notificationsAtom, empty);
    store.set(notificationsErrorAtom, null);
    store.set(contactsAtom, empty);
    store.set(incomingRequestsAtom, empty);
    store.set(outgoingRequestsAtom, empty);
    store.set(contactsErrorAtom, null);
    store.set(realtimeStatusAtom, 'closed');
  }

  return {
    contacts,
    groups,
    notifications,
    messaging,
    reading,

    async start() {
      for (const state of await crypto.conversations()) showState(state);
      endPresence = trackPresence(store, events);
      timers = [
        clock.every(timings.contactsPolling, () => {
          if (hasToken()) background(() => contacts.refresh());
        }),
        clock.every(timings.notificationPolling, () => {
          if (hasToken()) background(() => notifications.refresh());
        }),
        clock.every(timings.syncPolling, () => {
          if (!hasToken() || realtime.isConnected()) return;
          background(() => groupList.refresh());
          background(syncAndSend);
        }),
      ];
      realtime.open();
      presence.open();
      background(() =>
        Promise.all([
          contacts.load(),
          groupList.load(),
          notifications.load(),
          syncAndSend(),
          options.topUpKeyPackages(),
        ]),
      );
    },

    stop() {
      if (!active) return;
      for (const timer of timers) timer.cancel();
      groupList.stop();
      realtime.close();
      presence.close();
      endPresence();
      clear();
      active = false;
    },
  };
}
