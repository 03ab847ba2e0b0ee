/** One holder at a time for a name: across all tabs when built on Web Locks. */
export interface Locks {
  hold<T>(name: string, task: () => Promise<T>): Promise<T>;
}

/** Locks that reach every tab of this origin. */
export function webLocks(manager: LockManager): Locks {
  return {
    hold: async <T>(name: string, task: () => Promise<T>): Promise<T> => await manager.request(name, task),
  };
}
