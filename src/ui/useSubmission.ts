import { useState } from 'react';
import { errorCode } from '../lib/errorCode.ts';
import { errorText } from '../lib/errorText.ts';

export interface SubmissionFailure {
  readonly code: string;
  /** What to show for it. */
  readonly text: string;
}

/** How the sending of a form stands: whether it is under way, and why it failed last. */
export function useSubmission() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SubmissionFailure | null>(null);

  /**
   * Answers whether it succeeded; never rejects. The form is given back when it failed: until what a success leads to
   * has taken its place, nobody can send it again.
   * @param fallback said of a failure that brings no sentence of its own
   */
  async function submit(action: () => Promise<void>, fallback: string): Promise<boolean> {
    setFailure(null);
    setBusy(true);
    try {
      await action();
      return true;
    } catch (error) {
      setFailure({ code: errorCode(error), text: errorText(error, fallback) });
      setBusy(false);
      return false;
    }
  }

  return { busy, failure, submit, forgetFailure: () => setFailure(null) };
}
