import type { DeviceSession, Session } from '../auth/session.ts';
import { limits } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { contactExists } from '../repositories/contacts.ts';
import * as devices from '../repositories/devices.ts';
import * as keyPackages from '../repositories/keyPackages.ts';
import { shareGroup } from '../repositories/groups.ts';
import { bindDevice } from '../repositories/sessions.ts';
import { findUser, lockUsers } from '../repositories/users.ts';

export interface ClaimedKeyPackage {
  readonly deviceId: string;
  readonly keyPackage: Buffer;
  readonly lastResort: boolean;
}

export interface Devices {
  /**
   * Registers the session's browser as a device, or resumes it under its old certificate, and binds the session to it.
   * @throws ApiError device-conflict (somebody's, another certificate, or the session has another device), limit-reached
   */
  register(
    session: Session,
    device: { id: string; name: string; certificate: Buffer },
  ): Promise<devices.DeviceRow>;
  own(userId: string): Promise<devices.DeviceRow[]>;
  /** @throws ApiError not-found unless they are contacts, fellow members or the same person */
  visibleTo(userId: string, ownerId: string): Promise<devices.DeviceRow[]>;
  /**
   * @returns how many single-use KeyPackages the device has now
   * @throws ApiError limit-reached, and then none is stored
   */
  publishKeyPackages(
    deviceId: string,
    published: { singleUse: readonly Buffer[]; lastResort: Buffer | null },
  ): Promise<number>;
  keyPackageCount(deviceId: string): Promise<{ available: number; lastResort: boolean }>;
  /**
   * One KeyPackage of each device of a person, the calling device left out. A single-use one is given once; a device
   * that has none left gives its last-resort one, and one that has neither is left out.
   * @throws ApiError not-found, not-a-contact
   */
  claimKeyPackages(session: DeviceSession, ownerId: string): Promise<ClaimedKeyPackage[]>;
}

export function createDevices({ db, clock }: { db: Db; clock: () => number }): Devices {
  return {
    async register(session, { id, name, certificate }) {
      return db.transaction().execute(async (tx) => {
        const now = clock();
        // The count below must hold until the device is there.
        await lockUsers(tx, [session.userId]);
        const known = await devices.findDevice(tx, id);
        if (known === null) {
          if ((await devices.devicesOf(tx, session.userId)).length >= limits.devicesPerUser) {
            throw new ApiError('limit-reached', `You can have at most ${limits.devicesPerUser} devices.`);
          }
          const device = { id, userId: session.userId, name, certificate, createdAt: now, lastSeenAt: now };
          await devices.insertDevice(tx, device);
        } else {
          if (known.userId !== session.userId || !known.certificate.equals(certificate)) throw conflict();
          await devices.renameDevice(tx, id, name, now);
        }
        if (!(await bindDevice(tx, session.id, id))) throw conflict();
        return {
          id,
          userId: session.userId,
          name,
          certificate,
          createdAt: known?.createdAt ?? now,
          lastSeenAt: now,
        };
      });
    },

    own: (userId) => devices.devicesOf(db, userId),

    async visibleTo(userId, ownerId) {
      if (!(await knowEachOther(db, userId, ownerId))) throw noSuchPerson();
      return devices.devicesOf(db, ownerId);
    },

    async publishKeyPackages(deviceId, { singleUse, lastResort }) {
      return db.transaction().execute(async (tx) => {
        await devices.lockDevice(tx, deviceId);
        await keyPackages.insertKeyPackages(tx, deviceId, singleUse, clock());
        const available = await keyPackages.countKeyPackages(tx, deviceId);
        if (available > limits.keyPackagesPerDevice) {
          throw new ApiError(
            'limit-reached',
            `A device can have at most ${limits.keyPackagesPerDevice} KeyPackages.`,
          );
        }
        if (lastResort !== null) await keyPackages.replaceLastResort(tx, deviceId, lastResort);
        return available;
      });
    },

    async keyPackageCount(deviceId) {
      return {
        available: await keyPackages.countKeyPackages(db, deviceId),
        lastResort: (await keyPackages.findLastResort(db, deviceId)) !== null,
      };
    },

    async claimKeyPackages(session, ownerId) {
      return db.transaction().execute(async (tx) => {
        if (!(await knowEachOther(tx, session.userId, ownerId))) {
          if ((await findUser(tx, ownerId)) === null) throw noSuchPerson();
          throw new ApiError('not-a-contact', 'You can only talk to people who are your contacts.');
        }
        const claimed: ClaimedKeyPackage[] = [];
        for (const device of await devices.devicesOf(tx, ownerId)) {
          if (device.id === session.deviceId) continue;
          const singleUse = await keyPackages.takeKeyPackage(tx, device.id);
          const keyPackage = singleUse ?? (await keyPackages.findLastResort(tx, device.id));
          if (keyPackage === null) continue;
          claimed.push({ deviceId: device.id, keyPackage, lastResort: singleUse === null });
        }
        return claimed;
      });
    },
  };
}

/** Whether two people have to do with each other, so that they need each other's devices. */
async function knowEachOther(db: Db, userId: string, otherId: string): Promise<boolean> {
  return (
    userId === otherId ||
    (await contactExists(db, userId, otherId)) ||
    (await shareGroup(db, userId, otherId))
  );
}

const conflict = () => new ApiError('device-conflict', 'This device id is already in use.');
const noSuchPerson = () => new ApiError('not-found', 'There is no such person.');
