/** Revoking devices, and learning which ones others have revoked (PROTOCOL section 3). */
import { equalBytes, ready } from '@sinetti/crypto-core';
import { signDeviceRevocation } from '@sinetti/crypto-core/account';
import { check, DeviceRevocation, Revocation, RevokedDevices } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { AccountOnDevice, Session } from '../session/session.ts';
import { type Transaction, write } from '../storage/db.ts';
import type { Confirmations } from './confirmations.ts';
import { readPin } from './pins.ts';
import { putRevocation, readRevocation, readStatement } from './revocations.ts';
import type { Rotation } from './rotation.ts';

export function createRevoking(session: Session, confirmations: Confirmations, rotation: Rotation) {
  return {
    async revokeDevice(input) {
      const { deviceId, vault: stored } = check('revokeDevice', DeviceRevocation, input);
      const { userId } = session.accountOnDevice();
      const confirmed = confirmations.take(['revoke-device'], deviceId);
      const body = await rotation.withVault(stored, confirmed.keys, (vault, password) => ({
        statement: toBase64Url(signDeviceRevocation(vault.accountSeed, { userId, deviceId })),
        vault: rotation.seal(userId, vault, stored.version, { password }),
      }));
      confirmations.bind(confirmed, body);
      return body;
    },

    async ownRevocation() {
      const { device } = session.accountOnDevice();
      return device.ownRevocation === null ? null : toBase64Url(device.ownRevocation);
    },

    async resetDevice(revocation) {
      const statement = check('resetDevice', Revocation, revocation);
      const { device, userId } = session.accountOnDevice();
      const revoked = readRevocation(statement);
      const isOwn = revoked?.userId === userId && revoked.deviceId === device.deviceId;
      if (!isOwn || !equalBytes(revoked.accountKey, device.accountKey)) {
        throw new CryptoApiError('usage', 'no revocation of this device');
      }
      await session.reset();
    },

    async setRevoked(input) {
      const revoked = check('setRevoked', RevokedDevices, input);
      const account = session.accountOnDevice();
      await ready();
      await write(account.db, 'relaxed', async (tx) => {
        for (const { userId, deviceId, statement } of revoked) {
          const revocation = readRevocation(statement);
          if (revocation === null || revocation.userId !== userId || revocation.deviceId !== deviceId)
            continue;
          const known = await accountKeysOf(tx, account, userId);
          if (known !== null && !known.some((key) => equalBytes(key, revocation.accountKey))) continue;
          // A former key takes back nothing that the present one has said: whoever has the former may be a thief.
          const kept = await readStatement(tx, account, userId, deviceId);
          const keptKey = kept === null ? null : (readRevocation(kept)?.accountKey ?? null);
          const present = known?.[0] ?? keptKey;
          const isKept = keptKey !== null && present !== null && equalBytes(keptKey, present);
          if (!isKept) await putRevocation(tx, account, userId, deviceId, statement);
        }
      });
    },
  } satisfies Partial<CryptoApi>;
}

/**
 * Returns the account keys that a person has or had, since a former key takes out the devices that it has certified; null
 * for a person who isn't known yet, whose revocations are kept and compared with their leaves later.
 */
async function accountKeysOf(
  tx: Transaction,
  account: AccountOnDevice,
  userId: string,
): Promise<readonly Uint8Array[] | null> {
  if (userId === account.userId) return [account.device.accountKey, ...account.device.formerAccountKeys];
  const pin = await readPin(tx, account, userId);
  return pin === null ? null : [pin.accountKey, ...pin.former.map(({ accountKey }) => accountKey)];
}
