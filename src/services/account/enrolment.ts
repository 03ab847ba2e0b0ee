import {
  CryptoApiError,
  type DeviceIdentity,
  type OpenedDevice,
  type SealedVault,
} from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { isApiError } from '../../net/errors.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { Deps } from '../core/deps.ts';

type AccountDeps = Pick<Deps, 'api' | 'crypto'>;
type EnrolmentDeps = Pick<Deps, 'api' | 'crypto' | 'store'>;
type StoredVault = SealedVault & { readonly version: number };

/**
 * Makes the account's first vault. Two browsers may do that at once: the relay keeps the first one, and the other takes
 * it over.
 */
export async function createVault({ api, crypto }: AccountDeps, userId: string): Promise<StoredVault> {
  const vault = await crypto.createVault(userId);
  try {
    return { ...vault, ...(await api.putVault({ ...vault, version: 0 })) };
  } catch (error) {
    if (!isApiError(error, 'stale-version')) throw error;
    return fetchSealedVault({ api });
  }
}

/** The vault as it is stored, with its wraps, which a session without a device gets. */
export async function fetchSealedVault({ api }: Pick<Deps, 'api'>): Promise<StoredVault> {
  const { sealedVault, version } = await api.getVault();
  return { ...(await api.getVaultWraps()), sealedVault, version };
}

/** The account's vault; made first where the account has none because its sign-up was interrupted. */
export async function fetchVault(deps: AccountDeps, userId: string): Promise<StoredVault> {
  try {
    return await fetchSealedVault(deps);
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error;
    return createVault(deps, userId);
  }
}

/** The local entry of the name that the person has given this device in place of its default. */
export const deviceNameEntry = 'device-name';

/**
 * Registers this browser's device, or resumes it, and binds the session to it. One that was revoked is for good: the
 * browser then forgets what it held, and begins as another device.
 * @returns whether it did so: what is on screen of this browser's records is no more
 */
export async function registerDevice(deps: EnrolmentDeps, defaultName: string): Promise<boolean> {
  const { crypto, store } = deps;
  const device = await crypto.openDevice();
  try {
    await putInPlace(deps, device, defaultName);
    return false;
  } catch (error) {
    if (isApiError(error, 'device-conflict') && error.copied) {
      await crypto.markCopied();
      const anew = await crypto.openDevice();
      // Another device is certified only while signing in.
      if (!anew.isNew) throw new AppError('device-copied', t('devices.copiedHere'), { cause: error });
      await putInPlace(deps, anew, defaultName);
      return false;
    }
    const revocation = isApiError(error, 'device-conflict') ? await revocationOf(deps, device) : null;
    if (revocation === null) throw error;
    await crypto.resetDevice(revocation).catch(onNoVault);
    await putDevice(deps, await crypto.openDevice(), defaultName);
    store.set(showToastAtom, 'info', t('devices.startedAnew'));
    return true;
  }
}

/** Another device is certified only while signing in. */
function onNoVault(error: unknown): never {
  if (!(error instanceof CryptoApiError) || error.code !== 'locked') throw error;
  throw new AppError('locked', t('devices.revokedHere'), { cause: error });
}

/** Registers a device; one that takes the place of a device whose data is in two places, once the relay has ended that. */
async function putInPlace(deps: EnrolmentDeps, device: OpenedDevice, defaultName: string): Promise<void> {
  const { api, crypto, store } = deps;
  if (device.former !== null) {
    const { deviceId, signature, statement } = device.former;
    try {
      await api.deviceCopied(deviceId, { signature, statement });
    } catch (error) {
      // It has been revoked otherwise, or was never known there.
      if (!isApiError(error, 'forbidden', 'not-found')) throw error;
    }
    await crypto.formerTold(deviceId);
    store.set(showToastAtom, 'info', t('devices.copiedAnew'));
  }
  await putDevice(deps, device, defaultName);
}

async function putDevice(
  { api, crypto }: AccountDeps,
  { certificate, deviceId }: DeviceIdentity,
  defaultName: string,
): Promise<void> {
  const name = (await crypto.readLocal(deviceNameEntry)) ?? defaultName;
  const session = api.sessionId();
  const signature = session === null ? {} : { signature: await crypto.signSession(session) };
  await api.putDevice(deviceId, { name, certificate, ...signature });
}

async function revocationOf(
  { api }: AccountDeps,
  { deviceId, userId }: DeviceIdentity,
): Promise<string | null> {
  const revoked = await api.revokedDevices(userId);
  return revoked.find(({ id }) => id === deviceId)?.statement ?? null;
}

export interface Revocation {
  readonly deviceId: string;
  readonly statement: string;
}

/** For the person who erases this browser: the word by which nobody writes to its device any more. */
export async function revocationOfThisDevice({ crypto }: Pick<Deps, 'crypto'>): Promise<Revocation | null> {
  const [{ deviceId }, statement] = await Promise.all([crypto.openDevice(), crypto.ownRevocation()]);
  return statement === null ? null : { deviceId, statement };
}

/** Publishes KeyPackages where few are left, or they are old. */
export async function topUpKeyPackages(deps: Pick<Deps, 'api' | 'clock' | 'crypto'>): Promise<void> {
  const { topUp } = await import('./keyPackages.ts');
  await topUp(deps);
}
