import { encodePublish } from './encode.ts';

/** With a QoS, or as what is worth nothing a moment later: at QoS 0, and not at all to a client that is behind. */
export type DeliveryKind = 0 | 1 | 'fleeting';

export interface DeliveryOptions {
  /** QoS 1 packets that may be unacknowledged at once. */
  readonly receiveMaximum: number;
  /** Bytes of the largest packet the client takes. */
  readonly maximumPacketSize: number;
  /** Bytes of QoS 1 payloads that may wait for acknowledgements. */
  readonly maxQueuedBytes: number;
  readonly send: (packet: Buffer) => void;
  /** The client hasn't taken what was sent to it so far. */
  readonly isBehind: () => boolean;
  /** The client acknowledges too slowly. Nothing is delivered after this. */
  readonly onOverflow: () => void;
}

interface Waiting {
  readonly topic: string;
  readonly payload: string;
}

/**
 * Delivers PUBLISH packets to one client, at most `receiveMaximum` of QoS 1 ahead of its acknowledgements
 * (MQTT 5 section 4.9). Nothing is sent again: the session ends with the connection, and the log has everything.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #unacknowledged = new Set<number>();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #lastPacketId = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  deliver(topic: string, payload: string, kind: DeliveryKind): void {
    if (kind === 'fleeting') {
      if (this.#waiting.length === 0 && !this.#options.isBehind()) this.#send(encodePublish(topic, payload));
      return;
    }
    if (kind === 0) {
      this.#send(encodePublish(topic, payload));
      return;
    }
    if (this.#waiting.length === 0 && this.#unacknowledged.size < this.#options.receiveMaximum) {
      this.#sendTracked({ topic, payload });
      return;
    }
    if (this.#waitingBytes + payload.length > this.#options.maxQueuedBytes) {
      this.#options.onOverflow();
      return;
    }
    this.#waiting.push({ topic, payload });
    this.#waitingBytes += payload.length;
  }

  /** A PUBACK for an identifier that isn't awaited is ignored: nothing depends on it. */
  acknowledge(packetId: number): void {
    this.#unacknowledged.delete(packetId);
    while (this.#unacknowledged.size < this.#options.receiveMaximum) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.payload.length;
      this.#sendTracked(next);
    }
  }

  /** Forgets everything that waits. */
  clear(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #sendTracked({ topic, payload }: Waiting): void {
    const packetId = this.#nextPacketId();
    if (this.#send(encodePublish(topic, payload, packetId))) this.#unacknowledged.add(packetId);
  }

  /** A packet beyond the client's Maximum Packet Size counts as delivered [MQTT-3.1.2-25]. */
  #send(packet: Buffer): boolean {
    if (packet.length > this.#options.maximumPacketSize) return false;
    this.#options.send(packet);
    return true;
  }

  /** The next identifier not in use. At most `receiveMaximum` of the 65535 are, and the caller has checked that. */
  #nextPacketId(): number {
    do {
      this.#lastPacketId = (this.#lastPacketId % 65_535) + 1;
    } while (this.#unacknowledged.has(this.#lastPacketId));
    return this.#lastPacketId;
  }
}
