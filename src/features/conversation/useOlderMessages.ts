import { useRef, useState } from 'react';

/** Fetches older messages page by page. After a failure it waits for the person, because the next try may fail too. */
export function useOlderMessages(hasOlder: boolean, loadOlder: () => Promise<boolean>) {
  const running = useRef(false);
  const [loading, setLoading] = useState(false);
  const [failed, setFailed] = useState(false);

  async function run() {
    running.current = true;
    setLoading(true);
    setFailed(false);
    setFailed(!(await loadOlder()));
    setLoading(false);
    running.current = false;
  }

  function load() {
    if (hasOlder && !running.current) void run();
  }

  return {
    loading,
    failed,
    load,
    /** The reader comes near the oldest message there is. */
    approach: () => {
      if (!failed) load();
    },
  };
}
