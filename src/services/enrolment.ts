import { isApiError } from '../net/errors.ts';
import type { Deps } from './deps.ts';

/** How many single-use KeyPackages a device keeps at the relay, and below which number it tops up (PROTOCOL section 3). */
export const keyPackageStock = 50;
export const keyPackageMinimum = 20;

type AccountDeps = Pick<Deps, 'api' | 'crypto'>;
type SealedVault = Awaited<ReturnType<Deps['crypto']['createVault']>>;

/**
 * Makes the account's first vault. Two browsers may do that at once: the relay keeps the first one, and the other takes
 * it over.
 */
export async function createVault({ api, crypto }: AccountDeps, userId: string): Promise<SealedVault> {
  const vault = await crypto.createVault(userId);
  try {
    await api.putVault({ ...vault, version: 0 });
    return vault;
  } catch (error) {
    if (!isApiError(error, 'stale-version')) throw error;
    return api.getVault();
  }
}

/** The account's vault; made first where the account has none because its sign-up was interrupted. */
export async function fetchVault(deps: AccountDeps, userId: string): Promise<SealedVault> {
  try {
    return await deps.api.getVault();
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error;
    return createVault(deps, userId);
  }
}

/** Registers this browser's device, or resumes it, and binds the session to it. */
export async function registerDevice({ api, crypto }: AccountDeps, name: string): Promise<void> {
  const { deviceId, certificate } = await crypto.openDevice();
  await api.putDevice(deviceId, { name, certificate });
}

/** Publishes KeyPackages when few are left, and the last-resort one when there is none. */
export async function topUpKeyPackages({ api, crypto }: AccountDeps): Promise<void> {
  const { available, lastResort } = await api.keyPackageCount();
  if (available >= keyPackageMinimum && lastResort) return;
  const missing = available >= keyPackageMinimum ? 0 : keyPackageStock - available;
  const created = await crypto.createKeyPackages(missing, !lastResort);
  await api.publishKeyPackages({
    keyPackages: created.keyPackages,
    ...(created.lastResort === null ? {} : { lastResort: created.lastResort }),
  });
}
