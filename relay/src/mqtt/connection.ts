import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { pubackProperties } from '../../contract/index.ts';
import type { ServedErrorCode } from '../../contract/served.ts';
import type { SessionEndCode } from '../auth/session.ts';
import { ApiError } from '../errors.ts';
import { takeFrom } from '../rateLimits/bucket.ts';
import { FrameWriter } from '../realtime/frameWriter.ts';
import { LiveSession, type SessionHolder } from '../realtime/liveSession.ts';
import { toBuffer } from '../realtime/rawData.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { socketClosed } from '../realtime/socketClosed.ts';
import { type Agreement, agree } from './connect.ts';
import type {
  ClientPacket,
  ConnectPacket,
  PublishPacket,
  SubscribePacket,
  UnsubscribePacket,
} from './decode.ts';
import { Delivery, type DeliveryTarget } from './delivery.ts';
import {
  encodeConnack,
  encodeDisconnect,
  encodePingresp,
  encodePuback,
  encodeSuback,
  encodeUnsuback,
  type UserProperties,
} from './encode.ts';
import { type Answering, Inbox, type PacketHandler } from './inbox.ts';
import { takePublish } from './publish.ts';
import { PacketError, ReasonCode } from './reasonCodes.ts';
import { Subscriptions } from './subscriptions.ts';

/** The settings that all connections of a gateway share. */
export interface ConnectionOptions {
  /** Milliseconds from opening the socket to an accepted CONNECT. */
  readonly connectTimeoutMs: number;
  /** Bytes that may wait in the socket for a client that reads too slowly. */
  readonly maxBufferedBytes: number;
  /** Milliseconds that a client has to close its side after the gateway has closed its own. */
  readonly closeTimeoutMs: number;
}

/** The gateway's connections. Of two by the same client identifier of the same person the older is ended. */
export interface Connections {
  /** Called when `connection` is accepted; it ends a former one of the same name. */
  claim(userId: string, clientId: string, connection: Connection): void;
  release(userId: string, clientId: string, connection: Connection): void;
  /** Called when the socket of `connection` is closed, and everything that came by it is handled. */
  remove(connection: Connection): void;
}

/** The state of a connection whose CONNECT was accepted. */
interface Accepted {
  readonly agreement: Agreement;
  readonly live: LiveSession;
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
}

/** WebSocket close codes (RFC 6455 section 7.4.1). */
const closeCode = { normal: 1000, protocolError: 1002, unsupportedData: 1003 } as const;

/** MQTT 5 section 3.1.2.10: the client has one and a half times the Keep Alive. */
const keepAliveFactor = 1.5;

/** A client pings twice a minute. Each ping is answered, and nothing else bounds how many come. */
const pingQuota = { count: 600, periodMs: 60_000 };

/** Each filter can cost a question to the database, and thousands fit into a packet. */
const maxFiltersPerSubscribe = 64;

/** Bytes in the socket from which what is worth nothing a moment later is left out. */
const maxBufferedForFleeting = 64 * 1024;

/**
 * One MQTT 5 connection over a WebSocket, from its first byte to its last. Its parts call it by its methods: most
 * connections are idle, and a closure for each thing to be told would be much of their memory.
 */
export class Connection implements PacketHandler, DeliveryTarget, SessionHolder {
  readonly #socket: WebSocket;
  readonly #frames: FrameWriter;
  readonly #services: RealtimeServices;
  readonly #options: ConnectionOptions;
  readonly #connections: Connections;
  readonly #address: string;
  /** To be called once somebody has logged in; null after it. */
  #admitted: (() => void) | null;
  readonly #inbox: Inbox;
  /** Waits for an accepted CONNECT, and after it for the next packet. */
  #timer: NodeJS.Timeout;
  #accepted: Accepted | null = null;
  /** The bucket of `pingQuota`. */
  #pingsFullAt = 0;
  #ended = false;

  /**
   * @param transport the connection below the socket
   * @param address the client's, as rate limits count it
   * @param admitted called once somebody has logged in
   */
  constructor(
    socket: WebSocket,
    transport: Duplex,
    services: RealtimeServices,
    options: ConnectionOptions,
    connections: Connections,
    address: string,
    admitted: () => void,
  ) {
    this.#socket = socket;
    this.#frames = new FrameWriter(transport);
    this.#services = services;
    this.#options = options;
    this.#connections = connections;
    this.#address = address;
    this.#admitted = admitted;
    this.#inbox = new Inbox(this);
    this.#timer = setTimeout(() => this.#timeOut(), options.connectTimeoutMs);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#closed());
  }

