import type { Realtime, RealtimeListeners } from '../../net/mqtt.ts';
import type { Presence, PresenceListeners } from '../../net/presence.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { offlineAtom } from '../../store/connection.ts';
import { createOwnDevices } from '../account/ownDevices.ts';
import { createSecurity } from '../account/security.ts';
import { createMessageBackup } from '../backup/messageBackup.ts';
import { createChatEvents } from '../conversations/chatEvents.ts';
import { createChats } from '../conversations/chats.ts';
import { createCommitSubmitter } from '../conversations/commitSubmitter.ts';
import { createDisappearing } from '../conversations/disappearing.ts';
import { createDoubts } from '../conversations/doubts.ts';
import { createDrafts } from '../conversations/drafts.ts';
import { createJoiner } from '../conversations/joiner.ts';
import {
  createMessaging,
  createSendFailureReport,
  type MessagingOptions,
} from '../conversations/messaging.ts';
import type { Mutes } from '../conversations/mutes.ts';
import { createOpenConversation } from '../conversations/openConversation.ts';
import { createOutbox } from '../conversations/outbox.ts';
import { createReceipts } from '../conversations/receipts.ts';
import { createSync } from '../conversations/sync.ts';
import type { Typing } from '../conversations/typing.ts';
import { createConfirmation } from '../core/confirmation.ts';
import { groupOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { createLists } from '../core/lists.ts';
import type { ResponseCache } from '../core/responseCache.ts';
import { createDataExport } from '../export/dataExport.ts';
import { createGroupActions } from '../groups/groupActions.ts';
import { createGroupList } from '../groups/groupList.ts';
import { createMemberNames } from '../groups/memberNames.ts';
import { createContacts } from '../people/contacts.ts';
import { createNotifications } from '../people/notifications.ts';
import { announceMessages, dispatchWsMessage, trackPresence } from '../people/presence.ts';
import type { TabSignal } from '../session/token.ts';

export interface ServicesOptions {
  readonly deps: SessionDeps;
  readonly userId: string;
  readonly recall: ResponseCache['recall'];
  readonly hasToken: () => boolean;
  readonly isVisible: () => boolean;
  readonly showsReceipts: () => boolean;
  readonly showsTyping: () => boolean;
  readonly createRealtime: (listeners: RealtimeListeners) => Realtime;
  readonly createPresence: (listeners: PresenceListeners) => Presence;
  readonly leaveForLogin: (afterMs: number) => void;
  readonly signalTabs: (changed: TabSignal) => void;
  readonly onDeletingFiles: MessagingOptions['onDeletingFiles'];
  readonly openFiles: Parameters<typeof createDataExport>[1];
  /** Called when this browser's device has been revoked. */
  readonly onDeviceRevoked: () => Promise<void>;
  readonly background: Background;
}

export type Services = ReturnType<typeof createServices>;

/**
 * Makes the services of one session. Each is given those made before it, and hears of the others by session events.
 * Listeners are called in the order in which the services are made here: the chats come first, because the others read
 * the state that an event has brought from there.
 */
export function createServices(options: ServicesOptions) {
  const { background, deps, hasToken, leaveForLogin, recall, userId: ownUserId } = options;
  const { events, sessionEvents, store } = deps;

  const chats = createChats(deps, ownUserId);
  const chatEvents = createChatEvents(deps, ownUserId);
  const memberNames = createMemberNames(deps);
  const drafts = createDrafts(deps, background, () => options.signalTabs('drafts'));
  const lists = createLists({ ...deps, hasToken });
  const contacts = createContacts({ deps, ownUserId, lists, recall });
  const notifications = createNotifications({ deps, lists, recall: recall.listNotifications });
  const joiner = createJoiner(deps, ownUserId);
  const dataExport = createDataExport(deps, options.openFiles);
  const confirmation = createConfirmation(deps);

  const sync = createSync(deps, ownUserId, joiner);
  const commitSubmitter = createCommitSubmitter(deps, joiner, sync);
  const groupList = createGroupList({
    deps,
    ownUserId,
    lists,
    recall: recall.listGroups,
    chats,
    sync,
    commitSubmitter,
    names: memberNames,
    background,
  });
  const security = createSecurity({
    deps,
    confirmation,
    ownUserId,
    sync,
    commitSubmitter,
    onThisRevoked: options.onDeviceRevoked,
    background,
  });

  const messageBackup = createMessageBackup({
    deps,
    ownUserId,
    chats,
    confirmation,
    isBehind: () => security.keyRenewal.isBehind(),
    background,
  });
  announceMessages(deps, ownUserId);
  const knownPresence = trackPresence(deps);
  const realtime = options.createRealtime({
    onStatus: (status) => sessionEvents.emit('realtimeChanged', { status }),
    onEvent: (event) => sessionEvents.emit('realtimeReceived', { event }),
    onPresence: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    onTyping: (payload) => whileTyping((typing) => typing.take(payload)),
    onUnauthorized: (token, code) => sessionEvents.emit('tokenRefused', { token, code }),
  });
  const presence = options.createPresence({
    onOnlineUsers: (userIds) => dispatchWsMessage(events, { type: 'online_users', userIds }),
    onChange: (change) => dispatchWsMessage(events, { type: 'presence', ...change }),
    onLost: () => knownPresence.lost(),
  });

  /** For what is loaded when it is asked for. */
  const demanded = { background, deps, ownUserId, realtime };
  /** Does something with the signs of writing, whose code loads with the first of them, unless the person wants none. */
  function whileTyping(task: (typing: Typing) => Promise<void>): void {
    if (!options.showsTyping()) return;
    background(async () => task((await import('../conversations/typing.ts')).typingOf(demanded)));
  }

  /** Most people mute nothing. */
  async function loadMutes(): Promise<Mutes> {
    return (await import('../conversations/mutes.ts')).mutesOf(demanded);
  }
  sessionEvents.on('mutesChanged', ({ isHere }) => {
    options.signalTabs('mutes');
    if (!isHere) background(async () => (await loadMutes()).refresh());
  });

  const doubts = createDoubts(sessionEvents);
  const outbox = createOutbox({
    deps,
    ownUserId,
    sync,
    joiner,
    commitSubmitter,
    maySend(conversationId) {
      const key = keyOf(conversationId, ownUserId);
      const judge = groupOf(conversationId) === null ? security.trust : groupList;
      return doubts.unlessHeld(
        () => (key === null ? null : chats.get(key).state),
        () => judge.maySend(conversationId),
      );
    },
    onIdentityChanged: () => background(() => security.trust.reload()),
    isOffline: () => store.get(offlineAtom),
    chats,
    realtime,
    onFailed: createSendFailureReport({ deps, leaveForLogin }),
    background,
  });
  const ownDevices = createOwnDevices({
    deps,
    ownUserId,
    sync,
    joiner,
    outbox,
    accountStates: security.accountStates,
    background,
  });
  const messaging = createMessaging({ ...options, ownUserId, chats, outbox, commitSubmitter });
  const disappearing = createDisappearing({ deps, chats, background });
  const receipts = createReceipts({
    deps,
    ownUserId,
    sync,
    hasToken,
    isGone: (conversationId) => groupList.isLeft(conversationId),
    isShown: options.showsReceipts,
    background,
  });
  const openConversation = createOpenConversation({
    deps,
    ownUserId,
    chats,
    chatEvents,
    sync,
    receipts,
    watch: (chat) => realtime.watch(chat),
    isGone: (conversationId) => groupList.hasEnded(conversationId),
    hasToken,
    isVisible: options.isVisible,
    background,
  });
  const groups = createGroupActions({
    deps,
    ownUserId,
    list: groupList,
    sync,
    commitSubmitter,
    openConversation,
  });

  return {
    chats,
    confirmation,
    contacts,
    dataExport,
    disappearing,
    drafts,
    groupList,
    groups,
    joiner,
    knownPresence,
    lists,
    memberNames,
    messageBackup,
    messaging,
    notifications,
    openConversation,
    outbox,
    ownDevices,
    presence,
    realtime,
    receipts,
    security,
    sync,
    loadMutes,
    tellTyping: (key: ConversationKey, isWriting: boolean) =>
      whileTyping((typing) => typing.tell(key, isWriting)),
  };
}
