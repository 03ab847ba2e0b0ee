import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '../../../../src/crypto/client.ts';
import type { Api } from '../../../../src/net/api.ts';
import type { IncomingEvent } from '../../../../src/net/contract.ts';
import type { Realtime, RealtimeListeners } from '../../../../src/net/mqtt.ts';
import type { PresenceListeners } from '../../../../src/net/presence.ts';
import { createMessenger, type Messenger } from '../../../../src/services/client/messenger.ts';
import { timings } from '../../../../src/services/core/timings.ts';
import { activeConversationAtom, chatsAtom } from '../../../../src/store/chats.ts';
import { offlineAtom, presenceAtom, realtimeStatusAtom } from '../../../../src/store/connection.ts';
import { contactsAtom } from '../../../../src/store/contacts.ts';
import { groupsAtom } from '../../../../src/store/groups.ts';
import { unloadedList } from '../../../../src/store/loadedList.ts';
import { notificationsAtom } from '../../../../src/store/notifications.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, state, type TestDeps, testDeps, uneventful } from './support/deps.ts';
import { SimulatedDevice, SimulatedRelay } from './support/simulation.ts';

const bert = { id: peer, username: 'bert', email: 'bert@example.org' };

let relay: SimulatedRelay;
let device: SimulatedDevice;
let worker: Partial<CryptoApi>;
let deps: TestDeps;
let signedIn: boolean;
let connected: boolean;
let realtimeListeners: RealtimeListeners;
let presenceListeners: PresenceListeners;
let messenger: Messenger;
const listContacts = vi.fn<Api['listContacts']>();
const listGroups = vi.fn<Api['listGroups']>();
const listNotifications = vi.fn<Api['listNotifications']>();
const topUpKeyPackages = vi.fn<() => Promise<void>>();
const onDisconnected = vi.fn<() => void>();
const onUnauthorized = vi.fn<RealtimeListeners['onUnauthorized']>();
const realtime = {
  open: vi.fn<() => void>(),
  reconnectNow: vi.fn<() => void>(),
  close: vi.fn<() => void>(),
  watch: vi.fn<Realtime['watch']>(),
  publish: vi.fn<Realtime['publish']>(),
  isConnected: () => connected,
};
const presence = {
  open: vi.fn<() => void>(),
  reconnectNow: vi.fn<() => void>(),
  close: vi.fn<() => void>(),
};

/** The next session of this browser. */
async function openSession(isConnected: boolean): Promise<void> {
  connected = isConnected;
  messenger = createMessenger({
    deps,
    userId: me,
    hasToken: () => signedIn,
    isVisible: () => true,
    onConnected: () => undefined,
    onDisconnected,
    onUnauthorized,
    leaveForLogin: () => undefined,
    onDeviceRevoked: () => Promise.resolve(),
    topUpKeyPackages,
    createRealtime: (listeners) => {
      realtimeListeners = listeners;
      return realtime;
    },
    createPresence: (listeners) => {
      presenceListeners = listeners;
      return presence;
    },
  });
  await messenger.start();
}

beforeEach(async () => {
  vi.clearAllMocks();
  listContacts.mockResolvedValue([bert]);
  listGroups.mockResolvedValue([]);
  listNotifications.mockResolvedValue([]);
  topUpKeyPackages.mockResolvedValue(undefined);
  signedIn = true;
  connected = true;
  relay = new SimulatedRelay();
  device = new SimulatedDevice();
  worker = device.api();
  deps = testDeps({
    api: {
      ...relay.apiFor(me, 'own-device'),
      listContacts,
      listContactRequests: () => Promise.resolve([]),
      listSentRequests: () => Promise.resolve([]),
      listGroups,
      listNotifications,
      markDelivered: () => Promise.resolve(undefined),
      ...uneventful.api,
    },
    crypto: { ...uneventful.crypto, ...worker },
  });
  await openSession(true);
  messenger.connect();
  await settled();
  relay.calls.length = 0;
});

async function receive(event: IncomingEvent): Promise<void> {
  realtimeListeners.onEvent(event);
  await settled();
}

const chat = () => deps.store.get(chatsAtom)[peer];

