// One MQTT 5 connection over a WebSocket, stripped to what generates load.
import { connect } from 'node:net';
import {
  connectPacket,
  frame,
  PacketReader,
  pubackPacket,
  publishPacket,
  subscribePacket,
} from './frames.mjs';

const connack = 2;
const publish = 3;
const puback = 4;
const suback = 9;

export class MqttSocket {
  /** Told of each delivery: the PUBLISH packet's variable header and payload. @type {(body: Buffer) => void} */
  onMessage = () => {};
  /** Told of each PUBACK. @type {(packetId: number) => void} */
  onAcknowledged = () => {};
  #socket;
  #answers = new Map();
  #outgoing = [];
  #error = null;

  /** @param {{ port: number, clientId: string, token: string, keepAlive?: number }} options */
  static async open({ port, clientId, token, keepAlive = 30 }) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.write(
      'GET /mqtt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
        'Sec-WebSocket-Protocol: mqtt\r\n\r\n',
    );
    const rest = await upgraded(socket);
    const opened = new MqttSocket(socket, rest);
    opened.#send(connectPacket({ clientId, token, keepAlive }));
    const answer = await opened.#answer(connack);
    if (answer[1] !== 0) throw new Error(`CONNACK ${answer[1]}`);
    return opened;
  }

  constructor(socket, rest) {
    this.#socket = socket;
    const reader = new PacketReader((type, flags, body) => this.#take(type, flags, body));
    const read = (chunk) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#error = error;
        socket.destroy(error);
      }
      this.#flush();
    };
    socket.on('data', read);
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection ended')));
    if (rest.length > 0) read(rest);
  }

  async subscribe(topic, qos) {
    this.#send(subscribePacket(1, topic, qos));
    const answer = await this.#answer(suback);
    if (answer.at(-1) > 2) throw new Error(`SUBACK ${answer.at(-1)}`);
  }

  /** Sent with whatever else this turn of the event loop writes. */
  publish(packetId, topic, payload) {
    this.#queue(publishPacket(packetId, topic, payload));
  }

  close() {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #take(type, flags, body) {
    if (type === publish) {
      if ((flags & 0b110) !== 0) {
        const topicLength = body.readUInt16BE(0);
        this.#queue(pubackPacket(body.readUInt16BE(2 + topicLength)));
      }
      this.onMessage(body);
    } else if (type === puback) {
      if (body.length > 2 && body[2] >= 0x80) throw new Error(`PUBACK ${body[2]}: ${body.subarray(3)}`);
      this.onAcknowledged(body.readUInt16BE(0));
    } else {
      this.#answers.get(type)?.resolve(body);
    }
  }

  #queue(bytes) {
    if (this.#outgoing.push(frame(bytes)) === 1) queueMicrotask(() => this.#flush());
  }

  #flush() {
    if (this.#outgoing.length === 0) return;
    this.#socket.write(this.#outgoing.length === 1 ? this.#outgoing[0] : Buffer.concat(this.#outgoing));
    this.#outgoing = [];
  }

  #send(bytes) {
    this.#socket.write(frame(bytes));
  }

  #answer(type) {
    return new Promise((resolve, reject) => this.#answers.set(type, { resolve, reject }));
  }

  #fail(error) {
    this.#error ??= error;
    for (const answer of this.#answers.values()) answer.reject(this.#error);
    this.onFailed?.(this.#error);
  }
}

/** Waits for the end of the answer to the upgrade, and returns what came behind it. */
function upgraded(socket) {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const read = (chunk) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', read);
      socket.off('error', reject);
      const status = head.subarray(0, head.indexOf('\r\n')).toString();
      if (status.startsWith('HTTP/1.1 101')) resolve(head.subarray(end + 4));
      else reject(new Error(status));
    };
    socket.on('data', read);
    socket.once('error', reject);
  });
}
