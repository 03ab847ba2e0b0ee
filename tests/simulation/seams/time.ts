/**
 * The time of the simulated world, in place of the machine's: nothing waits, and what is due at one moment comes in the
 * order in which it was asked for.
 */

/** The machine's own, for what must go on whatever the world's clock says. */
const real = { setImmediate: globalThis.setImmediate, Date: globalThis.Date };
const replaced = [
  'setTimeout',
  'setInterval',
  'clearTimeout',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
] as const;
const originals = new Map<string, unknown>(replaced.map((name) => [name, Reflect.get(globalThis, name)]));

const begin = real.Date.UTC(2026, 2, 1);
/** After so many turns of the event loop in which nothing was asked for, nothing is under way. */
const stillTurns = 3;
/** Turns of one step after which something runs in circles. */
const endlessTurns = 200_000;

class Timer {
  at: number;
  readonly order: number;
  readonly every: number | null;
  readonly task: () => void;

  constructor(at: number, order: number, every: number | null, task: () => void) {
    this.at = at;
    this.order = order;
    this.every = every;
    this.task = task;
  }
}

let now = begin;
let orders = 0;
let timers = new Set<Timer>();
let immediates = 0;
let asked = 0;

/** Milliseconds since the epoch. */
export const worldNow = (): number => now;

/** The handle that Node's timers return, which can be cleared by itself, or refreshed. */
class Handle {
  timer: Timer;
  readonly #delay: number;

  constructor(delay: number, every: number | null, task: () => void) {
    // A clock has whole milliseconds.
    this.#delay = Math.ceil(delay);
    orders += 1;
    this.timer = new Timer(now + this.#delay, orders, every, task);
    timers.add(this.timer);
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  close = (): void => void timers.delete(this.timer);

  refresh = (): this => {
    if (!timers.has(this.timer)) return this;
    this.timer.at = now + this.#delay;
    return this;
  };
}

const delayOf = (ms: unknown): number => Math.max(1, Math.floor(Number(ms) || 0));

export function after(ms: number, task: () => void): { cancel: () => void } {
  const handle = new Handle(Math.max(0, ms), null, task);
  return { cancel: handle.close };
}

function clear(handle: unknown): void {
  if (handle instanceof Handle) handle.close();
}

class WorldDate extends real.Date {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now);
    else super(...(given as [number]));
  }

  static override now(): number {
    return now;
  }
}

/** Puts the world's clock in the place of the machine's. @returns what puts the machine's back */
export function installTime(): () => void {
  now = begin;
  orders = 0;
  timers = new Set();
  const fakes: Record<(typeof replaced)[number], unknown> = {
    setTimeout: (task: (...given: unknown[]) => void, ms?: unknown, ...given: unknown[]) =>
      new Handle(delayOf(ms), null, () => task(...given)),
    setInterval: (task: (...given: unknown[]) => void, ms?: unknown, ...given: unknown[]) =>
      new Handle(delayOf(ms), delayOf(ms), () => task(...given)),
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate: (task: (...given: unknown[]) => void, ...given: unknown[]) => {
      const pending = { done: false };
      immediates += 1;
      asked += 1;
      real.setImmediate(() => {
        if (pending.done) return;
        pending.done = true;
        immediates -= 1;
        task(...given);
      });
      return pending;
    },
    clearImmediate: (pending: unknown) => {
      if (typeof pending !== 'object' || pending === null || !('done' in pending) || pending.done === true)
        return;
      pending.done = true;
      immediates -= 1;
    },
    Date: WorldDate,
  };
  for (const name of replaced) Reflect.set(globalThis, name, fakes[name]);
  return () => {
    for (const [name, original] of originals) Reflect.set(globalThis, name, original);
    timers.clear();
  };
}

/** Waits for one turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

/** Lets everything run that waits for no clock. */
export async function quiet(): Promise<void> {
  let still = 0;
  for (let turns = 0; still < stillTurns; turns += 1) {
    if (turns > endlessTurns) throw new Error('something runs in circles');
    const before = asked;
    await turn();
    still = immediates === 0 && asked === before ? still + 1 : 0;
  }
}

function next(): Timer | null {
  let first: Timer | null = null;
  for (const timer of timers) {
    if (first === null || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
      first = timer;
  }
  return first;
}

/** Lets the world go on by so many milliseconds, one timer after the other. */
export async function pass(ms: number): Promise<void> {
  const end = now + ms;
  await quiet();
  for (;;) {
    const timer = next();
    if (timer === null || timer.at > end) break;
    fire(timer);
    await quiet();
  }
  now = end;
}

function fire(timer: Timer): void {
  now = Math.max(now, timer.at);
  if (timer.every === null) timers.delete(timer);
  else timer.at = now + timer.every;
  timer.task();
}

/**
 * Lets the world go on until an observation is true.
 * @returns whether it was within so many milliseconds of the world
 */
export async function passUntil(
  observe: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const end = now + withinMs;
  for (;;) {
    await quiet();
    if (await observe()) return true;
    const timer = next();
    if (timer === null || timer.at > end) return false;
    fire(timer);
  }
}
