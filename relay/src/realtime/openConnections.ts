import { limits } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';

/**
 * Counts the live connections of each person to this relay. Each costs memory for as long as it stays, so how fast they
 * are opened is not all that has to be limited.
 */
export class OpenConnections {
  readonly #counts = new Map<string, number>();

  /** `close` is to be called once for it. @throws ApiError limit-reached */
  open(userId: string): void {
    const count = this.#counts.get(userId) ?? 0;
    if (count >= limits.connectionsPerUser) {
      throw new ApiError('limit-reached', `You can have at most ${limits.connectionsPerUser} connections.`);
    }
    this.#counts.set(userId, count + 1);
  }

  close(userId: string): void {
    const left = (this.#counts.get(userId) ?? 1) - 1;
    if (left === 0) this.#counts.delete(userId);
    else this.#counts.set(userId, left);
  }
}
