import { EventEmitter } from 'node:events';
import type { IClientOptions, MqttClient, Packet } from 'mqtt';

export interface Publication {
  readonly topic: string;
  readonly payload: unknown;
  readonly qos: number;
  readonly callback: ((error?: Error, packet?: Packet) => void) | undefined;
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
    this.publications.push({ topic, payload: JSON.parse(payload), qos: options.qos, callback });
  }

  end(): void {
    this.ended = true;
  }

  /** CONNACK, then SUBACK with the QoS given. */
  accept(qos = 1): void {
    this.emit('connect');
    this.#granted?.(null, [{ topic: this.subscriptions[0] ?? '', qos }]);
  }

  receive(topic: string, payload: unknown): void {
    const bytes = new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
    this.emit('message', topic, bytes, { cmd: 'publish', topic, payload: bytes });
  }
}

export function asMqttClient(fake: FakeMqttClient): MqttClient {
  return fake as unknown as MqttClient;
}
