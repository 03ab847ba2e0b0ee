/** The clock by which messages disappear: it doesn't go back when this machine's clock is set back. */
import type { Env } from '@sinetti/crypto-core';

interface Clocks {
  readonly env: Pick<Env, 'now'>;
  /** Milliseconds since any moment, by a clock that nobody sets. */
  readonly monotonic: () => number;
}

export class AccountClock {
  /** Milliseconds by which another worker has found this machine's clock to be set back, as far as this one has heard; null before. */
  heardOf: number | null = null;
  readonly #deps: Clocks;
  #opened: number;

  constructor(deps: Clocks) {
    this.#deps = deps;
    this.#opened = deps.env.now() - deps.monotonic();
  }

  /** Returns milliseconds since the Unix epoch. */
  readonly now = (): number =>
    Math.max(this.#deps.env.now(), Math.floor(this.#opened + this.#deps.monotonic()));

  /** Goes on from an earlier time, to which the machine's clock was set while this one ran ahead. */
  turnBack(milliseconds: number): void {
    this.#opened -= milliseconds;
  }
}
