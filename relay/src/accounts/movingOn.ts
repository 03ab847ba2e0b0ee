import type { Session } from '../auth/session.ts';
import { provenLifetime, tellEnded } from '../auth/sessions.ts';
import { requireRevocation } from '../devices/devices.ts';
import { peopleConcerned } from '../devices/peopleConcerned.ts';
import { removeDevice } from '../devices/removeDevice.ts';
import { ApiError } from '../errors.ts';
import { devicesOf } from '../repositories/devices.ts';
import { endSessionsOfOldPassword, freeSessions } from '../repositories/sessions.ts';
import { lockUsers, setAccountKey, setCredentials } from '../repositories/users.ts';
import { credentialsOf, type NewPassword, type PasswordDependencies } from './passwordChange.ts';
import { rotateVault } from './vaultRotation.ts';

export interface MovingOn extends NewPassword {
  /** The Ed25519 public key that certifies devices from then on. */
  readonly accountKey: Buffer;
  /** The former account key's statements, by device. */
  readonly revocations: readonly { readonly id: string; readonly statement: Buffer }[];
}

/** See Accounts.moveOn. */
export async function moveOn(
  dependencies: PasswordDependencies,
  { id: keptId, userId }: Session,
  change: MovingOn,
): Promise<number> {
  const { db, hub, clock } = dependencies;
  const credentials = await credentialsOf(dependencies, change);
  const statements = new Map(change.revocations.map(({ id, statement }) => [id, statement]));
  const { endedIds, othersConcerned, deviceIds } = await db.transaction().execute(async (tx) => {
    await lockUsers(tx, [userId]);
    const now = clock();
    await rotateVault(tx, userId, change.vault, now);
    const present = await devicesOf(tx, userId);
    const devices = present.map(({ id }) => id);
    // The members of its conversations would have nothing to remove a device by that has signed in meanwhile.
    if (devices.length !== statements.size || !devices.every((id) => statements.has(id))) {
      throw new ApiError('device-conflict', 'Another device has signed in meanwhile. Please try again.');
    }
    for (const device of present) requireRevocation(device, statements.get(device.id) ?? Buffer.alloc(0));
    await setCredentials(tx, userId, credentials);
    await setAccountKey(tx, userId, change.accountKey);
    const sessionIds = await endSessionsOfOldPassword(tx, { userId, keptId, now });
    await freeSessions(tx, userId, now + provenLifetime);
    for (const [deviceId, statement] of statements) {
      await removeDevice(tx, userId, { deviceId, statement, revokedAt: now });
    }
    const concerned = await peopleConcerned(tx, userId);
    return {
      endedIds: sessionIds,
      othersConcerned: concerned.filter((id) => id !== userId),
      deviceIds: devices,
    };
  });
  // The person's own browsers are told as of any such change, and by the end of their sessions.
  for (const deviceId of deviceIds) {
    hub.publishToUsers(othersConcerned, { type: 'devices', userId, deviceId });
  }
  tellEnded(hub, endedIds, 'password-changed');
  return change.vault.version + 1;
}
