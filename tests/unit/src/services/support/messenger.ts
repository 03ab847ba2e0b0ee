import { IDBFactory } from 'fake-indexeddb';
import { beforeEach, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import type { IncomingEvent } from '#src/net/contract.ts';
import type { Realtime, RealtimeListeners } from '#src/net/mqtt.ts';
import type { PresenceListeners } from '#src/net/presence.ts';
import { createMessenger, type Messenger } from '#src/services/client/messenger.ts';
import { chatsAtom } from '#src/store/chats.ts';
import { settled } from '../../net/support/fakeClock.ts';
import { me, peer, type TestDeps, testDeps, uneventful } from './deps.ts';
import { SimulatedDevice, SimulatedRelay } from './simulation.ts';

export const bert = { id: peer, username: 'bert', email: 'bert@example.org' };

export let relay: SimulatedRelay;
export let device: SimulatedDevice;
export let worker: Partial<CryptoApi>;
export let deps: TestDeps;
let signedIn: boolean;
let connected: boolean;
export let realtimeListeners: RealtimeListeners;
export let presenceListeners: PresenceListeners;
export let messenger: Messenger;
export const listContacts = vi.fn<Api['listContacts']>();
export const listGroups = vi.fn<Api['listGroups']>();
export const listNotifications = vi.fn<Api['listNotifications']>();
export const topUpKeyPackages = vi.fn<() => Promise<void>>();
export const onDisconnected = vi.fn<() => void>();
export const onUnauthorized = vi.fn<RealtimeListeners['onUnauthorized']>();
export const realtime = {
  open: vi.fn<() => void>(),
  reconnectNow: vi.fn<() => void>(),
  close: vi.fn<() => void>(),
  watch: vi.fn<Realtime['watch']>(),
  publish: vi.fn<Realtime['publish']>(),
  publishFleeting: vi.fn<Realtime['publishFleeting']>(),
  isConnected: () => connected,
};
export const presence = {
  open: vi.fn<() => void>(),
  reconnectNow: vi.fn<() => void>(),
  close: vi.fn<() => void>(),
};

/** The next session of this browser. */
export async function openSession(isConnected: boolean): Promise<void> {
  connected = isConnected;
  messenger = createMessenger({
    deps,
    relay: { host: '', token: () => null },
    indexedDB: new IDBFactory(),
    userId: me,
    hasToken: () => signedIn,
    isVisible: () => true,
    showsReceipts: () => true,
    showsTyping: () => true,
    onConnected: () => undefined,
    onDisconnected,
    onUnauthorized,
    leaveForLogin: () => undefined,
    onDeviceRevoked: () => Promise.resolve(),
    topUpKeyPackages,
    registerDevice: () => Promise.resolve(),
    tellTabs: () => undefined,
    signalTabs: () => undefined,
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

/** A session that talks with a relay, anew for each test. */
export function withMessenger(): void {
  beforeEach(begin);
}

async function begin(): Promise<void> {
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
      listGroupInvitations: async () => [],
      markDelivered: () => Promise.resolve(undefined),
      ...uneventful.api,
    },
    crypto: { ...uneventful.crypto, ...worker },
  });
  await openSession(true);
  messenger.connect();
  await settled();
  relay.calls.length = 0;
}

/** Sets whether MQTT is up. */
export function setConnected(isConnected: boolean): void {
  connected = isConnected;
}

/** Sets whether the person has a token. */
export function setSignedIn(isSignedIn: boolean): void {
  signedIn = isSignedIn;
}

export async function receive(event: IncomingEvent): Promise<void> {
  realtimeListeners.onEvent(event);
  await settled();
}

export const chat = () => deps.store.get(chatsAtom)[peer];
