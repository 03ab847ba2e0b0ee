import { atom } from 'jotai';
import { isCancelled } from '../lib/appError.ts';
import { errorText } from '../lib/errorText.ts';
import { showToastAtom } from './toasts.ts';

interface Outcome {
  /** Toast on success; none when absent. */
  readonly success?: string;
  /** Toast on a failure that brings no sentence of its own. */
  readonly failure: string;
}

/** Does what a person asked for and tells its outcome in a toast. Says nothing of what was called off. Answers whether it
 * succeeded; never rejects. */
export const attemptAtom = atom(
  null,
  async (_get, set, action: () => Promise<unknown>, { success, failure }: Outcome): Promise<boolean> => {
    try {
      await action();
    } catch (error) {
      if (!isCancelled(error)) set(showToastAtom, 'error', errorText(error, failure));
      return false;
    }
    if (success !== undefined) set(showToastAtom, 'success', success);
    return true;
  },
);
