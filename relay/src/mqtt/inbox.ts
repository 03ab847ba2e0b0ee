import { limits } from '../../contract/index.ts';
import { type ClientPacket, decodePacket, packetType } from './decode.ts';
import { FrameSplitter } from './frames.ts';
import { PacketError, protocolError, ReasonCode } from './reasonCodes.ts';

/** A CONNECT holds a token and little else. A stranger may not make the relay keep more than this. */
const connectPacketMax = 16 * 1024;

/** The answer that a packet which has been taken in still waits for. */
export interface Answering {
  /** Resolves to what gives the answer. */
  readonly answer: Promise<() => void>;
}

/** Takes the packets: the connection itself, since a function of its own for each thing would be held as long as it is. */
export interface PacketHandler {
  /**
   * Handles one packet; the next one waits for its promise, if it has one. What it throws ends the connection. If it
   * leaves an answer open, packets of QoS 1 are handled meanwhile, and all others wait. Answers are given in the order
   * of their packets [MQTT-4.6.0-2].
   */
  handle(packet: ClientPacket): Promise<Answering | void> | void;
  onError(error: unknown): void;
  /** Asks the transport to stop or go on reading. */
  onPressure(isFull: boolean): void;
}

interface OpenAnswer {
  give: (() => void) | null;
}

/** Reading stops above either, until half of it is left. */
const maxQueuedPackets = 64;
const maxQueuedBytes = 4 * limits.mqttPacketMax;

/**
 * Takes what a client sends: cuts it into packets, decodes them, holds the client to its quota of unacknowledged
 * QoS 1 packets, and hands the packets over one at a time in their order.
 */
export class Inbox {
  readonly #handler: PacketHandler;
  readonly #splitter = new FrameSplitter(connectPacketMax);
  /** Packet identifiers of QoS 1 PUBLISH packets that have no PUBACK yet; null until there is one. */
  #unacknowledged: Set<number> | null = null;
  #queue: ClientPacket[] = [];
  /** The bytes of the queued payloads. */
  #queuedBytes = 0;
  #connectSeen = false;
  #isFull = false;
  #isDraining = false;
  #drained = Promise.resolve();
  /** The open answers of packets that have been taken in, in the packets' order. */
  readonly #answers: OpenAnswer[] = [];
  /** Callbacks that wait for all of them to be given. */
  #whenAnswered: (() => void)[] = [];

  constructor(handler: PacketHandler) {
    this.#handler = handler;
  }

  /** True once the client has begun as MQTT does, so that it can be answered in MQTT. */
  get connectSeen(): boolean {
    return this.#connectSeen;
  }

  /**
   * @returns whether a packet has come to its end
   * @throws PacketError if the bytes break MQTT's rules; nothing may be pushed after it
   */
  push(chunk: Uint8Array): boolean {
    let isWhole = false;
    for (const frame of this.#splitter.push(chunk)) {
      if ((frame.type === packetType.connect) === this.#connectSeen) {
        throw protocolError('CONNECT must come first, and once');
      }
      this.#connectSeen = true;
      isWhole = true;
      this.#splitter.maximumPacketSize = limits.mqttPacketMax;
      const packet = decodePacket(frame);
      if (packet.type === 'publish' && packet.qos === 1) this.#track(packet.packetId);
      this.#queue.push(packet);
      this.#queuedBytes += payloadLength(packet);
    }
    if (!this.#isDraining && this.#queue.length > 0) this.#drained = this.#drain();
    this.#reportPressure();
    return isWhole;
  }

  /** A PUBACK goes out for this identifier: the client may use it again. */
  acknowledge(packetId: number): void {
    this.#unacknowledged?.delete(packetId);
  }

  /** Drops what waits. A packet that is being handled is handled to its end. Nothing may be pushed after it. */
  stop(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  /** Resolves when nothing is being handled or to be answered, and nothing waits. */
  async settled(): Promise<void> {
    await this.#drained;
    await this.#answered();
  }

  /** Lets go of the memory that packets have taken, if none is on its way. */
  rest(): void {
    if (this.#unacknowledged?.size === 0) this.#unacknowledged = null;
    // An array that was filled and emptied keeps its room.
    if (this.#queue.length === 0) this.#queue = [];
  }

  #track(packetId: number): void {
    this.#unacknowledged ??= new Set();
    if (this.#unacknowledged.has(packetId)) throw protocolError('packet identifier is in use');
    if (this.#unacknowledged.size >= limits.mqttReceiveMaximum) {
      throw new PacketError(ReasonCode.ReceiveMaximumExceeded, 'too many unacknowledged packets');
    }
    this.#unacknowledged.add(packetId);
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      for (let packet = this.#queue[0]; packet !== undefined; packet = this.#queue[0]) {
        if (this.#answers.length > 0 && !overtakesAnswers(packet)) {
          // Left in the queue meanwhile, for it to be dropped with the rest.
          await this.#answered();
          continue;
        }
        this.#queue.shift();
        this.#queuedBytes -= payloadLength(packet);
        // Acknowledgements are most of what a listening client sends: a turn of the event loop each is too much.
        const handling = this.#handler.handle(packet);
        const left = handling === undefined ? undefined : await handling;
        if (left !== undefined) this.#expect(left);
        this.#reportPressure();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isDraining = false;
    }
  }

  /** Gives the answer in its packet's turn. No more can be open than packets may be unacknowledged. */
  #expect({ answer }: Answering): void {
    const slot: OpenAnswer = { give: null };
    this.#answers.push(slot);
    const arrive = (give: () => void) => {
      slot.give = give;
      this.#giveAnswers();
    };
    void answer.then(arrive, (error: unknown) => arrive(() => this.#fail(error)));
  }

  #giveAnswers(): void {
    for (let give = this.#answers[0]?.give; typeof give === 'function'; give = this.#answers[0]?.give) {
      this.#answers.shift();
      try {
        give();
      } catch (error) {
        this.#fail(error);
      }
    }
    if (this.#answers.length > 0) return;
    const waiting = this.#whenAnswered;
    this.#whenAnswered = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when no answer is open. */
  async #answered(): Promise<void> {
    if (this.#answers.length > 0) await new Promise<void>((resolve) => this.#whenAnswered.push(resolve));
  }

  #fail(error: unknown): void {
    this.stop();
    this.#handler.onError(error);
  }

  #reportPressure(): void {
    const share = this.#isFull ? 0.5 : 1;
    const isFull =
      this.#queue.length > share * maxQueuedPackets || this.#queuedBytes > share * maxQueuedBytes;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#handler.onPressure(isFull);
  }
}

const overtakesAnswers = (packet: ClientPacket) =>
  packet.type === 'puback' || (packet.type === 'publish' && packet.qos === 1);

function payloadLength(packet: ClientPacket): number {
  return packet.type === 'publish' ? packet.payload.length : 0;
}
