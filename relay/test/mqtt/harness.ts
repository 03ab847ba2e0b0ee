import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { topics } from '../../contract/index.ts';
import { deviceRequired, type Sender, type Session } from '../../src/auth/session.ts';
import { ApiError } from '../../src/errors.ts';
import type { NewMessage } from '../../src/messaging/newEntries.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import type { ConnectionOptions } from '../../src/mqtt/connection.ts';
import { attachMqtt } from '../../src/mqtt/gateway.ts';
import { LocalOnlineUsers } from '../../src/presence/onlineUsers.ts';
import { attachPresence } from '../../src/presence/presence.ts';
import type { PresenceOptions } from '../../src/presence/presenceSocket.ts';
import { Hub, type SignalListener, type TopicListener, type Unsubscribe } from '../../src/realtime/hub.ts';
import { OpenConnections } from '../../src/realtime/openConnections.ts';
import { attachUpgrades } from '../../src/realtime/upgrade.ts';
import { WaitingBytes } from '../../src/realtime/waitingBytes.ts';
import { eventually } from '../eventually.ts';

export interface Person {
  readonly id: string;
  readonly token: string;
  readonly session: Session;
}

interface HarnessOptions {
  readonly mqtt?: Partial<ConnectionOptions>;
  readonly presence?: Partial<PresenceOptions>;
  readonly allowedOrigins?: readonly string[];
  readonly trustProxy?: boolean;
}

const sentAt = '2026-03-01T12:00:00.000Z';

/** Knows who still listens, so that a connection that leaves something behind is found. */
class CountingHub extends Hub {
  readonly listeners = new Set<object>();

  override subscribe(topic: string, listener: TopicListener): Unsubscribe {
    return this.#count(super.subscribe(topic, listener));
  }

  override onSignal(id: string, listener: SignalListener): Unsubscribe {
    return this.#count(super.onSignal(id, listener));
  }

  override onInterruption(listener: () => void): Unsubscribe {
    return this.#count(super.onInterruption(listener));
  }

  #count(unsubscribe: Unsubscribe): Unsubscribe {
    const counted = () => {
      this.listeners.delete(counted);
      unsubscribe();
    };
    this.listeners.add(counted);
    return counted;
  }
}

