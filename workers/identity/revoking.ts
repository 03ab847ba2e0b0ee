/** Revoking devices, and learning which ones others have revoked (PROTOCOL section 3). */
import { equalBytes, ready, signDeviceRevocation } from '@sinetti/crypto-core';
import { check, Id, Revocation, RevokedDevices } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { AccountOnDevice, Session } from '../session/session.ts';
import { type Transaction, write } from '../storage/db.ts';
import type { Confirmations } from './confirmations.ts';
import { readPin } from './pins.ts';
import { putRevocation, readRevocation } from './revocations.ts';

type RevokingApi = Pick<CryptoApi, 'revokeDevice' | 'setRevoked' | 'resetDevice'>;

export function createRevoking(session: Session, confirmations: Confirmations): RevokingApi {
  return {
    async revokeDevice(id) {
      const deviceId = check('revokeDevice', Id, id);
      const account = session.accountOnDevice();
      // This device may revoke itself with nothing but the session, as the relay sees it too.
      const isOwn = deviceId === account.device.deviceId;
      const confirmed = isOwn ? null : confirmations.take(['revoke-device'], deviceId);
      await ready();
      const statement = toBase64Url(
        signDeviceRevocation(account.vault.accountSeed, { userId: account.userId, deviceId }),
      );
      if (confirmed !== null) confirmations.bind(confirmed, { statement });
      return statement;
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
          const known = await accountKeyOf(tx, account, userId);
          if (known !== null && !equalBytes(known, revocation.accountKey)) continue;
          await putRevocation(tx, account, userId, deviceId, statement);
        }
      });
    },
  };
}

/**
 * Returns the pinned account key; null for a person who isn't known yet, whose revocations are kept and
 * compared with their leaves later.
 */
async function accountKeyOf(
  tx: Transaction,
  account: AccountOnDevice,
  userId: string,
): Promise<Uint8Array | null> {
  if (userId === account.userId) return account.device.accountKey;
  return (await readPin(tx, account, userId))?.accountKey ?? null;
}
