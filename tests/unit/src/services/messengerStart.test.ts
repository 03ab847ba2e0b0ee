import { beforeEach, describe, expect, it, vi } from 'vitest';
import { timings } from '#src/services/core/timings.ts';
import { offlineAtom } from '#src/store/connection.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  bert,
  deps,
  listContacts,
  listGroups,
  listNotifications,
  messenger,
  onDisconnected,
  onUnauthorized,
  openSession,
  realtime,
  realtimeListeners,
  relay,
  setConnected,
  withMessenger,
} from './support/messenger.ts';

withMessenger();

describe('the start of a session', () => {
  /** Counts what each list was asked for, besides the log. */
  const asked = () => [listContacts, listGroups, listNotifications].map(({ mock }) => mock.calls.length);

  function subscribe(): void {
    setConnected(true);
    realtimeListeners.onStatus('connected');
  }

  beforeEach(async () => {
    messenger.stop();
    await openSession(false);
    vi.clearAllMocks();
    relay.calls.length = 0;
  });

  it('reads everything once, when its subscription is confirmed', async () => {
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

  it('reads at once when the subscription was confirmed before the session', async () => {
    subscribe();
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts', 'requests', 'sent-requests'] });
    await settled();
    expect(asked()).toEqual([0, 0, 0]);
    messenger.connect();
    await settled();
    expect(asked()).toEqual([1, 1, 1]);
  });

  it('reads without the subscription when that takes too long, and again when it is confirmed', async () => {
    messenger.connect();
    await deps.clock.advance(timings.subscriptionPatience);
    expect(asked()).toEqual([1, 1, 1]);
    listContacts.mockResolvedValue([bert, { ...bert, id: 'late' }]);
    subscribe();
    await settled();
    expect(asked()).toEqual([2, 2, 2]);
    expect(deps.store.get(contactsAtom).items).toHaveLength(2);
  });

  it('reads at once when the real-time connection is down', async () => {
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

describe('a relay that is found again', () => {
  beforeEach(() => {
    deps.store.set(offlineAtom, true);
    setConnected(false);
    realtimeListeners.onStatus('reconnecting');
    vi.clearAllMocks();
  });

  it('reads everything once, whichever is back first', async () => {
    setConnected(true);
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
    setConnected(true);
    realtimeListeners.onStatus('connected');
    await settled();
    expect(listContacts).toHaveBeenCalledOnce();
  });
});

describe('until the relay has deleted the account', () => {
  it('nothing is asked, and everything is read again when the deletion fails', async () => {
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
