import { useSetAtom } from 'jotai';
import { useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { showToastAtom } from '../../store/toasts.ts';

interface Outcome {
  /** Toast on success; none when absent. */
  success?: string;
  /** Toast on a failure that brings no sentence of its own. */
  failure: string;
}

/** Runs one action at a time and tells its outcome in a toast. `running` is the name given to the one under way. */
export function useAction() {
  const showToast = useSetAtom(showToastAtom);
  const [running, setRunning] = useState<string | null>(null);

  async function run(name: string, action: () => Promise<void>, { success, failure }: Outcome) {
    if (running !== null) return;
    setRunning(name);
    try {
      await action();
      if (success !== undefined) showToast('success', success);
    } catch (error) {
      showToast('error', errorText(error, failure));
    } finally {
      setRunning(null);
    }
  }

  return { running, run };
}
