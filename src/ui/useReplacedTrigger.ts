import { useCallback, useState } from 'react';

/**
 * For a trigger that takes the place of a plain button which was just used: it gets the focus that the button had, and
 * only then may its popup open, so that the focus can come back to it.
 */
export function useReplacedTrigger() {
  const [isReady, setReady] = useState(false);
  const trigger = useCallback((button: HTMLButtonElement | null) => {
    button?.focus({ preventScroll: true });
    setReady(button !== null);
  }, []);
  return { trigger, isReady };
}
