import type { Readable } from 'node:stream';

/** A turn to write a blob. */
export interface Turn {
  /** Aborted with an error when somebody else is to have the turn. */
  readonly signal: AbortSignal;
  end(): void;
}

/** Lets one at a time write a blob. */
export class Writers {
  readonly #turns = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  /**
   * Takes over from who writes the blob now: their connection may be dead without anybody knowing.
   * @param reason the error that they are told
   */
  async take(id: string, reason: () => Error): Promise<Turn> {
    for (let turn = this.#turns.get(id); turn !== undefined; turn = this.#turns.get(id)) {
      turn.stop.abort(reason());
      await turn.ended;
    }
    const stop = new AbortController();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = () => {
        this.#turns.delete(id);
        resolve();
      };
    });
    this.#turns.set(id, { stop, ended });
    return { signal: stop.signal, end };
  }

  /** Ends every turn. @param reason the error that all are told */
  async stop(reason: () => Error): Promise<void> {
    const turns = [...this.#turns.values()];
    for (const { stop } of turns) stop.abort(reason());
    await Promise.all(turns.map(({ ended }) => ended));
  }
}

/**
 * Gives the chunks of a stream to a task, the next one when it has dealt with the one before: no more than the stream's own
 * buffer is in memory. Stopped or failed, it leaves the stream paused and open, so that its connection can be answered.
 * @throws whatever the task or the stream fails with, and the reason of the signal
 */
export function eachChunk(
  source: Readable,
  signal: AbortSignal,
  task: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let busy: Promise<void> = Promise.resolve();
    const settle = (finish: () => void) => {
      source.pause();
      source.off('data', take).off('end', end).off('close', breakOff);
      signal.removeEventListener('abort', abort);
      finish();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    /** Once the task is done with the last chunk, which fails by itself: the stream may end before, even while it is paused. */
    const afterLast = (finish: () => void) => void busy.then(finish, () => undefined);
    const breakOff = () => afterLast(() => fail(source.errored ?? new Error('the connection was closed')));
    const abort = () => afterLast(() => fail(signal.reason));
    const end = () => afterLast(() => settle(resolve));
    const take = (chunk: Buffer) => {
      source.pause();
      busy = task(chunk);
      afterLast(() => {
        if (!signal.aborted) source.resume();
      });
      busy.catch(fail);
    };
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    // A stream that fails is closed as well, and one that nobody listens to would end the process.
    source.on('error', () => undefined);
    source.on('data', take).on('end', end).on('close', breakOff);
    if (source.destroyed) breakOff();
    return undefined;
  });
}