  /** Tells the client why, and closes. Does nothing if the connection is ending already. */
  disconnect(reasonCode: ReasonCode, userProperties?: UserProperties): void {
    // Before CONNACK a server may not send DISCONNECT [MQTT-3.14.0-1].
    if (this.#accepted !== null) this.send(encodeDisconnect(reasonCode, userProperties));
    this.#endSocket(closeCode.normal);
  }

  /** Resolves when the socket is closed, and the packets that came by it have been handled. */
  async done(): Promise<void> {
    await socketClosed(this.#socket);
    await this.#inbox.settled();
  }

  sessionEnded(code: SessionEndCode): void {
    this.disconnect(ReasonCode.NotAuthorized, codeOf(code));
  }

  isBehind(): boolean {
    return this.#socket.bufferedAmount > maxBufferedForFleeting;
  }

  onOverflow(): void {
    // Packets that the client has sent before it closed are still handled.
    if (this.#isOpen) this.disconnect(ReasonCode.QuotaExceeded);
  }

  onPressure(isFull: boolean): void {
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  get #isOpen(): boolean {
    return !this.#ended && this.#socket.readyState === this.#socket.OPEN;
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#ended) return;
    // MQTT travels in binary frames alone [MQTT-6.0.0-1].
    if (!isBinary) return this.#endSocket(closeCode.unsupportedData);
    try {
      // Packets, and nothing less, show that a client is there [MQTT-3.1.2-22]: bytes of one that never ends don't.
      if (this.#inbox.push(toBuffer(data)) && this.#accepted !== null) this.#timer.refresh();
    } catch (error) {
      this.onError(error);
    }
  }

  #timeOut(): void {
    if (this.#accepted === null) this.#endSocket(closeCode.protocolError);
    else this.disconnect(ReasonCode.KeepAliveTimeout);
  }

  /** Ends this connection, and it alone, for what a packet did. */
  onError(error: unknown): void {
    const isKnown = error instanceof PacketError;
    if (!isKnown) this.#services.log.error({ err: error }, 'an MQTT connection failed');
    const reasonCode = isKnown ? error.reasonCode : ReasonCode.UnspecifiedError;
    if (isKnown) this.#services.log.debug({ reasonCode, reason: error.message }, 'MQTT packet refused');
    if (this.#accepted === null && this.#inbox.connectSeen) {
      const code = isKnown ? error.code : null;
      this.send(encodeConnack(reasonCode, code === null ? undefined : { userProperties: codeOf(code) }));
    }
    this.disconnect(reasonCode);
  }

  handle(packet: ClientPacket): Promise<Answering | void> | void {
    if (packet.type === 'connect') return this.#handleConnect(packet);
    const accepted = this.#accepted;
    if (accepted === null) return;
    switch (packet.type) {
      case 'publish':
        return this.#handlePublish(packet, accepted);
      case 'puback':
        return accepted.delivery.acknowledge(packet.packetId);
      case 'subscribe':
        return this.#handleSubscribe(packet, accepted);
      case 'unsubscribe':
        return this.#handleUnsubscribe(packet, accepted);
      case 'pingreq':
        return this.#handlePing(accepted);
      case 'disconnect':
        return this.#endSocket(closeCode.normal);
    }
  }

  async #handleConnect(packet: ConnectPacket): Promise<void> {
    const { agreement, connack } = agree(packet);
    const live = await this.#openSession(agreement.token);
    if (!this.#isOpen) return live.release();
    this.#admitted?.();
    this.#admitted = null;
    const delivery = new Delivery(agreement, this.#options.maxBufferedBytes, this);
    const { userId } = live.session;
    const subscriptions = new Subscriptions(this.#services, userId, delivery);
    this.#accepted = { agreement, live, subscriptions, delivery };
    this.#awaitPackets(agreement.keepAlive * 1000 * keepAliveFactor);
    this.#connections.claim(userId, agreement.clientId, this);
    this.send(encodeConnack(ReasonCode.Success, connack));
  }

  #awaitPackets(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeOut(), ms);
  }

  async #openSession(token: string): Promise<LiveSession> {
    try {
      return await LiveSession.open(this.#services, token, this);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isTooMany = error.code === 'limit-reached';
      const reasonCode = isTooMany ? ReasonCode.QuotaExceeded : ReasonCode.NotAuthorized;
      throw new PacketError(reasonCode, error.code, error.code);
    }
  }

  async #handlePublish(packet: PublishPacket, { agreement, live }: Accepted): Promise<Answering | void> {
    const { token, problemInformation } = agreement;
    const from = { session: live.session, token, address: this.#address };
    const { outcome } = await takePublish(this.#services, from, packet);
    // Nothing else bounds how many of these are under way: they come one by one.
    if (packet.qos === 0) return void (await outcome);
    const { packetId } = packet;
    const answer = outcome.then(({ reasonCode, userProperties }) => () => {
      this.#inbox.acknowledge(packetId);
      this.send(encodePuback(packetId, reasonCode, problemInformation ? userProperties : {}));
    });
    return { answer };
  }

  async #handleSubscribe(packet: SubscribePacket, accepted: Accepted): Promise<void> {
    const { live, subscriptions } = accepted;
    const mayAsk = await this.#takeRequest(live.session.userId);
    const granted: number[] = [];
    for (const [index, { filter, qos }] of packet.subscriptions.entries()) {
      const isAsked = mayAsk && index < maxFiltersPerSubscribe;
      granted.push(isAsked ? await subscriptions.subscribe(filter, qos) : ReasonCode.QuotaExceeded);
    }
    this.send(encodeSuback(packet.packetId, granted));
    this.#rest(accepted);
  }

  async #takeRequest(userId: string): Promise<boolean> {
    try {
      await this.#services.rateLimiter.take(['request.account', userId]);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate-limited') return false;
      throw error;
    }
  }

  #handlePing(accepted: Accepted): void {
    const { fullAt, waitMs } = takeFrom(this.#pingsFullAt, pingQuota, Date.now());
    if (waitMs > 0) throw new PacketError(ReasonCode.QuotaExceeded, 'too many PINGREQ packets');
    this.#pingsFullAt = fullAt;
    this.send(encodePingresp());
    this.#rest(accepted);
  }

  /** A client that subscribes or pings is seldom sending: most of those that do nothing else are idle for hours. */
  #rest({ delivery }: Accepted): void {
    this.#inbox.rest();
    delivery.rest();
  }

  #handleUnsubscribe(packet: UnsubscribePacket, { subscriptions }: Accepted): void {
    const reasonCodes = packet.filters.map((filter) => {
      return subscriptions.unsubscribe(filter) ? ReasonCode.Success : ReasonCode.NoSubscriptionExisted;
    });
    this.send(encodeUnsuback(packet.packetId, reasonCodes));
  }

  send(bytes: Buffer): void {
    if (!this.#isOpen) return;
    this.#frames.write(bytes);
    if (this.#socket.bufferedAmount > this.#options.maxBufferedBytes) {
      // The reason waits behind everything the client hasn't read; if it never reads, the close timeout drops it.
      this.#frames.write(encodeDisconnect(ReasonCode.QuotaExceeded));
      this.#endSocket(closeCode.normal);
    }
  }

  #endSocket(code: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#inbox.stop();
    this.#release();
    // A paused socket would never see the client's side of the closing handshake.
    this.#socket.resume();
    this.#socket.close(code);
    const timer = setTimeout(() => this.#socket.terminate(), this.#options.closeTimeoutMs).unref();
    this.#socket.once('close', () => clearTimeout(timer));
  }

  #closed(): void {
    this.#release();
    void this.#inbox.settled().then(() => this.#connections.remove(this));
  }

  /** Packets that came before a client's own closing are still handled: they were sent, and may be stored. */
  #release(): void {
    clearTimeout(this.#timer);
    const accepted = this.#accepted;
    if (accepted === null) return;
    accepted.live.release();
    accepted.subscriptions.clear();
    accepted.delivery.clear();
    this.#connections.release(accepted.live.session.userId, accepted.agreement.clientId, this);
  }
}

const codeOf = (code: ServedErrorCode): UserProperties => ({ [pubackProperties.code]: code });
