import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient, type Packet } from 'mqtt';
import type { Clock, Timer } from '../lib/clock.ts';
import { timestamp } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  Epoch,
  type ErrorCode,
  errorCodes,
  errorStatus,
  groupConversationId,
  IncomingEvent,
  limits,
  type OutgoingGroupMessage,
  type OutgoingMessage,
  PresenceChange,
  pubackProperties,
  Seq,
  Timestamp,
  tokenProperty,
  topics,
} from './contract.ts';
import { ApiError, NetworkError } from './errors.ts';
import { createReconnector, type RealtimeStatus } from './reconnector.ts';

export const connectTimeoutMs = 10_000;
export const pingIntervalMs = 30_000;
export const acknowledgementTimeoutMs = 30_000;

const notAuthorized = 0x87;

/** The place at which the relay stored a message. */
export interface Acknowledgement {
  readonly seq: number;
  readonly timestamp: string;
}

export interface RealtimeListeners {
  onStatus(status: RealtimeStatus): void;
  /** On one's own topic, or on the open group's: of that group alone. */
  onEvent(event: IncomingEvent): void;
  onPresence(change: PresenceChange): void;
  /** Somebody is said to be writing, or no longer. What it says is read where it is shown. */
  onTyping(payload: unknown): void;
  /**
   * The relay refuses the token, or has ended its session.
   * @param code why; null where it has not said so
   */
  onUnauthorized(token: string, code: ErrorCode | null): void;
}

export interface RealtimeOptions {
  readonly url: string;
  readonly userId: string;
  /** Read for every connection; without a token none is made. */
  readonly token: () => string | null;
  readonly listeners: RealtimeListeners;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly connect?: (url: string, options: IClientOptions) => MqttClient;
}

/** The open chat, whose topic is subscribed to beside one's own: a contact's status, or a group's messages. */
export type WatchedChat =
  | { readonly kind: 'status'; readonly userId: string }
  | { readonly kind: 'group'; readonly groupId: string };

export interface Realtime {
  open(): void;
  /** Connects without waiting for the back-off, because the relay can probably be reached now. */
  reconnectNow(): void;
  close(): void;
  isConnected(): boolean;
  /** Null when no chat is open. */
  watch(chat: WatchedChat | null): void;
  /**
   * Publishes with QoS 1.
   * @throws ApiError for a refusal (`stale-epoch` with the epoch), NetworkError when no acknowledgement came
   */
  publish(message: OutgoingMessage | OutgoingGroupMessage): Promise<Acknowledgement>;
  /** Publishes with QoS 0 what is worth nothing a moment later; without a connection nothing. */
  publishFleeting(topic: string, payload: object): void;
}

type Puback = Extract<Packet, { cmd: 'puback' }>;
type Refusal = Extract<Packet, { cmd: 'puback' | 'connack' | 'disconnect' }>;

function topicOf(chat: WatchedChat): string {
  return chat.kind === 'status' ? topics.userStatus(chat.userId) : topics.groupMessages(chat.groupId);
}

/** Returns whether an event may come on the topic of a group: one that concerns another conversation may not. */
function isOfGroup(event: IncomingEvent, groupId: string): boolean {
  return 'conversationId' in event && event.conversationId === groupConversationId(groupId);
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch {
    return undefined;
  }
}

function hex(reasonCode: number): string {
  return `0x${reasonCode.toString(16).padStart(2, '0')}`;
}

function userProperty(packet: Refusal | undefined, name: string): string | undefined {
  const value = packet?.properties?.userProperties?.[name];
  return Array.isArray(value) ? value[0] : value;
}

function codeOf(packet: Refusal | undefined): ErrorCode | null {
  const given = userProperty(packet, pubackProperties.code);
  return errorCodes.find((known) => known === given) ?? null;
}

/** Translates an unsuccessful PUBACK into the error that REST would have answered. */
function refusal(packet: Puback): ApiError {
  const code = codeOf(packet) ?? 'internal';
  const epoch = Epoch.safeParse(Number(userProperty(packet, pubackProperties.epoch)));
  return new ApiError({
    status: errorStatus[code],
    code,
    detail: null,
    epoch: epoch.success ? epoch.data : undefined,
  });
}

