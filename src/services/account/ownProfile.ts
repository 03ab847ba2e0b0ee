import type { CryptoApi } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Profile } from '../../net/api.ts';
import { routes } from '../../net/contract.ts';
import type { RelayTrouble } from '../../store/connection.ts';
import type { Deps } from '../core/deps.ts';
import { passingTrouble } from '../core/failures.ts';
import { parsedJson } from '../core/parsedJson.ts';
import { timings } from '../core/timings.ts';

const profileEntry = 'profile';

/** The person's profile, kept sealed for a start without the relay. */
export async function keepProfile(crypto: Pick<CryptoApi, 'writeLocal'>, profile: Profile): Promise<void> {
  await crypto.writeLocal(profileEntry, JSON.stringify(profile));
}

/** The profile, or what keeps the relay from telling it for now. */
export type ProfileAnswer =
  | { readonly user: Profile; readonly trouble: null }
  | { readonly user: null; readonly trouble: RelayTrouble };

/** @throws whatever the relay refuses it with */
export async function askProfile({ api, clock }: Pick<Deps, 'api' | 'clock'>): Promise<ProfileAnswer> {
  const answer = api.profile().then(
    (user): ProfileAnswer => ({ user, trouble: null }),
    (error: unknown): ProfileAnswer => ({ user: null, trouble: passingTrouble(error) }),
  );
  let timer: Timer | null = null;
  const patience = new Promise<ProfileAnswer>((resolve) => {
    timer = clock.after(timings.startPatience, () => resolve({ user: null, trouble: 'silent' }));
  });
  return Promise.race([answer, patience]).finally(() => timer?.cancel());
}

/** Returns the profile that was kept last; null where none was kept, or another person's. */
export async function recallProfile(
  crypto: Pick<CryptoApi, 'readLocal'>,
  userId: string,
): Promise<Profile | null> {
  const kept = routes.profile.response.safeParse(parsedJson(await crypto.readLocal(profileEntry)));
  return kept.success && kept.data.id === userId ? kept.data : null;
}

/** All that is certain of somebody of whom nothing was kept. */
export function unknownProfile(userId: string): Profile {
  return { id: userId, username: '', email: '', full_name: '', created_at: new Date(0).toISOString() };
}
