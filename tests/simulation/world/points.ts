/**
 * A point at which a tab can be gone: a wait for its disk, for the network, or for the worker on the other side. Between two of
 * them nothing leaves the tab, so that dying there is the same as dying at the next.
 */
export type PointKind = 'disk' | 'request' | 'answer' | 'socket' | 'worker';

export type AtPoint = (kind: PointKind) => void;

/** Counts the points of a browser, and kills its tabs at one of them. */
export class Points {
  readonly #kill: () => void;
  #killAt: number | null = null;
  reached = 0;
  /** The kind of the point at which it was killed; null as long as it lives. */
  killedAt: PointKind | null = null;

  constructor(kill: () => void) {
    this.#kill = kill;
  }

  /** Begins to count. @param killAt the number of the point that kills, from 1 */
  arm(killAt: number): void {
    this.reached = 0;
    this.killedAt = null;
    this.#killAt = killAt;
  }

  /** Counts no longer. @returns where it was killed */
  disarm(): PointKind | null {
    this.#killAt = null;
    return this.killedAt;
  }

  readonly atPoint: AtPoint = (kind) => {
    if (this.#killAt === null) return;
    this.reached += 1;
    if (this.reached !== this.#killAt) return;
    this.#killAt = null;
    this.killedAt = kind;
    this.#kill();
  };
}