function acknowledgement(packet: Puback | undefined): Acknowledgement {
  const seq = Seq.safeParse(Number(userProperty(packet, pubackProperties.seq)));
  const time = Timestamp.safeParse(userProperty(packet, pubackProperties.timestamp));
  if (!seq.success || !time.success)
    throw new ApiError({ status: 201, code: 'invalid-response', detail: null });
  return { seq: seq.data, timestamp: time.data };
}

/**
 * MQTT 5 over WebSocket. Each attempt is a new session with a new client id and the present token; nothing is queued
 * here, because the outbox keeps what is unsent.
 */
export function createRealtime(options: RealtimeOptions): Realtime {
  const { clock, listeners, log, userId } = options;
  const connect = options.connect ?? ((url, config) => mqtt.connect(url, config));
  const ownTopic = topics.userMessages(userId);
  const typingTopic = topics.userTyping(userId);

  let client: MqttClient | null = null;
  let connected = false;
  let watched: WatchedChat | null = null;
  let timers: Timer[] = [];
  /** By packet identifier: mqtt.js calls back with the PUBLISH when it went well, and the PUBACK is what tells where. */
  let pubacks = new Map<number, Puback>();
  /** Rejections of publications that still wait for their PUBACK. */
  const unacknowledged = new Set<(error: NetworkError) => void>();

  const reconnector = createReconnector({
    clock,
    random: options.random,
    canConnect: () => options.token() !== null,
    connect: attempt,
    onStatus: (status) => listeners.onStatus(status),
  });

  function subscribe(session: MqttClient, chat: WatchedChat): void {
    // A lost presence change is followed by the next; a lost message would have to be fetched.
    session.subscribe(topicOf(chat), { qos: chat.kind === 'group' ? 1 : 0 });
  }

  function ready(session: MqttClient): void {
    connected = true;
    for (const timer of timers) timer.cancel();
    timers = [
      clock.every(pingIntervalMs, () => {
        const ping = { type: 'ping', userId, timestamp: timestamp(clock) };
        session.publish(topics.ping, JSON.stringify(ping), { qos: 0 });
      }),
    ];
    session.subscribe(typingTopic, { qos: 0 });
    if (watched !== null) subscribe(session, watched);
    reconnector.succeeded();
  }

  function lost(session: MqttClient, code: string): void {
    if (client !== session) return;
    client = null;
    connected = false;
    for (const timer of timers) timer.cancel();
    timers = [];
    session.end(true);
    const error = new NetworkError('unreachable', 'MQTT connection closed');
    for (const reject of unacknowledged) reject(error);
    log.warn('realtime-closed', { code });
    reconnector.failed();
  }

  function received(topic: string, packet: IPublishPacket): void {
    const payload = typeof packet.payload === 'string' ? undefined : parseJson(packet.payload);
    if (topic === typingTopic) return listeners.onTyping(payload);
    const groupId = watched?.kind === 'group' && topic === topicOf(watched) ? watched.groupId : null;
    if (topic === ownTopic || groupId !== null) {
      const event = IncomingEvent.safeParse(payload);
      const expected = event.success && (groupId === null || isOfGroup(event.data, groupId));
      if (expected) listeners.onEvent(event.data);
      else log.warn('invalid-event', { code: 'invalid-response' });
    } else if (topic.startsWith('group/')) {
      // The event is of a group that has just been closed: its log is read when it is opened again.
      return;
    } else {
      const change = PresenceChange.safeParse(payload);
      const expected = change.success && topic === topics.userStatus(change.data.userId);
      if (expected) listeners.onPresence(change.data);
      else log.warn('invalid-event', { code: 'invalid-response' });
    }
  }

  function attempt(): void {
    const token = options.token();
    if (token === null) return;
    const session = connect(options.url, {
      protocolVersion: 5,
      clean: true,
      clientId: `sinetti_${userId}_${clock.now()}`,
      keepalive: limits.mqttKeepAliveSeconds,
      // Later than the timer below, which covers the subscription as well and tells of a timeout by that name.
      connectTimeout: 2 * connectTimeoutMs,
      // The schedule is the reconnector's: mqtt.js would come back at fixed intervals with the old token.
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      // The other variants start a worker from a blob, which the Content-Security-Policy forbids.
      timerVariant: 'native',
      properties: {
        sessionExpiryInterval: 0,
        maximumPacketSize: limits.mqttPacketMax,
        userProperties: { [tokenProperty]: token },
      },
    });
    client = session;
    let connack: Refusal | undefined;
    pubacks = new Map();
    timers = [clock.after(connectTimeoutMs, () => lost(session, 'timeout'))];

    session.on('connect', () => {
      session.subscribe(ownTopic, { qos: 1 }, (error, granted) => {
        if (client !== session) return;
        if (error !== null || granted?.some((grant) => grant.qos >= 0x80))
          lost(session, 'subscription-refused');
        else ready(session);
      });
    });
    session.on('message', (topic, _payload, packet) => {
      if (client === session) received(topic, packet);
    });
    session.on('packetreceive', (packet) => {
      if (packet.cmd === 'connack') connack = packet;
      if (client === session && packet.cmd === 'puback' && packet.messageId !== undefined) {
        pubacks.set(packet.messageId, packet);
      }
    });
    session.on('disconnect', (packet) => {
      if (client === session && packet.reasonCode === notAuthorized)
        listeners.onUnauthorized(token, codeOf(packet));
      lost(session, hex(packet.reasonCode ?? 0));
    });
    session.on('close', () => lost(session, 'closed'));
    session.on('error', (error) => {
      // Errors can also come after the end; without a listener they would be thrown.
      const reasonCode = 'code' in error && typeof error.code === 'number' ? error.code : null;
      if (client === session && reasonCode === notAuthorized)
        listeners.onUnauthorized(token, codeOf(connack));
      lost(session, reasonCode === null ? 'unreachable' : hex(reasonCode));
    });
  }

  function takePuback(packet: Packet | undefined): Puback | undefined {
    const messageId = packet?.messageId;
    if (messageId === undefined) return undefined;
    const puback = pubacks.get(messageId);
    pubacks.delete(messageId);
    return puback;
  }

  return {
    open: () => reconnector.open(),

    reconnectNow: () => reconnector.reconnectNow(),

    close() {
      const session = client;
      client = null;
      connected = false;
      for (const timer of timers) timer.cancel();
      timers = [];
      session?.end(true);
      const error = new NetworkError('unreachable', 'MQTT connection closed');
      for (const reject of unacknowledged) reject(error);
      reconnector.close();
    },

    isConnected: () => connected,

    watch(chat) {
      const previous = watched === null ? null : topicOf(watched);
      watched = chat;
      const next = chat === null ? null : topicOf(chat);
      if (!connected || client === null || previous === next) return;
      if (previous !== null) client.unsubscribe(previous);
      if (chat !== null) subscribe(client, chat);
    },

    publishFleeting(topic, payload) {
      if (connected) client?.publish(topic, JSON.stringify(payload), { qos: 0 });
    },

    publish(message) {
      const session = client;
      if (!connected || session === null) {
        return Promise.reject(new NetworkError('unreachable', 'MQTT client not initialized'));
      }
      return new Promise<Acknowledgement>((resolve, reject) => {
        const timer = clock.after(acknowledgementTimeoutMs, () =>
          settle(() => reject(new NetworkError('timeout'))),
        );
        const abandon = (error: NetworkError) => settle(() => reject(error));
        const settle = (outcome: () => void) => {
          if (!unacknowledged.delete(abandon)) return;
          timer.cancel();
          outcome();
        };
        unacknowledged.add(abandon);
        session.publish(
          message.type === 'message'
            ? topics.userMessages(message.recipientId)
            : topics.groupMessages(message.groupId),
          JSON.stringify(message),
          { qos: 1 },
          (error, packet) => {
            const puback = takePuback(packet);
            settle(() => {
              if (error && puback !== undefined) return reject(refusal(puback));
              if (error) return reject(new NetworkError('unreachable', undefined, { cause: error }));
              try {
                resolve(acknowledgement(puback));
              } catch (breach) {
                reject(breach);
              }
            });
          },
        );
      });
    },
  };
}
