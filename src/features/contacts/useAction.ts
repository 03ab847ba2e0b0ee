import { useSetAtom } from 'jotai';
import { useState } from 'react';
import { attemptAtom } from '../../store/attempt.ts';

/** Runs one action at a time and tells its outcome in a toast. `running` is the name given to the one under way. */
export function useAction() {
  const attempt = useSetAtom(attemptAtom);
  const [running, setRunning] = useState<string | null>(null);

  async function run(
    name: string,
    action: () => Promise<void>,
    outcome: { success?: string; failure: string },
  ) {
    if (running !== null) return;
    setRunning(name);
    await attempt(action, outcome);
    setRunning(null);
  }

  return { running, run };
}
