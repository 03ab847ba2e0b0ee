import { parser as createParser, generate, type Packet } from 'mqtt-packet';
import { WebSocket } from 'ws';
import { limits, topics } from '../../contract/index.ts';
import type { Person } from './harness.ts';

type Identified = Pick<Person, 'id'>;

/**
 * The end of a connection: the WebSocket close code, and the packets that came before it and weren't taken.
 */
export interface Ending {
  readonly closeCode: number;
  readonly packets: Packet[];
}

/** A client that sends any bytes at all and reads what comes back. */
export class RawClient {
  readonly socket: WebSocket;
  readonly #received: Packet[] = [];
  readonly #waiting: ((packet: Packet) => void)[] = [];
  readonly #ended: Promise<number>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    const parser = createParser({ protocolVersion: 5 });
    parser.on('packet', (packet) => {
      const waiter = this.#waiting.shift();
      if (waiter === undefined) this.#received.push(packet);
      else waiter(packet);
    });
    socket.on('message', (data: Buffer) => {
      parser.parse(data);
    });
    this.#ended = new Promise((resolve) => {
      socket.once('close', (code) => resolve(code));
    });
  }

  static async open(url: string): Promise<RawClient> {
    const socket = new WebSocket(url, 'mqtt');
    const client = new RawClient(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    socket.on('error', () => {});
    return client;
  }

  /** An accepted connection. */
  static async connect(url: string, person: Person, properties: object = {}): Promise<RawClient> {
    const client = await RawClient.open(url);
    client.send(connectBytes(person, properties));
    const connack = await client.next();
    if (connack.cmd !== 'connack' || connack.reasonCode !== 0) {
      throw new Error(`refused: ${JSON.stringify(connack)}`);
    }
    return client;
  }

  send(bytes: Uint8Array): void {
    this.socket.send(bytes);
  }

  sendPacket(packet: Packet): void {
    this.send(bytesOf(packet));
  }

  async next(): Promise<Packet> {
    const packet = this.#received.shift();
    if (packet !== undefined) return packet;
    return Promise.race([
      new Promise<Packet>((resolve) => {
        this.#waiting.push(resolve);
      }),
      this.#ended.then((code) => {
        throw new Error(`closed with ${code}`);
      }),
    ]);
  }

  /** Proves that the connection is alive, and that everything sent before was handled. */
  async ping(): Promise<void> {
    this.sendPacket({ cmd: 'pingreq' });
    const answer = await this.next();
    if (answer.cmd !== 'pingresp') throw new Error(`got ${answer.cmd}`);
  }

  async ending(): Promise<Ending> {
    const closeCode = await this.#ended;
    return { closeCode, packets: this.#received.splice(0) };
  }

  close(): void {
    this.socket.terminate();
  }
}

export function bytesOf(packet: Packet): Buffer {
  return generate(packet, { protocolVersion: 5 });
}

/** @param keepalive seconds */
export function connectBytes(person: Pick<Person, 'token'>, properties: object = {}, keepalive = 30): Buffer {
  return bytesOf({
    cmd: 'connect',
    protocolVersion: 5,
    clientId: 'raw',
    clean: true,
    keepalive,
    properties: { userProperties: { token: person.token }, ...properties },
  });
}

export function subscribeBytes(packetId: number, filter: string, qos: 0 | 1 | 2 = 1): Buffer {
  return bytesOf({ cmd: 'subscribe', messageId: packetId, subscriptions: [{ topic: filter, qos }] });
}

/** The payload a person publishes for another, with whatever `changes` a test makes to it. */
export function messagePayload(from: Identified, to: Identified, changes: object = {}): string {
  return JSON.stringify({
    type: 'message',
    messageId: crypto.randomUUID(),
    senderId: from.id,
    recipientId: to.id,
    epoch: 3,
    content: 'AAEC',
    timestamp: '2026-03-01T12:00:00.000Z',
    ...changes,
  });
}

export function groupPayload(from: Identified, group: Identified, changes: object = {}): string {
  return JSON.stringify({
    type: 'group_message',
    messageId: crypto.randomUUID(),
    senderId: from.id,
    groupId: group.id,
    epoch: 3,
    content: 'AAEC',
    timestamp: '2026-03-01T12:00:00.000Z',
    ...changes,
  });
}

/** The payload of somebody who is writing: to the relay any bytes of its size. */
export function typingPayload(changes: object = {}): string {
  const content = Buffer.alloc(limits.typingSize, 7).toString('base64url');
  return JSON.stringify({ type: 'typing', epoch: 1, content, ...changes });
}

export function publishBytes(
  packetId: number,
  from: Identified,
  to: Identified,
  changes: object = {},
): Buffer {
  return bytesOf({
    cmd: 'publish',
    topic: topics.userMessages(to.id),
    payload: messagePayload(from, to, changes),
    qos: packetId === 0 ? 0 : 1,
    dup: false,
    retain: false,
    ...(packetId === 0 ? {} : { messageId: packetId }),
  });
}
