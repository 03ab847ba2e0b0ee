import type { Timer } from '../../lib/clock.ts';
import type { IncomingEvent } from '../../net/contract.ts';
import type { RealtimeListeners } from '../../net/mqtt.ts';
import { offlineAtom, realtimeStatusAtom } from '../../store/connection.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import { updateGroupInvitations } from '../groups/invitationsOnDemand.ts';
import { createCatchUp } from './catchUp.ts';
import type { Services } from './services.ts';

export interface RelayConnectionOptions {
  readonly deps: SessionDeps;
  readonly isActive: () => boolean;
  readonly services: Services;
  readonly handle: (event: IncomingEvent) => Promise<void>;
  readonly hasToken: () => boolean;
  readonly onConnected: () => void;
  /** Called when the real-time connection was up, and is no more. */
  readonly onDisconnected: () => void;
  /** Called when the relay refuses the token in real time: the session is worth a check. */
  readonly onUnauthorized: RealtimeListeners['onUnauthorized'];
  readonly background: Background;
}

/** The talk of a session with the relay: in real time, and by asking at intervals. */
export interface RelayConnection {
  /** Opens the real-time connection ahead of {@link connect}, because that takes a while. */
  prepare(): void;
  /** Begins to talk with the relay, in the background. */
  connect(): void;
  /** Stops everything until {@link connect}. */
  disconnect(): void;
  /** Catches up, because the relay can be reached again. */
  onReachable(): void;
  /** Tells the relay whether the person is here; before the page goes, while there is a socket to say it. */
  setPresent(present: boolean): void;
}

export function createRelayConnection(options: RelayConnectionOptions): RelayConnection {
  const { background, deps, hasToken, services } = options;
  const { clock, sessionEvents, store } = deps;
  const { contacts, groupList, messageBackup, notifications, openConversation } = services;
  const { outbox, ownDevices, presence, realtime, receipts, security, sync } = services;
  /** From connect() on, until disconnect(). */
  let talking = false;
  let timers: Timer[] = [];
  /** Something that the relay had told could not be taken in, as on a full disk: nothing tells of it again. */
  let isBehind = false;

  /** Starts a task after whose failure the log is asked, although the real-time connection is up. */
  function startOrAskLater(task: () => Promise<unknown>): void {
    background(async () => {
      try {
        await task();
      } catch (error) {
        isBehind = true;
        throw error;
      }
    });
  }

  async function syncAndSend(): Promise<void> {
    // Waiting messages can leave even when some conversation could not be brought up to date.
    try {
      // Nothing is said to a device that was revoked meanwhile.
      await Promise.all([sync.syncAll(), security.devices.catchUp()]);
    } finally {
      await outbox.flushAll();
    }
    background(() => receipts.refreshOpen());
    background(() => ownDevices.settle());
  }

  const catchUp = createCatchUp({
    clock,
    isHearing: () => realtime.isConnected(),
    background: startOrAskLater,
    read() {
      openConversation.markRead();
      // The log first: the copies are for what it doesn't have.
      const refreshed = security.refresh();
      // And only once it is known whether another device has renewed the keys.
      const caughtUp = syncAndSend().finally(() =>
        background(() => refreshed.then(() => messageBackup.sync())),
      );
      background(() => updateGroupInvitations(deps));
      return Promise.all([contacts.load(), groupList.load(), notifications.load(), caughtUp, refreshed]);
    },
  });

  sessionEvents.on('realtimeChanged', ({ status }) => {
    // Sockets may report their end after the session is over.
    if (!options.isActive()) return;
    const wasConnected = store.get(realtimeStatusAtom) === 'connected';
    store.set(realtimeStatusAtom, status);
    if (!talking) return;
    if (status === 'connected') {
      options.onConnected();
      // While offline, the relay has first to be found again, upon which onReachable() is called.
      if (!store.get(offlineAtom)) catchUp.now();
    } else {
      if (wasConnected) options.onDisconnected();
      if (status === 'reconnecting') catchUp.stopWaiting();
    }
  });
  sessionEvents.on('realtimeReceived', ({ event }) => {
    // The first reading contains what came before it.
    if (talking) startOrAskLater(() => options.handle(event));
  });
  sessionEvents.on('tokenRefused', ({ code, token }) => {
    // Until connect() the session is being confirmed, which says itself whether the token holds.
    if (talking) options.onUnauthorized(token, code);
  });

  function startPolling(): Timer[] {
    return [
      clock.every(timings.contactsPolling, () => {
        if (hasToken()) background(() => contacts.poll());
      }),
      clock.every(timings.notificationPolling, () => {
        if (hasToken()) background(() => notifications.poll());
      }),
      clock.every(timings.backupPolling, () => {
        if (hasToken() && !store.get(offlineAtom)) background(() => messageBackup.sync());
      }),
      clock.every(timings.syncPolling, () => {
        if (!hasToken()) return;
        if (realtime.isConnected() && !isBehind) return background(() => outbox.flushLeft());
        isBehind = false;
        background(() => groupList.poll());
        startOrAskLater(syncAndSend);
      }),
    ];
  }

  return {
    prepare: () => realtime.open(),

    connect() {
      talking = true;
      timers = startPolling();
      realtime.open();
      presence.open();
      catchUp.soon();
    },

    disconnect() {
      talking = false;
      catchUp.cancel();
      for (const timer of timers) timer.cancel();
      timers = [];
      realtime.close();
      presence.close();
    },

    onReachable() {
      realtime.reconnectNow();
      presence.reconnectNow();
      catchUp.soon();
    },

    setPresent(present) {
      if (!present) presence.close();
      else if (talking) presence.open();
    },
  };
}
