import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createStore, Provider } from 'jotai';
import type { ReactNode } from 'react';
import { MemoryRouter, useLocation } from 'react-router-dom';
import { vi } from 'vitest';
import { type AppActions, actionsAtom } from '#src/store/actions.ts';
import {
  activeChatAtom,
  activeConversationAtom,
  activeGroupAtom,
  type Chat,
  type ConversationState,
  groupKeyOf,
  type MessageContent,
  type MessageView,
} from '#src/store/chats.ts';
import type { Person } from '#src/store/contacts.ts';
import { type LoadedList, unloadedList } from '#src/store/loadedList.ts';
import { authStatusAtom, type CurrentUser, currentUserAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';

export const aino: CurrentUser = {
  id: 'aino-id',
  username: 'aino',
  email: 'aino@example.fi',
  full_name: 'Aino',
  created_at: '2026-03-14T10:00:00Z',
};

export const veikko: Person = { id: 'veikko-id', username: 'veikko', email: 'veikko@example.fi' };
export const kaisa: Person = { id: 'kaisa-id', username: 'kaisa', email: 'kaisa@example.fi' };

/** As the worker writes one: 14 groups of four characters. */
export const recoveryKey = '000G-40R4-0M30-E209-185G-R38E-1W81-24GK-2GAH-C5RR-34D1-P70X-3RFJ-K472';

type FakeActions = { readonly [Name in keyof AppActions]: ReturnType<typeof vi.fn<AppActions[Name]>> };

/** Every action succeeds with nothing, until a test says otherwise. */
export function fakeActions(): FakeActions {
  return {
    prepareSignIn: vi.fn<AppActions['prepareSignIn']>(),
    files: vi.fn<AppActions['files']>(),
    report: vi.fn<AppActions['report']>().mockResolvedValue(),
    signUpMode: vi.fn<AppActions['signUpMode']>().mockResolvedValue('open'),
    signUp: vi.fn<AppActions['signUp']>().mockResolvedValue(),
    logIn: vi.fn<AppActions['logIn']>().mockResolvedValue(),
    logOut: vi.fn<AppActions['logOut']>().mockResolvedValue(),
    recover: vi.fn<AppActions['recover']>().mockResolvedValue(),
    setUpRecoveryKey: vi.fn<AppActions['setUpRecoveryKey']>().mockResolvedValue(),
    dismissRecoveryOffer: vi.fn<AppActions['dismissRecoveryOffer']>().mockResolvedValue(),
    changePassword: vi.fn<AppActions['changePassword']>().mockResolvedValue(),
    acceptOlderVault: vi.fn<AppActions['acceptOlderVault']>().mockResolvedValue(),
    moveOn: vi.fn<AppActions['moveOn']>().mockResolvedValue(),
    takeOverKeys: vi.fn<AppActions['takeOverKeys']>().mockResolvedValue(),
    loadDevices: vi.fn<AppActions['loadDevices']>().mockResolvedValue(),
    renameDevice: vi.fn<AppActions['renameDevice']>().mockResolvedValue(),
    revokeDevice: vi.fn<AppActions['revokeDevice']>().mockResolvedValue(),
    updateSessions: vi.fn<AppActions['updateSessions']>().mockResolvedValue([]),
    acknowledgeDevices: vi.fn<AppActions['acknowledgeDevices']>().mockResolvedValue(),
    setVerified: vi.fn<AppActions['setVerified']>().mockResolvedValue(),
    acceptIdentity: vi.fn<AppActions['acceptIdentity']>().mockResolvedValue(),
    refuseIdentity: vi.fn<AppActions['refuseIdentity']>().mockResolvedValue(),
    acknowledgeOlderStates: vi.fn<AppActions['acknowledgeOlderStates']>().mockResolvedValue(),
    acknowledgeAccountChange: vi.fn<AppActions['acknowledgeAccountChange']>().mockResolvedValue(),
    loadSafetyNumbers: vi
      .fn<AppActions['loadSafetyNumbers']>()
      .mockResolvedValue({ current: '12345'.repeat(12), offered: null }),
    updateProfile: vi.fn<AppActions['updateProfile']>().mockResolvedValue(),
    loadDiscoverability: vi
      .fn<AppActions['loadDiscoverability']>()
      .mockResolvedValue({ found_by: 'both', shows_email: false }),
    setDiscoverability: vi.fn<AppActions['setDiscoverability']>().mockResolvedValue(),
    updateEmailVerification: vi.fn<AppActions['updateEmailVerification']>().mockResolvedValue(null),
    loadRetention: vi
      .fn<AppActions['loadRetention']>()
      .mockResolvedValue({ entryDays: 90, fewestEntryDays: 90, historyDays: null }),
    isStorageKept: vi.fn<AppActions['isStorageKept']>().mockResolvedValue(false),
    deleteAccount: vi.fn<AppActions['deleteAccount']>().mockResolvedValue(),
    exportData: vi.fn<AppActions['exportData']>().mockResolvedValue({ written: 0, missing: 0 }),
    measureFiles: vi.fn<AppActions['measureFiles']>().mockResolvedValue({ count: 0, bytes: 0 }),
    cancelDataExport: vi.fn<AppActions['cancelDataExport']>(),
    retryLists: vi.fn<AppActions['retryLists']>().mockResolvedValue(),
    searchUsers: vi.fn<AppActions['searchUsers']>().mockResolvedValue([]),
    sendContactRequest: vi
      .fn<AppActions['sendContactRequest']>()
      .mockResolvedValue({ success: true, message: '' }),
    acceptContactRequest: vi.fn<AppActions['acceptContactRequest']>().mockResolvedValue(),
    withdrawContactRequest: vi.fn<AppActions['withdrawContactRequest']>().mockResolvedValue(),
    rejectContactRequest: vi.fn<AppActions['rejectContactRequest']>().mockResolvedValue(),
    updateBlocks: vi.fn<AppActions['updateBlocks']>().mockResolvedValue(),
    removeContact: vi.fn<AppActions['removeContact']>().mockResolvedValue(),
    openChat: vi.fn<AppActions['openChat']>().mockResolvedValue(),
    loadOlderMessages: vi.fn<AppActions['loadOlderMessages']>().mockResolvedValue(),
    muteConversation: vi.fn<AppActions['muteConversation']>().mockResolvedValue(),
    tellTyping: vi.fn<AppActions['tellTyping']>(),
    sendMessage: vi.fn<AppActions['sendMessage']>().mockResolvedValue(),
    changeMessage: vi.fn<AppActions['changeMessage']>().mockResolvedValue(),
    forwardMessage: vi.fn<AppActions['forwardMessage']>().mockResolvedValue(),
    deleteMessageHere: vi.fn<AppActions['deleteMessageHere']>().mockResolvedValue(),
    messageVersions: vi.fn<AppActions['messageVersions']>().mockResolvedValue([]),
    retryMessage: vi.fn<AppActions['retryMessage']>().mockResolvedValue(),
    messageEvidence: vi.fn<AppActions['messageEvidence']>().mockRejectedValue(new Error('none')),
    saveView: vi.fn<AppActions['saveView']>().mockResolvedValue(''),
    compareView: vi.fn<AppActions['compareView']>().mockRejectedValue(new Error('none')),
    lastSent: vi.fn<AppActions['lastSent']>().mockResolvedValue(null),
    loadStars: vi.fn<AppActions['loadStars']>().mockResolvedValue(),
    setStar: vi.fn<AppActions['setStar']>().mockResolvedValue(),
    setPinned: vi.fn<AppActions['setPinned']>().mockResolvedValue(),
    setMessageTimer: vi.fn<AppActions['setMessageTimer']>().mockResolvedValue(),
    settleDoubt: vi.fn<AppActions['settleDoubt']>().mockResolvedValue(),
    discardMessage: vi.fn<AppActions['discardMessage']>().mockResolvedValue(),
    openGroup: vi.fn<AppActions['openGroup']>().mockResolvedValue(),
    createGroup: vi.fn<AppActions['createGroup']>().mockResolvedValue('group-id'),
    addGroupMembers: vi
      .fn<AppActions['addGroupMembers']>()
      .mockResolvedValue({ asked: [], withoutDevice: [] }),
    updateAskedFirst: vi.fn<AppActions['updateAskedFirst']>().mockResolvedValue(false),
    updateGroupInvitations: vi.fn<AppActions['updateGroupInvitations']>().mockResolvedValue(undefined),
    removeGroup: vi.fn<AppActions['removeGroup']>().mockResolvedValue(),
    leaveGroup: vi.fn<AppActions['leaveGroup']>().mockResolvedValue(),
    deleteGroup: vi.fn<AppActions['deleteGroup']>().mockResolvedValue(),
    loadGroupDetails: vi.fn<AppActions['loadGroupDetails']>().mockResolvedValue(),
    readNotification: vi.fn<AppActions['readNotification']>().mockResolvedValue(),
    readAllNotifications: vi.fn<AppActions['readAllNotifications']>().mockResolvedValue(),
    deleteNotification: vi.fn<AppActions['deleteNotification']>().mockResolvedValue(),
    setBackupKept: vi.fn<AppActions['setBackupKept']>().mockResolvedValue(),
    readLocal: vi.fn<AppActions['readLocal']>().mockResolvedValue(null),
    writeLocal: vi.fn<AppActions['writeLocal']>().mockResolvedValue(),
  };
}

/** A store with actions in it and, unless told otherwise, Aino signed in. */
export function createWorld({ signedIn = true } = {}) {
  const store = createStore();
  const actions = fakeActions();
  store.set(actionsAtom, actions);
  store.set(authStatusAtom, signedIn ? 'success' : 'idle');
  if (signedIn) store.set(currentUserAtom, aino);
  return {
    store,
    actions,
    /** The toasts asked for so far. */
    toasts: () => store.get(toastsAtom).map(({ kind, text }) => `${kind}: ${text}`),
    /** At `path`; the address is shown too, as `address: …`. */
    show: (element: ReactNode, path = '/') => {
      render(
        <Provider store={store}>
          <MemoryRouter initialEntries={[path]}>
            {element}
            <Address />
          </MemoryRouter>
        </Provider>,
      );
      return userEvent.setup();
    },
  };
}

/** Lets `openChat` and `openGroup` change the open conversation, as the services do. */
export function withOpening({
  actions,
  store,
}: Pick<ReturnType<typeof createWorld>, 'actions' | 'store'>): void {
  actions.openChat.mockImplementation(async (userId) => {
    if (userId !== null || store.get(activeGroupAtom) === null) store.set(activeConversationAtom, userId);
  });
  actions.openGroup.mockImplementation(async (groupId) => {
    if (groupId !== null) store.set(activeConversationAtom, groupKeyOf(groupId));
    else if (store.get(activeChatAtom) === null) store.set(activeConversationAtom, null);
  });
}

function Address() {
  const { pathname, search } = useLocation();
  return <p>{`address: ${pathname}${search}`}</p>;
}

export function loaded<T>(...items: T[]): LoadedList<T> {
  return { items, loading: false, loaded: true, error: null };
}

/** With what was kept of it. */
export function failed<T>(error: string, ...items: T[]): LoadedList<T> {
  return { ...unloadedList, items, error };
}

let nextSeq = 1;

export function message(
  senderId: string,
  content: string | MessageContent,
  rest: Partial<MessageView> = {},
): MessageView {
  const seq = nextSeq++;
  return {
    conversationId: 'direct:aino-id:veikko-id',
    messageId: `message-${seq}`,
    seq,
    senderId,
    senderDeviceId: 'device',
    timestamp: '2026-06-01T12:00:00.000Z',
    status: senderId === aino.id ? 'sent' : 'received',
    content: typeof content === 'string' ? { kind: 'text', text: content } : content,
    ...rest,
  };
}

export function chat(messages: readonly MessageView[], state: Partial<ConversationState> = {}): Chat {
  return {
    state: {
      conversationId: 'direct:aino-id:veikko-id',
      status: 'joined',
      epoch: 1,
      lastSeq: messages.at(-1)?.seq ?? 0,
      joinedSeq: 0,
      readSeq: 0,
      readHere: 0,
      receipts: [],
      receiptDue: false,
      unread: 0,
      lastMessage: messages.at(-1) ?? null,
      members: [],
      joinedAt: null,
      linkFrom: null,
      timer: 0,
      pinned: [],
      isPinnedFull: false,
      isDoubted: false,
      group: null,
      ...state,
    },
    messages,
    loading: false,
    hasOlder: false,
  };
}
