import { useState } from 'react';
import { errorCode } from '../lib/errorCode.ts';
import { errorText } from '../lib/errorText.ts';

interface SubmissionFailure {
  readonly code: string;
  /** What to show for it. */
  readonly text: string;
}

/** How the sending of a form stands: whether it is under way, and why it failed last. */
export function useSubmission() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SubmissionFailure | null>(null);

  /**
   * Answers whether it succeeded; never rejects.
   * @param action shows itself what takes the form's place: the form is given back when it has ended
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
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { busy, failure, submit, forgetFailure: () => setFailure(null) };
}