describe('a session', () => {
  it('opens both connections and loads the contacts', () => {
    expect(realtime.open).toHaveBeenCalled();
    expect(presence.open).toHaveBeenCalledOnce();
    expect(deps.store.get(contactsAtom).items).toEqual([bert]);
  });

  it('shows the state of the connection, and syncs when it comes up', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    realtimeListeners.onStatus('connected');
    await settled();
    expect(deps.store.get(realtimeStatusAtom)).toBe('connected');
    expect(chat()?.state?.lastSeq).toBe(2);
  });

  it('tells when the connection is lost, not when it does not come up', () => {
    realtimeListeners.onStatus('reconnecting');
    expect(onDisconnected).not.toHaveBeenCalled();
    realtimeListeners.onStatus('connected');
    realtimeListeners.onStatus('reconnecting');
    realtimeListeners.onStatus('connecting');
    expect(onDisconnected).toHaveBeenCalledOnce();
  });

  it('sends what was left waiting, although syncing failed', async () => {
    relay.begin(peer, 0);
    Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1, joinedSeq: 1 });
    await worker.queueMessage?.({
      conversationId,
      messageId: 'left',
      text: 'left over',
      sentAt: '2026-03-01T12:00:00.000Z',
    });
    connected = false;
    relay.before = (call) => {
      if (call === 'listConversations') throw new Error('broken');
    };
    realtimeListeners.onStatus('connected');
    await settled();
    expect(relay.log.at(-1)?.content).toBe('left over');
  });
});

describe('a start', () => {
  /** What each list was asked for, besides the log. */
  const asked = () => [listContacts, listGroups, listNotifications].map(({ mock }) => mock.calls.length);

  function subscribe(): void {
    connected = true;
    realtimeListeners.onStatus('connected');
  }

  beforeEach(async () => {
    messenger.stop();
    await openSession(false);
    vi.clearAllMocks();
    relay.calls.length = 0;
  });

  it('reads everything once, when it hears of what comes after', async () => {
    messenger.connect();
    await settled();
    expect(asked()).toEqual([0, 0, 0]);
    subscribe();
    await settled();
    expect(asked()).toEqual([1, 1, 1]);
    expect(relay.calls).toEqual(['listWelcomes', 'listConversations']);
    await deps.clock.advance(timings.subscriptionPatience);
    expect(asked()).toEqual([1, 1, 1]);
  });

  it('reads at once where it has been heard before the relay has confirmed the session', async () => {
    subscribe();
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts', 'requests', 'sent-requests'] });
    await settled();
    expect(asked()).toEqual([0, 0, 0]);
    messenger.connect();
    await settled();
    expect(asked()).toEqual([1, 1, 1]);
  });

  it('reads without it when that takes too long, and once more with it: what came between was not told', async () => {
    messenger.connect();
    await deps.clock.advance(timings.subscriptionPatience);
    expect(asked()).toEqual([1, 1, 1]);
    listContacts.mockResolvedValue([bert, { ...bert, id: 'late' }]);
    subscribe();
    await settled();
    expect(asked()).toEqual([2, 2, 2]);
    expect(deps.store.get(contactsAtom).items).toHaveLength(2);
  });

  it('reads at once when there is nothing to wait for', async () => {
    messenger.connect();
    realtimeListeners.onStatus('reconnecting');
    await settled();
    expect(asked()).toEqual([1, 1, 1]);
    await deps.clock.advance(timings.subscriptionPatience);
    expect(asked()).toEqual([1, 1, 1]);
  });

  it('reads again what changes while it reads for the first time', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    // As the lists were when they were asked for.
    listContacts.mockImplementationOnce(() => answered.then(() => []));
    listGroups.mockImplementationOnce(() => answered.then(() => []));
    messenger.connect();
    subscribe();
    await settled();
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts', 'requests', 'sent-requests'] });
    realtimeListeners.onEvent({ type: 'groups' });
    await settled();
    expect(asked()).toEqual([1, 1, 1]);
    answer();
    await settled();
    expect(asked()).toEqual([2, 2, 1]);
    expect(deps.store.get(contactsAtom).items).toEqual([bert]);
  });

  it('lets the session be confirmed before a refusal of the token counts', () => {
    realtimeListeners.onUnauthorized('token', 'session-expired');
    expect(onUnauthorized).not.toHaveBeenCalled();
    messenger.connect();
    realtimeListeners.onUnauthorized('token', 'session-expired');
    expect(onUnauthorized).toHaveBeenCalledExactlyOnceWith('token', 'session-expired');
  });
});

