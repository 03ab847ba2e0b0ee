import type { Clock, Timer } from '#src/lib/clock.ts';

interface Due {
  at: number;
  readonly every: number | null;
  readonly task: () => void;
}

/** Time that moves only when a test says so. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-03-01T12:00:00.000Z');
  readonly #due = new Set<Due>();

  /** Milliseconds by which the machine's clock was set, since the beginning. */
  turnedBy = 0;

  now(): number {
    return this.#now + this.turnedBy;
  }

  monotonicNow(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): Timer {
    return this.#add({ at: this.#now + ms, every: null, task });
  }

  every(ms: number, task: () => void): Timer {
    return this.#add({ at: this.#now + ms, every: ms, task });
  }

  get pending(): number {
    return this.#due.size;
  }

  /** Runs what falls due, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#due].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.#now = next.at;
      if (next.every === null) this.#due.delete(next);
      else next.at += next.every;
      next.task();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  #add(due: Due): Timer {
    this.#due.add(due);
    return { cancel: () => void this.#due.delete(due) };
  }
}

/** Until everything that can go on without time or the network has gone on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 0);
    });
  }
}
