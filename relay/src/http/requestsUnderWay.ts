import type { FastifyReply } from 'fastify';

/** The requests that have been let in and whose answers have yet to end. */
export class RequestsUnderWay {
  readonly #replies = new Set<FastifyReply>();
  #onLast = () => {};

  add(reply: FastifyReply): void {
    this.#replies.add(reply);
    // Comes in any case: after the answer, or when its connection breaks.
    reply.raw.once('close', () => {
      this.#replies.delete(reply);
      if (this.#replies.size === 0) this.#onLast();
    });
  }

  /** Resolves when there are none, and after the given milliseconds at the latest. To be called once no more are let in. */
  settled(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#replies.size === 0) return resolve();
      const timer = setTimeout(resolve, timeoutMs);
      this.#onLast = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
