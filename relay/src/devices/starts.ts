import type { DeviceSession } from '../auth/session.ts';
import { tellEnded } from '../auth/sessions.ts';
import { ApiError } from '../errors.ts';
import {
  findDevice,
  isCopied,
  lockDevice,
  markCopied,
  type StartRow,
  setStart,
  startOf,
} from '../repositories/devices.ts';
import { endCopiedSessions } from '../repositories/sessions.ts';
import { lockUsers } from '../repositories/users.ts';
import { requireSignedCopied, requireSignedStart, type SignedStart } from './deviceSignatures.ts';
import { type DeviceDependencies, requireRevocation } from './devices.ts';
import { peopleConcerned } from './peopleConcerned.ts';
import { removeDevice } from './removeDevice.ts';

/** Shows when the data of a device is in two places (docs/PROTOCOL.md, section 3). */
export interface Starts {
  /**
   * Registers a start in the place of one of those that it names, or where there is none, and tells the person's live
   * sessions of it: another place of the device would encrypt once more before its next request is refused.
   * @returns the start that is registered then, which is another where the device's data is in two places
   * @throws ApiError forbidden (not signed by the device)
   */
  register(session: DeviceSession, start: SignedStart): Promise<StartRow>;
  /**
   * Ends the sessions of a device that says that its data is in two places; no session takes it any more.
   * @param statement the account key's, by which it is revoked as well, or null
   * @returns whether it was revoked now
   * @throws ApiError not-found, forbidden (not signed by the device)
   */
  copied(
    userId: string,
    deviceId: string,
    word: { readonly signature: Buffer; readonly statement: Buffer | null },
  ): Promise<boolean>;
}

export function createStarts({ db, hub, clock }: DeviceDependencies): Starts {
  return {
    async register(session, start) {
      const { deviceId, userId } = session;
      const registered = await db.transaction().execute(async (tx) => {
        await lockDevice(tx, deviceId);
        const device = await findDevice(tx, deviceId);
        if (device === null) throw noSuchDevice();
        requireSignedStart(session, device.certificate, start);
        const { from, number, tag } = start;
        const before = await startOf(tx, deviceId);
        if (before !== null && !from.includes(before.tag)) return { ...before, isAnother: false };
        await setStart(tx, deviceId, { number, tag });
        return { number, tag, isAnother: before?.tag !== tag };
      });
      const { isAnother, number, tag } = registered;
      if (isAnother) hub.publishToUsers([userId], { type: 'start', deviceId, tag });
      return { number, tag };
    },

    async copied(userId, deviceId, { signature, statement }) {
      const { endedIds, recipientIds } = await db.transaction().execute(async (tx) => {
        // A session that is being bound to the device would be missed.
        await lockUsers(tx, [userId]);
        const device = await findDevice(tx, deviceId);
        if (device === null || device.userId !== userId) {
          // The other place has had it revoked already.
          if (device === null && (await isCopied(tx, userId, deviceId)))
            return { endedIds: [], recipientIds: [] };
          throw noSuchDevice();
        }
        requireSignedCopied(device, signature);
        const now = clock();
        await markCopied(tx, deviceId, now);
        const ended = await endCopiedSessions(tx, deviceId, now);
        if (statement === null) return { endedIds: ended, recipientIds: [] };
        requireRevocation(device, statement);
        await removeDevice(tx, userId, { deviceId, statement, revokedAt: now });
        return { endedIds: ended, recipientIds: await peopleConcerned(tx, userId) };
      });
      tellEnded(hub, endedIds, 'device-copied');
      hub.publishToUsers(recipientIds, { type: 'devices', userId, deviceId });
      return recipientIds.length > 0;
    },
  };
}

const noSuchDevice = () => new ApiError('not-found', 'There is no such device.');
