import { CryptoApiError } from '../api/errors.ts';
import type { Prompt, PromptAnswer, PromptRequest, Typed } from '../api/prompt.ts';

/** The worker's end of the port to its frame. */
export interface PromptPort extends Prompt {
  /** Takes what the frame has sent. */
  receive(message: unknown): void;
}

/** @param post sends to the frame's own thread, which is not the page's */
export function createPrompt(post: (request: PromptRequest) => void): PromptPort {
  let count = 0;
  /** Takes the answers to what is asked; null while nothing is. */
  let take: ((typed: Typed | null) => void) | null = null;

  return {
    async ask(question, attempt) {
      // A question in the place of another would be answered by who has read the other one.
      if (take !== null) throw new CryptoApiError('usage', 'another operation is being confirmed');
      count += 1;
      let isCancelled = false;
      try {
        for (let isFirst = true; ; isFirst = false) {
          const typed = await new Promise<Typed | null>((resolve) => {
            take = (answer) => {
              isCancelled ||= answer === null;
              resolve(answer);
            };
            post(isFirst ? { type: 'ask', number: count, question } : { type: 'wrong-password' });
          });
          const result = typed === null ? null : await tried(attempt(typed));
          // Also when it was called off while the password was checked.
          if (isCancelled) throw new CryptoApiError('cancelled');
          if (result !== null) return result.value;
        }
      } finally {
        take = null;
        post({ type: 'answered' });
      }
    },

    receive(message) {
      const { number, typed } = message as PromptAnswer;
      // An answer may meet the end of its question on the way.
      if (number === count) take?.(typed);
    },
  };
}

/** Null for a wrong password. */
async function tried<T>(attempt: Promise<T>): Promise<{ readonly value: T } | null> {
  try {
    return { value: await attempt };
  } catch (error) {
    if (error instanceof CryptoApiError && error.code === 'wrong-password') return null;
    throw error;
  }
}
