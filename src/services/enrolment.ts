import { isApiError } from '../net/errors.ts';
import type { Deps } from './deps.ts';

/** How many single-use KeyPackages a device keeps at the relay, and below which number it tops up (PROTOCOL section 3). */
export const keyPackageStock = 50;
export const keyPackageMinimum = 20;

const maxVaultAttempts = 3;

type SealedVault = Awaited<ReturnType<Deps['crypto']['createVault']>>;

/**
 * The account's vault; made first where the account has none, as when its sign-up was interrupted. Two browsers may do
 * that at once: the relay keeps the first, and the other takes it over.
 */
export async function fetchOrCreateVault(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  userId: string,
): Promise<SealedVault> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await api.getVault();
    } catch (error) {
      if (!isApiError(error, 'not-found')) throw error;
    }
    const vault = await crypto.createVault(userId);
    try {
      await api.putVault({ ...vault, version: 0 });
      return vault;
    } catch (error) {
      if (!isApiError(error, 'stale-version') || attempt === maxVaultAttempts) throw error;
    }
  }
}

/** Registers this browser's device, or resumes it, and binds the session to it. */
export async function registerDevice(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  name: string,
): Promise<void> {
  const { deviceId, certificate } = await crypto.openDevice();
  await api.putDevice(deviceId, { name, certificate });
}

/** Publishes KeyPackages when few are left, and the last-resort one when there is none. */
export async function topUpKeyPackages({ api, crypto }: Pick<Deps, 'api' | 'crypto'>): Promise<void> {
  const { available, lastResort } = await api.keyPackageCount();
  if (available >= keyPackageMinimum && lastResort) return;
  const missing = available >= keyPackageMinimum ? 0 : keyPackageStock - available;
  const created = await crypto.createKeyPackages(missing, !lastResort);
  await api.publishKeyPackages({
    keyPackages: created.keyPackages,
    ...(created.lastResort === null ? {} : { lastResort: created.lastResort }),
  });
}
