import type { ConversationState } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import type { IncomingEvent } from '../../net/contract.ts';
import type { Realtime, RealtimeListeners } from '../../net/mqtt.ts';
import type { Presence, PresenceListeners } from '../../net/presence.ts';
import { activeChatAtom, activeGroupAtom, groupKeyOf } from '../../store/chats.ts';
import { offlineAtom, realtimeStatusAtom } from '../../store/connection.ts';
import type { OwnNames } from '../account/ownNames.ts';
import { updateProfile } from '../account/profile.ts';
import { createSecurity, type Security } from '../account/security.ts';
import { createMessageBackup, type MessageBackup } from '../backup/messageBackup.ts';
import { createChatEvents } from '../conversations/chatEvents.ts';
import { createChats } from '../conversations/chats.ts';
import { createCommitSubmitter } from '../conversations/commitSubmitter.ts';
import { createDrafts } from '../conversations/drafts.ts';
import { createJoiner } from '../conversations/joiner.ts';
import { createMessaging, createSendFailureReport, type Messaging } from '../conversations/messaging.ts';
import { createOpenConversation, type OpenConversation } from '../conversations/openConversation.ts';
import { createOutbox } from '../conversations/outbox.ts';
import { createSync } from '../conversations/sync.ts';
import { groupConversationId, groupOf, keyOf, peerOf } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';
import { createBackground, ended } from '../core/failures.ts';
import { createLists } from '../core/lists.ts';
import { createResponseCache } from '../core/responseCache.ts';
import { sessionScopedStore } from '../core/scopedStore.ts';
import { timings } from '../core/timings.ts';
import { createDataExport, type DataExport } from '../export/dataExport.ts';
import { createGroupActions, type GroupActions } from '../groups/groupActions.ts';
import { createGroupList, type GroupList } from '../groups/groupList.ts';
import { createMemberNames } from '../groups/memberNames.ts';
import { type Contacts, createContacts } from '../people/contacts.ts';
import { createNotifications, type Notifications } from '../people/notifications.ts';
import { dispatchWsMessage, trackPresence } from '../people/presence.ts';
import { createCatchUp } from './catchUp.ts';
import { clearSession } from './clearSession.ts';

export interface MessengerOptions {
  readonly deps: Deps;
  readonly userId: string;
  readonly hasToken: () => boolean;
  readonly isVisible: () => boolean;
  readonly createRealtime: (userId: string, listeners: RealtimeListeners) => Realtime;
  readonly createPresence: (userId: string, listeners: PresenceListeners) => Presence;
  readonly onConnected: () => void;
  /** The real-time connection was up, and is no more. */
  readonly onDisconnected: () => void;
  /** The relay refuses the token in real time: the session is worth a check. */
  readonly onUnauthorized: RealtimeListeners['onUnauthorized'];
  readonly leaveForLogin: (afterMs: number) => void;
  /** This browser's device is one of the person's no more. */
  readonly onDeviceRevoked: () => Promise<void>;
  /** KeyPackages have been used up: others need new ones to reach this device. */
  readonly topUpKeyPackages: () => Promise<void>;
}

/** Everything of one signed-in session. It is made at sign-in, and after stop() nothing of it touches the store. */
export interface Messenger {
  readonly userId: string;
  readonly contacts: Contacts;
  readonly groups: GroupActions;
  readonly notifications: Notifications;
  readonly messaging: Messaging;
  readonly openConversation: OpenConversation;
  readonly dataExport: DataExport;
  readonly messageBackup: MessageBackup;
  readonly security: Security;
  /** Asks anew for the lists that could not be loaded. Never rejects. */
  retryLists(): Promise<void>;
  updateProfile(change: OwnNames): Promise<void>;
  /** Shows what this browser has. */
  start(): Promise<void>;
  /** Begins to talk with the relay, in the background. */
  connect(): void;
  /** Stops talking with it, until {@link connect}. */
  disconnect(): void;
  /** The relay can be reached again. */
  onReachable(): void;
  /** The page may not come back from where it goes. */
  onHidden(): void;
  /** Whether the person is here: said before the page goes, while there is a socket to say it. */
  setPresent(present: boolean): void;
  stop(): void;
}

