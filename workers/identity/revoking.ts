/** Revoking devices, and learning which ones others have revoked (PROTOCOL section 3). */
import { equalBytes, ready, signDeviceRevocation } from '@sinetti/crypto-core';
import { check, Id, Revocation, RevokedDevices } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { PersonOnDevice, Session } from '../session/session.ts';
import { type Transaction, write } from '../storage/db.ts';
import { readPin } from './pins.ts';
import { putRevocation, readRevocation } from './revocations.ts';

type RevokingApi = Pick<CryptoApi, 'revokeDevice' | 'setRevoked' | 'startAnew'>;

export function createRevoking(session: Session): RevokingApi {
  return {
    async revokeDevice(id) {
      const deviceId = check('revokeDevice', Id, id);
      const person = session.personWithDevice();
      await ready();
      return toBase64Url(signDeviceRevocation(person.vault.accountSeed, { userId: person.userId, deviceId }));
    },

    async startAnew(revocation) {
      const statement = check('startAnew', Revocation, revocation);
      const { device, userId } = session.personWithDevice();
      const revoked = readRevocation(statement);
      const isOwn = revoked?.userId === userId && revoked.deviceId === device.deviceId;
      if (!isOwn || !equalBytes(revoked.accountKey, device.accountKey)) {
        throw new CryptoApiError('usage', 'no revocation of this device');
      }
      await session.startAnew();
    },

    async setRevoked(input) {
      const revoked = check('setRevoked', RevokedDevices, input);
      const person = session.personWithDevice();
      await ready();
      await write(person.db, 'relaxed', async (tx) => {
        for (const { userId, deviceId, statement } of revoked) {
          const revocation = readRevocation(statement);
          if (revocation === null || revocation.userId !== userId || revocation.deviceId !== deviceId)
            continue;
          const known = await accountKeyOf(tx, person, userId);
          if (known !== null && !equalBytes(known, revocation.accountKey)) continue;
          await putRevocation(tx, person, userId, deviceId, statement);
        }
      });
    },
  };
}

/** Null for a person who isn't known yet: what their statements are worth shows with their first device. */
async function accountKeyOf(
  tx: Transaction,
  person: PersonOnDevice,
  userId: string,
): Promise<Uint8Array | null> {
  if (userId === person.userId) return person.device.accountKey;
  return (await readPin(tx, person, userId))?.accountKey ?? null;
}
