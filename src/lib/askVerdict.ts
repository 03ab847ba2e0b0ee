import { type ReleaseVerdict, verdictMessage } from '../serviceWorker/releaseMessages.ts';
import { askWorker } from './askWorker.ts';

/**
 * Milliseconds from a start to the first look, which fetches from the relay what nothing on the first screen depends on. A version that
 * comes is looked at when it does.
 */
export const beforeFirstLook = 2_000;

/** Milliseconds after which a relay is looked at again. */
export const betweenRelays = 3_000;

/**
 * Asks the service worker in use what it makes of the relay's newest release, and again before a script counts as a stranger's: relays behind
 * one address may differ for a moment, since some have the next release already, and some its chain.
 * @param wait resolves after so many milliseconds
 * @returns null where no service worker is in use
 */
async function askVerdict(
  registration: Pick<ServiceWorkerRegistration, 'active'>,
  wait: (ms: number) => Promise<void>,
): Promise<ReleaseVerdict | null> {
  const ask = async () => {
    const { active } = registration;
    return active && askWorker<ReleaseVerdict>(active, verdictMessage);
  };
  const found = await ask();
  if (!isOfStranger(found)) return found;
  await wait(betweenRelays);
  return ask();
}

/**
 * Returns a function that asks likewise, and says of an answer whether one to a later question has come before it: a look takes as long
 * as the relay wants, and the later one holds.
 */
export function createVerdicts(wait: (ms: number) => Promise<void>) {
  let asked = 0;
  let heard = 0;
  return async (
    registration: Pick<ServiceWorkerRegistration, 'active'>,
  ): Promise<{ readonly verdict: ReleaseVerdict | null; readonly isOvertaken: boolean }> => {
    asked += 1;
    const number = asked;
    const verdict = await askVerdict(registration, wait);
    const isOvertaken = number < heard;
    if (!isOvertaken) heard = number;
    return { verdict, isOvertaken };
  };
}

/** Returns whether the script that the relay serves as a service worker belongs to no release. */
export function isOfStranger(verdict: ReleaseVerdict | null): boolean {
  return verdict?.state === 'refused' && !verdict.isKnownScript;
}
