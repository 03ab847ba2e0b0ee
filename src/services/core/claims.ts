import type { ClaimedKeyPackage } from '../../crypto/client.ts';
import type { Deps } from './deps.ts';

/**
 * Claims a KeyPackage of every device of these people but this one: of the suite of a conversation that this device is in,
 * and else of the first suite that all of them have. Devices whose KeyPackage is over, as they weren't opened for long, are
 * left out: one of them would keep the others from being added.
 * @param userIds at most `limits.peoplePerClaim`
 */
export async function claimFor(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  conversationId: string,
  userIds: readonly string[],
): Promise<ClaimedKeyPackage[]> {
  const suites = await crypto.keyPackageSuites(conversationId);
  if (suites.length === 0) return [];
  const claimed = await api.claimKeyPackages(userIds, suites);
  return crypto.usableKeyPackages(
    claimed.map(({ deviceId, keyPackage, userId }) => ({ userId, deviceId, keyPackage })),
  );
}
