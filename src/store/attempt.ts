import { atom } from 'jotai';
import { errorText } from '../lib/errorText.ts';
import { showToastAtom } from './toasts.ts';

interface Outcome {
  /** Toast on success; none when absent. */
  readonly success?: string;
  /** Toast on a failure that brings no sentence of its own. */
  readonly failure: string;
}

/** Does what a person asked for and tells its outcome in a toast. Answers whether it succeeded; never rejects. */
export const attemptAtom = atom(
  null,
  async (_get, set, action: () => Promise<unknown>, { success, failure }: Outcome): Promise<boolean> => {
    try {
      await action();
    } catch (error) {
      set(showToastAtom, 'error', errorText(error, failure));
      return false;
    }
    if (success !== undefined) set(showToastAtom, 'success', success);
    return true;
  },
);
