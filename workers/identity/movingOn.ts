/** Moving on after a theft: another account key, under which everything begins anew (PROTOCOL section 2). */
import { wipe } from '@sinetti/crypto-core';
import { createVault, readDeviceCertificate, signDeviceRevocation } from '@sinetti/crypto-core/account';
import { check, MoveOn } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Session } from '../session/session.ts';
import type { Confirmations } from './confirmations.ts';
import { newDeviceRecord } from './newDevice.ts';
import { type PasswordDeps, passwordBody, sealUnderNewPassword } from './passwordKeys.ts';
import type { Rotation } from './rotation.ts';

export function createMovingOn(
  deps: PasswordDeps,
  session: Session,
  confirmations: Confirmations,
  rotation: Rotation,
) {
  const { env } = deps;
  return {
    async moveOn(input) {
      const { deviceIds, vault: stored } = check('moveOn', MoveOn, input);
      const { device, userId } = session.accountOnDevice();
      const confirmed = confirmations.take(['move-on'], null);
      const { keys, newPassword } = confirmed;
      if (newPassword === null) throw new CryptoApiError('usage', 'no new password was typed');
      const made = await rotation.withVault(stored, keys, async (vault) => {
        const { sharedKeys: unused, ...anew } = createVault(env);
        wipe(...unused.flatMap(({ historyKey, stateKey }) => [historyKey, stateKey]));
        try {
          await session.keepNextUnlock(anew);
          const record = newDeviceRecord(env, userId, anew.accountSeed, device);
          const revocations = [...new Set([device.deviceId, ...deviceIds])].map((deviceId) => ({
            deviceId,
            statement: signDeviceRevocation(vault.accountSeed, { userId, deviceId }),
          }));
          const next = { ...anew, sharedKeys: vault.sharedKeys };
          const { credentials, proofKey } = sealUnderNewPassword(deps, newPassword, (password) => {
            const change = { password, recoveryPublicKey: null };
            return rotation.seal(userId, next, stored.version, change, { device: { record, revocations } });
          });
          const { accountKey } = readDeviceCertificate(record.certificate);
          const body = {
            ...passwordBody(credentials),
            accountKey: toBase64Url(accountKey),
            revocations: revocations.map(({ deviceId, statement }) => ({
              id: deviceId,
              statement: toBase64Url(statement),
            })),
          };
          return { body, proofKey };
        } finally {
          wipe(anew.accountSeed, anew.deviceSecret);
        }
      });
      await session.addProofKey(made.proofKey);
      confirmations.bind(confirmed, made.body);
      return made.body;
    },
  } satisfies Partial<CryptoApi>;
}
