import { useState } from 'react';

export interface Trial<Result> {
  readonly isBusy: boolean;
  readonly hasFailed: boolean;
  /** The last outcome; null before there is one. */
  readonly result: Result | null;
  /** Does it, unless it goes on already. */
  readonly run: (task: () => Promise<Result>) => Promise<void>;
}

/** Something that is tried out at the press of a button, and may fail. */
export function useTrial<Result>(): Trial<Result> {
  const [isBusy, setBusy] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const [result, setResult] = useState<Result | null>(null);
  return {
    isBusy,
    hasFailed,
    result,
    async run(task) {
      if (isBusy) return;
      setBusy(true);
      setFailed(false);
      try {
        const found = await task();
        setResult(() => found);
      } catch {
        setFailed(true);
      }
      setBusy(false);
    },
  };
}
