import type { ErrorBody } from '../../contract/index.ts';
import { type Answer, call } from '../helpers.ts';

/** Waits before a client tries again: shortly, because the tests' relays are back soon, and randomly. */
export const backOff = (random: () => number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 20 + random() * 180);
  });

/**
 * Calls until the relay has answered, as a client does that meets a dead relay, or one that says it can't serve now.
 * @throws Error if `isGivenUp` says so
 */
export async function callUntilAnswered<T = ErrorBody>(
  relay: { readonly url: string },
  request: { method: string; path: string; token: string; body?: unknown },
  random: () => number,
  isGivenUp: () => boolean = () => false,
): Promise<Answer<T>> {
  for (;;) {
    if (isGivenUp()) throw new Error('given up');
    try {
      const { token, body } = request;
      const answer = await call<T>(relay, request.method, request.path, {
        token,
        ...(body === undefined ? {} : { body }),
      });
      if (answer.status < 500) return answer;
    } catch {
      // No connection, or one that has ended half-way.
    }
    await backOff(random);
  }
}
