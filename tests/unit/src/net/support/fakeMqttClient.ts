import { EventEmitter } from 'node:events';
import type { IClientOptions, MqttClient, Packet } from 'mqtt';

export interface Publication {
  readonly topic: string;
  readonly payload: unknown;
  readonly qos: number;
  readonly messageId: number;
  readonly callback: ((error?: Error | null, packet?: Packet) => void) | undefined;
}

type Granted = (error: Error | null, granted: { topic: string; qos: number }[]) => void;

/** Stands for mqtt.js: records what is asked of it, and says what a test lets it say. */
export class FakeMqttClient extends EventEmitter {
  readonly options: IClientOptions;
  readonly subscriptions: string[] = [];
  readonly unsubscriptions: string[] = [];
  readonly publications: Publication[] = [];
  ended = false;
  #granted: Granted | null = null;

  constructor(options: IClientOptions) {
    super();
    this.options = options;
  }

  subscribe(topic: string, _options: unknown, granted?: Granted): void {
    this.subscriptions.push(topic);
    if (granted !== undefined) this.#granted = granted;
  }

  unsubscribe(topic: string): void {
    this.unsubscriptions.push(topic);
  }

  publish(
    topic: string,
    payload: string,
    options: { qos: number },
    callback?: Publication['callback'],
  ): void {
    const messageId = this.publications.length + 1;
    this.publications.push({ topic, payload: JSON.parse(payload), qos: options.qos, messageId, callback });
  }

  end(): void {
    this.ended = true;
  }

  /** CONNACK, then SUBACK with the QoS given. */
  accept(qos = 1): void {
    this.emit('connect');
    this.#granted?.(null, [{ topic: this.subscriptions[0] ?? '', qos }]);
  }

  /** As mqtt.js: the callback gets the PUBACK with an error, and the stored PUBLISH without one. */
  acknowledge(userProperties: Record<string, string>, reasonCode = 0): void {
    const publication = this.publications.at(-1);
    if (publication === undefined) throw new Error('nothing was published');
    const { messageId, topic } = publication;
    const puback: Packet = { cmd: 'puback', messageId, reasonCode, properties: { userProperties } };
    this.emit('packetreceive', puback);
    if (reasonCode >= 0x80) publication.callback?.(new Error('Publish error'), puback);
    else {
      publication.callback?.(null, {
        cmd: 'publish',
        messageId,
        topic,
        payload: '',
        qos: 1,
        dup: false,
        retain: false,
      });
    }
  }

  receive(topic: string, payload: unknown): void {
    const bytes = new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
    this.emit('message', topic, bytes, { cmd: 'publish', topic, payload: bytes });
  }
}

export function asMqttClient(fake: FakeMqttClient): MqttClient {
  return fake as unknown as MqttClient;
}
