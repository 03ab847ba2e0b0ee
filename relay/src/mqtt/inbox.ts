import { limits } from '../../contract/index.ts';
import { type ClientPacket, decodePacket, packetType } from './decode.ts';
import { FrameSplitter } from './frames.ts';
import { PacketError, protocolError, ReasonCode } from './reasonCodes.ts';

/** A CONNECT holds a token and little else. A stranger may not make the relay keep more than this. */
const connectPacketMax = 16 * 1024;

export interface InboxOptions {
  /** Handles one packet; the next one waits for its promise, if it has one. What it throws ends the connection. */
  readonly handle: (packet: ClientPacket) => Promise<void> | void;
  readonly onError: (error: unknown) => void;
  /** Asks the transport to stop or go on reading. */
  readonly onPressure: (isFull: boolean) => void;
}

/** Reading stops above either, until half of it is left. */
const maxQueuedPackets = 64;
const maxQueuedBytes = 4 * limits.mqttPacketMax;

/**
 * Takes what a client sends: cuts it into packets, decodes them, holds the client to its quota of unacknowledged
 * QoS 1 packets, and hands the packets over one at a time in their order.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #splitter = new FrameSplitter(connectPacketMax);
  /** Packet identifiers of QoS 1 PUBLISH packets that have no PUBACK yet. */
  readonly #unacknowledged = new Set<number>();
  #queue: ClientPacket[] = [];
  /** Of payloads. */
  #queuedBytes = 0;
  #connectSeen = false;
  #isFull = false;
  #isDraining = false;
  #drained = Promise.resolve();

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Whether the client has begun as MQTT does, so that it can be answered in MQTT. */
  get connectSeen(): boolean {
    return this.#connectSeen;
  }

  /** @throws PacketError if the bytes break MQTT's rules; nothing may be pushed after it */
  push(chunk: Uint8Array): void {
    for (const frame of this.#splitter.push(chunk)) {
      if ((frame.type === packetType.connect) === this.#connectSeen) {
        throw protocolError('CONNECT must come first, and once');
      }
      this.#connectSeen = true;
      this.#splitter.maximumPacketSize = limits.mqttPacketMax;
      const packet = decodePacket(frame);
      if (packet.type === 'publish' && packet.qos === 1) this.#track(packet.packetId);
      this.#queue.push(packet);
      this.#queuedBytes += payloadLength(packet);
    }
    if (!this.#isDraining && this.#queue.length > 0) this.#drained = this.#drain();
    this.#reportPressure();
  }

  /** A PUBACK goes out for this identifier: the client may use it again. */
  acknowledge(packetId: number): void {
    this.#unacknowledged.delete(packetId);
  }

  /** Drops what waits. A packet that is being handled is handled to its end. Nothing may be pushed after it. */
  stop(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  /** Resolves when nothing is being handled and nothing waits. */
  async settled(): Promise<void> {
    await this.#drained;
  }

  #track(packetId: number): void {
    if (this.#unacknowledged.has(packetId)) throw protocolError('packet identifier is in use');
    if (this.#unacknowledged.size >= limits.mqttReceiveMaximum) {
      throw new PacketError(ReasonCode.ReceiveMaximumExceeded, 'too many unacknowledged packets');
    }
    this.#unacknowledged.add(packetId);
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      for (let packet = this.#queue.shift(); packet !== undefined; packet = this.#queue.shift()) {
        this.#queuedBytes -= payloadLength(packet);
        // Acknowledgements are most of what a listening client sends: a turn of the event loop each is too much.
        const handling = this.#options.handle(packet);
        if (handling !== undefined) await handling;
        this.#reportPressure();
      }
    } catch (error) {
      this.stop();
      this.#options.onError(error);
    } finally {
      this.#isDraining = false;
    }
  }

  #reportPressure(): void {
    const share = this.#isFull ? 0.5 : 1;
    const isFull =
      this.#queue.length > share * maxQueuedPackets || this.#queuedBytes > share * maxQueuedBytes;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#options.onPressure(isFull);
  }
}

function payloadLength(packet: ClientPacket): number {
  return packet.type === 'publish' ? packet.payload.length : 0;
}
