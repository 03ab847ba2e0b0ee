/**
 * Several tabs of this person see the same thing happen: whether this one is to act on it. The first to ask may.
 *
 * @param holdMs how long the others are refused; longer than tabs lag behind each other
 */
export function claimAmongTabs(name: string, holdMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, async (lock) => {
        resolve(lock !== null);
        if (lock !== null) await new Promise((release) => setTimeout(release, holdMs));
      })
      .catch(reject);
  });
}
