import { t } from '../../i18n/i18n.ts';
import { isApiError } from '../../net/errors.ts';
import { devicesAtom } from '../../store/devices.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import type { DevicesOptions } from './devices.ts';
import { deviceNameEntry } from './enrolment.ts';

/** Renames this device. */
export async function renameDevice({ api, crypto, store }: Deps, name: string): Promise<void> {
  const current = store.get(devicesAtom)?.find(({ isThisOne }) => isThisOne);
  try {
    const { certificate, deviceId } = await crypto.openDevice();
    await api.putDevice(deviceId, { name, certificate });
    await crypto.writeLocal(deviceNameEntry, name);
    if (current === undefined) return;
    store.set(
      devicesAtom,
      (devices) => devices?.map((one) => (one.isThisOne ? { ...one, name } : one)) ?? null,
    );
  } catch (error) {
    throw toAppError(error, t('deviceList.renameFailed'));
  }
}

/** Revokes another device of the person at the relay. @returns false for one that was revoked already, from elsewhere */
export async function revokeDevice(
  {
    confirmation,
    deps: { api, crypto, store },
    keyRenewal,
    ownUserId,
  }: Pick<DevicesOptions, 'confirmation' | 'deps' | 'keyRenewal' | 'ownUserId'>,
  deviceId: string,
): Promise<boolean> {
  try {
    const target = store.get(devicesAtom)?.find(({ id }) => id === deviceId)?.name ?? '';
    const prove = await confirmation.confirm({ kind: 'revoke-device', target, id: deviceId });
    let statement = '';
    await keyRenewal.renew(
      prove,
      async (vault) => {
        const body = await crypto.revokeDevice({ vault, deviceId });
        statement = body.statement;
        return { vault: body.vault, submit: () => api.revokeDevice(deviceId, body, prove) };
      },
      () => crypto.setRevoked([{ userId: ownUserId, deviceId, statement }]),
    );
    return true;
  } catch (error) {
    if (isApiError(error, 'not-found')) return false;
    throw toAppError(error, t('deviceList.revokeFailed'));
  }
}
