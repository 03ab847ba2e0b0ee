import { type ReleaseVerdict, verdictMessage } from '../serviceWorker/releaseMessages.ts';
import { askWorker } from './askWorker.ts';

/** Milliseconds after which a relay is looked at again. */
export const betweenRelays = 3_000;

/**
 * Asks the service worker in use what it makes of the relay's newest release, and again before a script counts as a stranger's: relays behind
 * one address may differ for a moment, since some have the next release already, and some its chain.
 * @param wait resolves after so many milliseconds
 * @returns null where no service worker is in use
 */
export async function askVerdict(
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

/** Returns whether the script that the relay serves as a service worker belongs to no release. */
export function isOfStranger(verdict: ReleaseVerdict | null): boolean {
  return verdict?.state === 'refused' && !verdict.isKnownScript;
}
