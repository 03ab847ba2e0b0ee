/** The measures of one run: the shape of the JSON file, and of the answer that the page hands to run.mjs. */

export type Library = 'bare libsodium' | 'crypto-core' | 'ts-mls' | 'IndexedDB alone';

export type Operation = 'send' | 'receive';

export interface Contender {
  readonly library: Library;
  /** RFC 9420 cipher suite number; null where there is no group. */
  readonly suite: number | null;
  readonly members: number | null;
}

export interface Measurement extends Contender {
  readonly operation: Operation;
  /**
   * 'memory': the cryptography and framing alone. 'durable': with the new state in an IndexedDB transaction of
   * durability 'strict', one transaction a message. 'first': the first message of a sender in an epoch, with the
   * records to store made but not written.
   */
  readonly kind: 'memory' | 'durable' | 'first';
  /** Microseconds a message, the mean of each round. The same place in two contenders' lists is the same round. */
  readonly rounds: readonly number[];
  readonly messagesPerRound: number;
  /** State written per message, keys included: the median. Null for 'memory'. */
  readonly bytesPerMessage: number | null;
}

/** The time it took to build what was measured, and the bytes stored once an epoch. */
export interface SetUp extends Contender {
  readonly milliseconds: number;
  /** Bytes that one member stores once an epoch; null for a library that stores everything with each message. */
  readonly epoch: { readonly bytes: number; readonly loadMilliseconds: number } | null;
}

export interface RunOptions {
  /** A smoke test: few rounds, groups of 2 and 100. */
  readonly quick: boolean;
  /** The libraries to run; empty for all. */
  readonly only: readonly Library[];
  /** Bytes of the message. */
  readonly bytes: number;
}

export interface RunResult {
  readonly measurements: readonly Measurement[];
  readonly setUps: readonly SetUp[];
  readonly userAgent: string;
  /** Bytes of the message. */
  readonly bytes: number;
}
