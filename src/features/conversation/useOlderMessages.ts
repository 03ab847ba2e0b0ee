import { useRef, useState } from 'react';

/** Fetches older messages page by page. After a failure it waits for the person, because the next try may fail too. */
export function useOlderMessages(hasOlder: boolean, loadOlder: () => Promise<boolean>) {
  const running = useRef(false);
  const [loading, setLoading] = useState(false);
  const [failed, setFailed] = useState(false);

  async function run(): Promise<boolean> {
    running.current = true;
    setLoading(true);
    setFailed(false);
    const succeeded = await loadOlder();
    setFailed(!succeeded);
    setLoading(false);
    running.current = false;
    return succeeded;
  }

  /** Resolves to false if it was tried in vain. */
  async function load(): Promise<boolean> {
    return !hasOlder || running.current || run();
  }

  return {
    loading,
    failed,
    load,
    /** The reader comes near the oldest message there is. */
    approach: () => {
      if (!failed) void load();
    },
  };
}
