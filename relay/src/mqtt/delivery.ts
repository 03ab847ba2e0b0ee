import { encodePublish } from './encode.ts';

/** With a QoS, or as what is worth nothing a moment later: at QoS 0, and not at all to a client that is behind. */
export type DeliveryKind = 0 | 1 | 'fleeting';

export interface DeliveryLimits {
  /** QoS 1 packets that may be unacknowledged at once. */
  readonly receiveMaximum: number;
  /** Bytes of the largest packet the client takes. */
  readonly maximumPacketSize: number;
}

/** The connection of the client. */
export interface DeliveryTarget {
  /** Does nothing once the connection ends. */
  send(packet: Buffer): void;
  /** Returns whether the client hasn't taken what was sent to it so far. */
  isBehind(): boolean;
  /** The client acknowledges too slowly. Nothing is delivered after this. */
  onOverflow(): void;
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
  readonly #limits: DeliveryLimits;
  /** Bytes of QoS 1 payloads that may wait for acknowledgements. */
  readonly #maxQueuedBytes: number;
  readonly #target: DeliveryTarget;
  /** Null until there is one. */
  #unacknowledged: Set<number> | null = null;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #lastPacketId = 0;

  constructor(limits: DeliveryLimits, maxQueuedBytes: number, target: DeliveryTarget) {
    this.#limits = limits;
    this.#maxQueuedBytes = maxQueuedBytes;
    this.#target = target;
  }

  deliver(topic: string, payload: string, kind: DeliveryKind): void {
    if (kind === 'fleeting') {
      if (this.#waiting.length === 0 && !this.#target.isBehind()) this.#send(encodePublish(topic, payload));
      return;
    }
    if (kind === 0) {
      this.#send(encodePublish(topic, payload));
      return;
    }
    if (this.#waiting.length === 0 && this.#hasRoom()) {
      this.#sendTracked({ topic, payload });
      return;
    }
    if (this.#waitingBytes + payload.length > this.#maxQueuedBytes) {
      this.#target.onOverflow();
      return;
    }
    this.#waiting.push({ topic, payload });
    this.#waitingBytes += payload.length;
  }

  /** A PUBACK for an identifier that isn't awaited is ignored: nothing depends on it. */
  acknowledge(packetId: number): void {
    this.#unacknowledged?.delete(packetId);
    while (this.#hasRoom()) {
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

  /** Lets go of the memory that packets have taken, if none is on its way. */
  rest(): void {
    if (this.#unacknowledged?.size === 0) this.#unacknowledged = null;
  }

  #hasRoom(): boolean {
    return (this.#unacknowledged?.size ?? 0) < this.#limits.receiveMaximum;
  }

  #sendTracked({ topic, payload }: Waiting): void {
    const unacknowledged = (this.#unacknowledged ??= new Set());
    const packetId = this.#nextPacketId(unacknowledged);
    if (this.#send(encodePublish(topic, payload, packetId))) unacknowledged.add(packetId);
  }

  /** A packet beyond the client's Maximum Packet Size counts as delivered [MQTT-3.1.2-25]. */
  #send(packet: Buffer): boolean {
    if (packet.length > this.#limits.maximumPacketSize) return false;
    this.#target.send(packet);
    return true;
  }

  /** The next identifier not in use. At most `receiveMaximum` of the 65535 are, and the caller has checked that. */
  #nextPacketId(unacknowledged: ReadonlySet<number>): number {
    do {
      this.#lastPacketId = (this.#lastPacketId % 65_535) + 1;
    } while (unacknowledged.has(this.#lastPacketId));
    return this.#lastPacketId;
  }
}
