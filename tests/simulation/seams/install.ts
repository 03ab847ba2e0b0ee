import { installThreads } from './threads.ts';
import { installTime } from './time.ts';

/**
 * Puts the world's time and threads in the place of the machine's. What they replace is taken over by some
 * libraries when they are loaded, so it comes before the client and the relay are imported.
 * @returns what puts the machine's back
 */
export function install(): () => void {
  const undo = [installThreads(), installTime()];
  return () => {
    for (const one of undo.toReversed()) one();
  };
}