/** The gateway and the presence socket on a real HTTP server, over sessions, contacts and a log held in memory. */
export async function startRealtime(options: HarnessOptions = {}) {
  const logLines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => void logLines.push(line) });
  const hub = new CountingHub((error) => log.error({ err: error }, 'listener failed'));
  const sessions = new Map<string, Session>();
  const pairs = new Set<string>();
  const blocked = new Set<string>();
  const stored: NewMessage[] = [];
  const pairOf = (one: string, other: string) => [one, other].toSorted().join(' ');

  const state = {
    /** Runs inside `send`, before the message is stored: to hold it back or to refuse it. */
    beforeCommit: (_message: NewMessage): Promise<void> => Promise.resolve(),
    /** Runs inside `verify`, before the answer is looked up. */
    beforeVerify: (): Promise<void> => Promise.resolve(),
    /** Runs inside `areContacts` and `visibleIdsOf`, before the answer is looked up. */
    beforeContacts: (): Promise<void> => Promise.resolve(),
  };

  const services = {
    hub,
    onlineUsers: new LocalOnlineUsers(hub),
    log,
    clock: () => Date.now(),
    sessions: {
      verify: async (token: string) => {
        await state.beforeVerify();
        const session = sessions.get(token);
        if (session === undefined) throw new ApiError('unauthenticated', 'Sign in first.');
        if (session.expiresAt <= Date.now()) throw new ApiError('session-expired', 'Sign in again.');
        return session;
      },
    },
    rateLimiter: { take: () => Promise.resolve() },
    diskReserve: { requireRoom: () => undefined },
    connections: new OpenConnections(),
    contacts: {
      areContacts: async (userId: string, otherId: string) => {
        await state.beforeContacts();
        return pairs.has(pairOf(userId, otherId));
      },
      isBlocked: async (userId: string, otherId: string) => blocked.has(pairOf(userId, otherId)),
      visibleIdsOf: async (userId: string) => {
        await state.beforeContacts();
        const mine = [...pairs].map((pair) => pair.split(' ')).filter((pair) => pair.includes(userId));
        return mine.flatMap((pair) => pair.filter((id) => id !== userId));
      },
    },
    groups: { isMember: async () => false },
    messaging: {
      tellTyping: () => Promise.reject(new ApiError('not-a-contact', 'You are not contacts.')),
      sendToGroup: () => Promise.reject(new ApiError('not-found', 'There is no such group.')),
      send: async (sender: Sender, message: NewMessage) => {
        const session = [...sessions.values()].find(({ id }) => id === sender.id);
        if (session?.deviceId === null) throw deviceRequired();
        if (!pairs.has(pairOf(sender.userId, message.recipientId))) {
          throw new ApiError('not-a-contact', 'You are not contacts.');
        }
        await state.beforeCommit(message);
        stored.push(message);
        const seq = stored.length;
        const payload = JSON.stringify({ type: 'available', conversationId: 'direct', seq });
        hub.publish(topics.userMessages(sender.userId), payload);
        hub.publish(topics.userMessages(message.recipientId), payload);
        return { id: message.messageId, seq, epoch: message.epoch, timestamp: sentAt };
      },
    },
  };

  const server = createServer();
  const config = {
    allowedOrigins: options.allowedOrigins ?? [],
    trustProxy: options.trustProxy ?? false,
  };
  const upgrades = attachUpgrades(server, config, {
    ...services,
    metrics: new Metrics(),
    waiting: new WaitingBytes(),
  });
  const gateway = attachMqtt(upgrades, services, options.mqtt);
  const presence = attachPresence(upgrades, services, options.presence);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    host: `127.0.0.1:${port}`,
    mqttUrl: `ws://127.0.0.1:${port}/mqtt`,
    presenceUrl: `ws://127.0.0.1:${port}/ws/presence/`,
    hub,
    state,
    stored,
    logLines,
    gateway,
    presence,
    upgrades,

    signUp(session: Partial<Session> = {}): Person {
      const id = randomUUID();
      const token = `token-of-${id}`;
      const full = {
        id: randomUUID(),
        userId: id,
        deviceId: randomUUID(),
        createdAt: Date.now(),
        expiresAt: Date.now() + 3_600_000,
        ...session,
      };
      sessions.set(token, full);
      return { id, token, session: full };
    },
    /** Registers a device, with which the session lives for another hour. */
    bindDevice(person: Person): void {
      const expiresAt = Date.now() + 3_600_000;
      sessions.set(person.token, { ...person.session, deviceId: randomUUID(), expiresAt });
    },
    signOut(person: Person): void {
      sessions.delete(person.token);
      hub.signal({ type: 'session-ended', sessionId: person.session.id, code: 'session-expired' });
    },
    befriend(one: Person, other: Person): void {
      pairs.add(pairOf(one.id, other.id));
      hub.signal({ type: 'contacts-changed', userIds: [one.id, other.id] });
    },
    block(one: Person, other: Person): void {
      blocked.add(pairOf(one.id, other.id));
      hub.signal({ type: 'contacts-changed', userIds: [one.id, other.id] });
    },
    unfriend(one: Person, other: Person): void {
      pairs.delete(pairOf(one.id, other.id));
      hub.signal({ type: 'contacts-changed', userIds: [one.id, other.id] });
    },
    /** Collects what is said of a person's status from now on. */
    statusOf(person: Person): unknown[] {
      const changes: unknown[] = [];
      Hub.prototype.subscribe.call(hub, topics.userStatus(person.id), (payload) => {
        changes.push(JSON.parse(payload));
      });
      return changes;
    },
    /** Resolves once the server has seen every socket close. */
    async allSocketsClosed(): Promise<void> {
      await eventually(async () => {
        const count = await new Promise<number>((resolve, reject) => {
          server.getConnections((error, open) => (error === null ? resolve(open) : reject(error)));
        });
        if (count > 0) throw new Error(`${count} sockets are open`);
      });
    },
    /** @throws Error if a connection has left a listener behind */
    async close(): Promise<void> {
      await Promise.all([gateway.close(), presence.close()]);
      await new Promise((resolve) => server.close(resolve));
      if (hub.listeners.size > 0) throw new Error(`${hub.listeners.size} listeners are left`);
    },
  };
}

export type Realtime = Awaited<ReturnType<typeof startRealtime>>;

/** A promise with its resolver outside. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
