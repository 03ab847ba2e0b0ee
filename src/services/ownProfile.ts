import type { CryptoApi } from '../crypto/client.ts';
import type { Timer } from '../lib/clock.ts';
import type { Profile } from '../net/api.ts';
import { routes } from '../net/contract.ts';
import type { Deps } from './deps.ts';
import { isPassing } from './failures.ts';
import { timings } from './timings.ts';

const noteName = 'profile';

/** The person's profile, kept sealed for a start without the relay. */
export async function keepProfile(crypto: Pick<CryptoApi, 'writeNote'>, profile: Profile): Promise<void> {
  await crypto.writeNote(noteName, JSON.stringify(profile));
}

/** The profile; null when the relay has nothing to say for now. @throws whatever it refuses it with */
export async function askProfile({ api, clock }: Pick<Deps, 'api' | 'clock'>): Promise<Profile | null> {
  const answer = api.profile().catch((error: unknown) => {
    if (isPassing(error)) return null;
    throw error;
  });
  let timer: Timer | null = null;
  const patience = new Promise<null>((resolve) => {
    timer = clock.after(timings.startPatience, () => resolve(null));
  });
  return Promise.race([answer, patience]).finally(() => timer?.cancel());
}

/** As it was kept last, or null. */
export async function recallProfile(
  crypto: Pick<CryptoApi, 'readNote'>,
  userId: string,
): Promise<Profile | null> {
  const kept = routes.profile.response.safeParse(parsed(await crypto.readNote(noteName)));
  return kept.success && kept.data.id === userId ? kept.data : null;
}

/** All that is certain of somebody of whom nothing was kept. */
export function unknownProfile(userId: string): Profile {
  return { id: userId, username: '', email: '', full_name: '', created_at: new Date(0).toISOString() };
}

function parsed(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}