describe('being found again', () => {
  beforeEach(() => {
    deps.store.set(offlineAtom, true);
    connected = false;
    realtimeListeners.onStatus('reconnecting');
    vi.clearAllMocks();
  });

  it('reads everything once, whichever is back first', async () => {
    connected = true;
    realtimeListeners.onStatus('connected');
    await settled();
    expect(listContacts).not.toHaveBeenCalled();
    deps.store.set(offlineAtom, false);
    messenger.onReachable();
    await settled();
    expect(listContacts).toHaveBeenCalledOnce();
  });

  it('waits for the connection that is on its way', async () => {
    deps.store.set(offlineAtom, false);
    messenger.onReachable();
    await settled();
    expect(realtime.reconnectNow).toHaveBeenCalledOnce();
    expect(listContacts).not.toHaveBeenCalled();
    connected = true;
    realtimeListeners.onStatus('connected');
    await settled();
    expect(listContacts).toHaveBeenCalledOnce();
  });
});

describe('until the relay has deleted the account', () => {
  it('nothing is asked, and a failure takes the talk up again', async () => {
    messenger.disconnect();
    vi.clearAllMocks();
    realtimeListeners.onStatus('closed');
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts', 'requests', 'sent-requests'] });
    await deps.clock.advance(60_000);
    expect(listContacts).not.toHaveBeenCalled();
    expect(onDisconnected).not.toHaveBeenCalled();
    messenger.connect();
    await settled();
    expect(listContacts).toHaveBeenCalledOnce();
  });
});

describe('an event', () => {
  it('with an entry is processed and told to the page', async () => {
    relay.begin(peer, 0);
    relay.welcome('own-device', 1);
    await receive({ type: 'welcome', conversationId });
    const heard = vi.fn<(event: Event) => void>();
    deps.events.addEventListener('ws-message', heard);
    const entry = relay.append('application', 'live', peer);
    await receive({
      type: 'message',
      conversationId,
      messageId: entry.id,
      senderId: peer,
      senderDeviceId: entry.sender_device_id,
      seq: entry.seq,
      epoch: entry.epoch,
      content: entry.content,
      timestamp: entry.timestamp,
    });
    expect(chat()?.state?.lastSeq).toBe(2);
    expect(heard.mock.calls[0]?.[0]).toMatchObject({ detail: { type: 'message', userId: peer } });
  });

  it('with a Welcome joins, empties the mailbox and tops up KeyPackages', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await receive({ type: 'welcome', conversationId });
    expect(chat()?.state?.status).toBe('joined');
    expect(relay.welcomes.get('own-device')).toEqual([]);
    expect(topUpKeyPackages).toHaveBeenCalledOnce();
  });

  it('of an entry too large to be sent along has it fetched', async () => {
    relay.begin(peer, 2);
    relay.welcome('own-device', 1);
    await receive({ type: 'available', conversationId, seq: 3 });
    expect(chat()?.state?.lastSeq).toBe(3);
  });

  it('of changed groups has them read again', async () => {
    await receive({ type: 'groups' });
    expect(listGroups).toHaveBeenCalledTimes(2);
  });

  it('of changed contacts has those lists read again', async () => {
    await receive({ type: 'contacts', lists: ['contacts'] });
    expect(listContacts).toHaveBeenCalledTimes(2);
  });

  it('about a group that was forgotten brings nothing of it back', async () => {
    const groupId = '00000000-0000-4000-8000-0000000000a1';
    const ofGroup = state({ conversationId: `group:${groupId}`, status: 'outside', lastSeq: 0 });
    Object.assign(deps.crypto, {
      conversation: async () => ofGroup,
      setReadPosition: async () => ofGroup,
      forgetConversation: async () => undefined,
    });
    const late = {
      type: 'delivered',
      conversationId: ofGroup.conversationId,
      messageId: peer,
      seq: 3,
    } as const;
    const shown = () => Object.keys(deps.store.get(chatsAtom));
    await messenger.groups.remove(groupId);
    await receive({ ...late, readerId: me });
    expect(shown()).not.toContain(`group-${groupId}`);
  });

  it('about a conversation of others is ignored', async () => {
    const foreign = `direct:${peer}:00000000-0000-4000-8000-000000000009`;
    await receive({ type: 'welcome', conversationId: foreign });
    await receive({ type: 'available', conversationId: foreign, seq: 1 });
    expect(relay.calls).toEqual([]);
  });

  it('of presence reaches the map by either way', async () => {
    presenceListeners.onOnlineUsers([peer]);
    const known = () => deps.store.get(presenceAtom);
    expect(known()).toEqual({ online: { [peer]: true }, listed: true });
    realtimeListeners.onPresence({ userId: peer, online: false });
    expect(known()).toEqual({ online: { [peer]: false }, listed: true });
    presenceListeners.onLost();
    await deps.clock.advance(5_000);
    expect(known()).toEqual({ online: {}, listed: false });
  });
});

