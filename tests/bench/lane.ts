import type { Contender } from './report.ts';

/** One contender in one measurement: two members of one group, the first of whom sends and the second receives. */
export interface Lane {
  readonly contender: Contender;
  /** Prepares for a round what is no part of the message; not timed. */
  prepare?(count: number): void;
  /** Sends `count` messages, one by one. @returns bytes of state written for each, or null when none is written */
  send(count: number): Promise<number | null>;
  /** Receives what `send` sent last, one by one. @returns as `send` */
  receive(): Promise<number | null>;
}