export function createMessenger(options: MessengerOptions): Messenger {
  const { hasToken, userId } = options;
  let active = true;
  const store = sessionScopedStore(options.deps.store, () => active);
  const { clock, crypto, events } = options.deps;
  const background = createBackground(options.deps.log);
  const { api, recall } = createResponseCache({
    api: options.deps.api,
    crypto,
    isActive: () => active,
    background,
  });
  const deps: Deps = { ...options.deps, api, store };

  const chats = createChats(store, userId);
  const chatEvents = createChatEvents(deps, userId);
  const memberNames = createMemberNames(deps);
  const drafts = createDrafts(deps, background);
  const lists = createLists({ ...deps, hasToken });
  const contacts = createContacts({ deps, ownUserId: userId, lists, recall });
  const notifications = createNotifications({ deps, lists, recall: recall.listNotifications });
  const joiner = createJoiner(deps, userId);
  const dataExport = createDataExport(deps);
  const messageBackup = createMessageBackup({ deps, ownUserId: userId, chats, background });

  function activeKey(): string | null {
    const groupId = store.get(activeGroupAtom);
    return groupId === null ? store.get(activeChatAtom) : groupKeyOf(groupId);
  }

  function showStates(states: readonly ConversationState[]): void {
    chats.setStates(states.filter(({ conversationId }) => !groupList.hasForgotten(conversationId)));
    followStates(states);
  }

  function followStates(states: readonly ConversationState[]): void {
    groupList.onStates(states);
    security.onStates(states);
  }

  const sync = createSync(deps, userId, joiner, {
    onState: (state) => showStates([state]),
    onRefused: (conversationId, code) => groupList.onRefused(conversationId, code),
    onProcessed({ messages, events: happened, state }) {
      if (!groupList.hasForgotten(state.conversationId)) chats.setProcessed(state, messages);
      followStates([state]);
      chatEvents.add(state.conversationId, happened);
      if (messages.length > 0) messageBackup.onProcessed(state.conversationId);
      const key = keyOf(state.conversationId, userId);
      if (key === null || messages.length === 0) return;
      const peer = peerOf(state.conversationId, userId);
      if (peer !== null) dispatchWsMessage(events, { type: 'message', userId: peer });
      if (activeKey() === key) openConversation.markReadSoon();
    },
  });
  const commitSubmitter = createCommitSubmitter(deps, joiner, sync);
  const security: Security = createSecurity({
    deps,
    ownUserId: userId,
    sync,
    commitSubmitter,
    onThisRevoked: options.onDeviceRevoked,
    onDecided: (conversationId) => background(() => outbox.flush(conversationId)),
    background,
  });

  const groupList: GroupList = createGroupList({
    deps,
    ownUserId: userId,
    lists,
    recall: recall.listGroups,
    chats,
    sync,
    commitSubmitter,
    names: memberNames,
    onForgotten(groupId) {
      chatEvents.forget(groupConversationId(groupId));
      memberNames.forget(groupConversationId(groupId));
      openConversation.forget(groupKeyOf(groupId));
      drafts.forget(groupKeyOf(groupId));
    },
    onResolved: (conversationId) => background(() => outbox.flush(conversationId)),
    background,
  });

  const realtime = options.createRealtime(userId, {
    onStatus(status) {
      if (!active) return;
      const wasConnected = store.get(realtimeStatusAtom) === 'connected';
      store.set(realtimeStatusAtom, status);
      if (!talking) return;
      if (status === 'connected') {
        options.onConnected();
        // Who is offline has first to be found again, which onReachable() tells of.
        if (!store.get(offlineAtom)) catchUp.now();
      } else {
        if (wasConnected) options.onDisconnected();
        if (status === 'reconnecting') catchUp.hasten();
      }
    },
    // What is heard before the first reading is in it.
    onEvent: (event) => talking && background(() => handle(event)),
    onPresence: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    // Until the session is confirmed, that is what says whether the token holds.
    onUnauthorized: (token, code) => talking && options.onUnauthorized(token, code),
  });

  const knownPresence = trackPresence(deps);
  const presence = options.createPresence(userId, {
    onOnlineUsers: (userIds) => dispatchWsMessage(events, { type: 'online_users', userIds }),
    onChange: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    onLost: () => knownPresence.lost(),
  });

  const outbox = createOutbox({
    deps,
    ownUserId: userId,
    sync,
    joiner,
    commitSubmitter,
    maySend: (conversationId) =>
      groupOf(conversationId) === null
        ? security.trust.maySend(conversationId)
        : groupList.maySend(conversationId),
    onIdentityChanged: () => background(() => security.trust.reload()),
    isOffline: () => store.get(offlineAtom),
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

  const openConversation: OpenConversation = createOpenConversation({
    deps,
    ownUserId: userId,
    chats,
    chatEvents,
    sync,
    watch: (chat) => realtime.watch(chat),
    isGone: (conversationId) => groupList.hasEnded(conversationId),
    hasToken,
    isVisible: options.isVisible,
    background,
  });

  const groupActions = createGroupActions({
    deps,
    ownUserId: userId,
    list: groupList,
    sync,
    commitSubmitter,
    openConversation,
  });
  const groups: GroupActions = {
    ...groupActions,
    async leave(groupId) {
      await groupActions.leave(groupId);
      messageBackup.forget(groupConversationId(groupId));
    },
    async delete(groupId) {
      await groupActions.delete(groupId);
      messageBackup.forget(groupConversationId(groupId));
    },
  };

  async function handle(event: IncomingEvent): Promise<void> {
    switch (event.type) {
      case 'message':
      case 'commit':
        return sync.onEntry(event);
      case 'available':
        return sync.onAvailable(event, keyOf(event.conversationId, userId) === activeKey());
      case 'welcome':
        if (keyOf(event.conversationId, userId) === null) return;
        await joiner.refreshMailbox();
        await sync.catchUp(event.conversationId);
        await joiner.dropWelcomes(event.conversationId);
        return options.topUpKeyPackages();
      case 'delivered':
        return sync.onDelivered(event);
      case 'contacts':
        return contacts.onChanged(event.lists);
      case 'groups':
        return groupList.refresh();
      case 'devices':
        return security.devices.onRevoked(event);
    }
  }

  async function syncAndSend(): Promise<void> {
    // What waits can leave even when some conversation could not be brought up to date.
    try {
      // Nothing is said to a device that was revoked meanwhile.
      await Promise.all([sync.syncAll(), security.devices.catchUp()]);
    } finally {
      await outbox.flushAll();
    }
  }

  const catchUp = createCatchUp({
    clock,
    isHearing: () => realtime.isConnected(),
    background,
    read() {
      openConversation.markRead();
      // The log first: the copies are for what it doesn't have.
      const caughtUp = syncAndSend().finally(() => background(() => messageBackup.sync()));
      return Promise.all([
        contacts.load(),
        groupList.load(),
        notifications.load(),
        caughtUp,
        security.refresh(),
      ]);
    },
  });

  /** From connect() on, until disconnect(). */
  let talking = false;
  let timers: Timer[] = [];

  function disconnect(): void {
    talking = false;
    catchUp.cancel();
    for (const timer of timers) timer.cancel();
    timers = [];
    realtime.close();
    presence.close();
  }

  return {
    userId,
    contacts,
    groups,
    notifications,
    messaging,
    openConversation,
    dataExport,
    messageBackup,
    security,
    retryLists: () => lists.retry(),
    updateProfile: (change) => updateProfile(deps, change),

    async start() {
      // It takes a while, in which the relay confirms the session.
      realtime.open();
      messageBackup.start();
      // All of what the first screen shows, so that nothing of it changes a moment later.
      await Promise.all([
        crypto.conversations().then(showStates),
        contacts.recall(),
        ended(background, () => memberNames.load()),
        ended(background, () => security.start()),
        drafts.start(),
      ]);
    },

    connect() {
      talking = true;
      timers = [
        clock.every(timings.contactsPolling, () => {
          if (hasToken()) background(() => contacts.poll());
        }),
        clock.every(timings.notificationPolling, () => {
          if (hasToken()) background(() => notifications.poll());
        }),
        clock.every(timings.historyPolling, () => {
          if (hasToken() && !store.get(offlineAtom)) background(() => messageBackup.sync());
        }),
        clock.every(timings.syncPolling, () => {
          if (!hasToken() || realtime.isConnected()) return;
          background(() => groupList.poll());
          background(syncAndSend);
        }),
      ];
      realtime.open();
      presence.open();
      catchUp.soon();
    },

    disconnect,

    onReachable() {
      realtime.hasten();
      presence.hasten();
      catchUp.soon();
    },

    onHidden: () => drafts.flush(),

    setPresent(present) {
      if (!present) presence.close();
      else if (talking) presence.open();
    },

    stop() {
      if (!active) return;
      disconnect();
      drafts.stop();
      messageBackup.stop();
      dataExport.cancel();
      lists.stop();
      groupList.stop();
      openConversation.stop();
      knownPresence.end();
      clearSession(store);
      active = false;
    },
  };
}
