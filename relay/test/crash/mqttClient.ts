import mqtt, { type MqttClient as Connection, type Packet } from 'mqtt';
import { type IncomingEvent, type LogEntry, type OutgoingMessage, topics } from '../../contract/index.ts';
import type { PersonOnDevice } from '../helpers.ts';
import { backOff, callUntilAnswered } from './relayCall.ts';

/** The content of a PUBACK: the message's position, or the current epoch in place of the message's. */
export type Outcome =
  | { readonly seq: number; readonly epoch?: undefined }
  | { readonly epoch: number; readonly seq?: undefined };

const accepted = 0;

/** A client that survives its relay: it connects again by itself, and then fetches what it has missed. */
export class MqttClient {
  /** Positions that turned out to hold another entry than before. */
  readonly contradictions: string[] = [];
  readonly #relay: { readonly url: string };
  readonly #person: PersonOnDevice;
  readonly #other: PersonOnDevice;
  readonly #random: () => number;
  /** Ids by position. */
  readonly #known = new Map<number, string>();
  #isClosed = false;
  #connection: Promise<Connection>;

  constructor(
    relay: { readonly url: string },
    person: PersonOnDevice,
    other: PersonOnDevice,
    random: () => number,
  ) {
    this.#relay = relay;
    this.#person = person;
    this.#other = other;
    this.#random = random;
    this.#connection = this.#connect();
  }

  /** The log as this client knows it: positions with ids, ascending. */
  get known(): [number, string][] {
    return [...this.#known].toSorted(([a], [b]) => a - b);
  }

  /** Publishes with QoS 1, on as many connections as it takes for an acknowledgement. */
  async publish(message: OutgoingMessage): Promise<Outcome> {
    for (;;) {
      const connection = await this.#connection;
      const puback = await publishOnce(connection, topics.userMessages(message.recipientId), message);
      if (puback?.cmd !== 'puback') {
        await backOff(this.#random);
        continue;
      }
      const properties = (puback.properties?.userProperties ?? {}) as Record<string, string>;
      if ((puback.reasonCode ?? accepted) === accepted) return { seq: Number(properties.seq) };
      if (properties.code === 'stale-epoch') return { epoch: Number(properties.epoch) };
      // The relay lives, and its database doesn't: that passes.
      if (properties.code !== 'unavailable') throw new Error(`refused: ${JSON.stringify(properties)}`);
      await backOff(this.#random);
    }
  }

  /** Fetches until that many entries are known. */
  async untilKnown(count: number): Promise<void> {
    while (this.#known.size < count) await this.#fetchMissed();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // One that is connecting again gives up.
    const connection = await this.#connection.catch(() => null);
    await connection?.endAsync(true);
  }

  async #connect(): Promise<Connection> {
    for (;;) {
      try {
        const connection = await mqtt.connectAsync(
          `${this.#relay.url.replace('http', 'ws')}/mqtt`,
          {
            protocolVersion: 5,
            clean: true,
            reconnectPeriod: 0,
            connectTimeout: 2000,
            properties: { userProperties: { token: this.#person.token } },
          },
          // Otherwise it waits for good when a relay that drains refuses the upgrade.
          false,
        );
        // A dead relay is met by `close`, too.
        connection.on('error', () => {});
        connection.once('close', () => {
          if (!this.#isClosed) this.#connection = backOff(this.#random).then(() => this.#connect());
        });
        connection.on('message', (_topic, payload) => {
          this.#take(JSON.parse(payload.toString()) as IncomingEvent);
        });
        await connection.subscribeAsync(topics.userMessages(this.#person.id), { qos: 1 });
        await this.#fetchMissed();
        return connection;
      } catch (error) {
        if (this.#isClosed) throw error;
        await backOff(this.#random);
      }
    }
  }

  #take(event: IncomingEvent): void {
    if (event.type === 'message' || event.type === 'commit') this.#learn(event.seq, event.messageId);
  }

  /** Everything after the last position below which nothing is missing. */
  async #fetchMissed(): Promise<void> {
    for (;;) {
      let after = 0;
      while (this.#known.has(after + 1)) after += 1;
      const page = await callUntilAnswered<LogEntry[]>(
        this.#relay,
        {
          method: 'GET',
          path: `/messages/user/${this.#other.id}?after=${after}&limit=200`,
          token: this.#person.token,
        },
        this.#random,
        () => this.#isClosed,
      );
      if (page.body.length === 0) return;
      for (const entry of page.body) this.#learn(entry.seq, entry.id);
    }
  }

  #learn(seq: number, id: string): void {
    const before = this.#known.get(seq);
    if (before !== undefined && before !== id) {
      this.contradictions.push(`position ${seq} was ${before}, and is ${id} now`);
    }
    this.#known.set(seq, id);
  }
}

/** The PUBACK, or null if the connection ended before it. */
function publishOnce(
  connection: Connection,
  topic: string,
  message: OutgoingMessage,
): Promise<Packet | null> {
  return new Promise((resolve) => {
    if (!connection.connected) return resolve(null);
    let packetId: number | undefined;
    const settle = (packet: Packet | null) => {
      connection.off('packetsend', onSend);
      connection.off('packetreceive', onReceive);
      connection.off('close', onClose);
      resolve(packet);
    };
    const onSend = (packet: Packet) => {
      if (packet.cmd === 'publish' && String(packet.payload).includes(message.messageId)) {
        packetId = packet.messageId;
      }
    };
    const onReceive = (packet: Packet) => {
      if (packet.cmd === 'puback' && packet.messageId === packetId) settle(packet);
    };
    const onClose = () => settle(null);
    connection.on('packetsend', onSend);
    connection.on('packetreceive', onReceive);
    connection.once('close', onClose);
    // A refusal is an error to the client as well as a PUBACK.
    connection.publish(topic, JSON.stringify(message), { qos: 1 }, () => {});
  });
}
