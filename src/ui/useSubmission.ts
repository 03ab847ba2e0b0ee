import { useState } from 'react';
import { errorCode, type FailureCode } from '../lib/errorCode.ts';
import { errorText } from '../lib/errorText.ts';

export interface SubmissionFailure {
  readonly code: FailureCode;
  /** The sentence to show. */
  readonly text: string;
}

/** Submits a form and tells whether that is under way and why it failed last. */
export function useSubmission() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SubmissionFailure | null>(null);

  /**
   * Resolves to whether it succeeded; never rejects. Only a failure frees the form: after a success nobody can send it
   * again before the next screen takes its place.
   * @param fallback sentence for a failure that brings none of its own
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