describe('every 10 seconds', () => {
  it('the contacts are read again', async () => {
    await deps.clock.advance(10_000);
    expect(listContacts).toHaveBeenCalledTimes(2);
  });

  it('the log is asked only while MQTT is down', async () => {
    await deps.clock.advance(10_000);
    expect(relay.calls).toEqual([]);
    connected = false;
    await deps.clock.advance(10_000);
    expect(relay.calls).toContain('listConversations');
  });

  it('nothing is asked without a token', async () => {
    signedIn = false;
    connected = false;
    await deps.clock.advance(30_000);
    expect(relay.calls).toEqual([]);
    expect(listContacts).toHaveBeenCalledTimes(1);
  });
});

describe('notifications', () => {
  it('are asked for every ten seconds', async () => {
    expect(listNotifications).toHaveBeenCalledOnce();
    await deps.clock.advance(10_000);
    expect(listNotifications).toHaveBeenCalledTimes(2);
    signedIn = false;
    await deps.clock.advance(10_000);
    expect(listNotifications).toHaveBeenCalledTimes(2);
  });
});

describe('after the session', () => {
  it('nothing of it is left on screen or on the clock', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await messenger.openConversation.open(peer);
    await settled();
    messenger.stop();
    expect(deps.store.get(chatsAtom)).toEqual({});
    expect(deps.store.get(activeConversationAtom)).toBeNull();
    expect(deps.store.get(contactsAtom)).toEqual(unloadedList);
    expect(deps.store.get(groupsAtom)).toEqual(unloadedList);
    expect(deps.store.get(notificationsAtom)).toEqual(unloadedList);
    expect(realtime.close).toHaveBeenCalledOnce();
    expect(presence.close).toHaveBeenCalledOnce();
    expect(deps.clock.pending).toBe(0);
  });

  it("opening a chat no longer looks at the other person's devices", async () => {
    const userDevices = vi.fn<Api['userDevices']>().mockResolvedValue([]);
    Object.assign(deps.api, { userDevices });
    messenger.stop();
    await openSession(true);
    messenger.stop();
    deps.store.set(activeConversationAtom, peer);
    await settled();
    expect(userDevices).not.toHaveBeenCalled();
  });

  it('a late answer does not reach the screen of the next one', async () => {
    let answer: () => void = () => undefined;
    listContacts.mockReturnValue(
      new Promise((resolve) => {
        answer = () => resolve([bert, { ...bert, id: me }]);
      }),
    );
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts'] });
    realtimeListeners.onEvent({ type: 'welcome', conversationId });
    messenger.stop();
    answer();
    await settled();
    expect(deps.store.get(contactsAtom).items).toEqual([]);
    expect(deps.store.get(chatsAtom)).toEqual({});
    expect(deps.lines).toEqual([]);
  });
});
