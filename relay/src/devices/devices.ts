import { formerSuite, type KeyPackageSuite, keyPackageSuites, limits } from '../../contract/index.ts';
import { rotateVault, type VaultRotation } from '../accounts/vaultRotation.ts';
import type { DeviceSession, Session } from '../auth/session.ts';
import { sessionLifetime, tellEnded } from '../auth/sessions.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { personQuotas } from '../personQuotas.ts';
import type { Hub } from '../realtime/hub.ts';
import { contactExists } from '../repositories/contacts.ts';
import * as devices from '../repositories/devices.ts';
import { shareGroup } from '../repositories/groups.ts';
import * as keyPackages from '../repositories/keyPackages.ts';
import { keyPackageBytesOf } from '../repositories/quotas.ts';
import {
  isRevoked,
  type OwnedRevocationRow,
  type RevocationRow,
  revocationsOf,
  revocationsSince,
} from '../repositories/revocations.ts';
import { bindDevice, endRevokedSessions } from '../repositories/sessions.ts';
import { findAccountKey, findUser, lockUsers } from '../repositories/users.ts';
import { isCertifiedBy, isRevocationOf } from './certificates.ts';
import { requireSignedSession } from './deviceSignatures.ts';
import { peopleConcerned, peopleSeen } from './peopleConcerned.ts';
import { removeDevice } from './removeDevice.ts';

export interface KeyPackageClaim {
  readonly deviceId: string;
  readonly keyPackage: Buffer;
  readonly lastResort: boolean;
}

export interface Devices {
  /**
   * Registers the session's browser as a device, or resumes it under its old certificate, and binds the session to it.
   * @returns the device, and whether it is new in an account that has, or has had, others
   * @throws ApiError device-conflict (somebody's, revoked, another certificate, in two places, or the session has another device),
   *   limit-reached; forbidden for a certificate of the account key that the person has moved on from, and where the
   *   device hasn't signed that it takes the session
   */
  register(
    session: Session,
    device: { id: string; name: string; certificate: Buffer; signature: Buffer | null },
  ): Promise<{ device: devices.DeviceRow; isAnother: boolean }>;
  own(userId: string): Promise<devices.DeviceRow[]>;
  /**
   * Removes a device with its KeyPackages and Welcomes, ends its sessions, and keeps the statement for those who must
   * take the device out of their conversations.
   * @param statement signed by the account key that the device's certificate names; clients, who have pinned that, check it too
   * @param vault takes the place of the one so far, or null
   * @throws ApiError not-found, stale-version; forbidden for a statement that is none
   */
  revoke(userId: string, deviceId: string, statement: Buffer, vault: VaultRotation | null): Promise<void>;
  /** @throws ApiError not-found unless they are contacts, fellow members or the same person */
  revokedVisibleTo(userId: string, ownerId: string): Promise<RevocationRow[]>;
  /**
   * The revoked devices of this person, all contacts and fellow members.
   * @param since milliseconds since the epoch
   */
  allRevokedVisibleTo(userId: string, since: number): Promise<OwnedRevocationRow[]>;
  /** @throws ApiError not-found unless they are contacts, fellow members or the same person */
  visibleTo(userId: string, ownerId: string): Promise<devices.DeviceRow[]>;
  /**
   * @param published KeyPackages of one suite
   * @returns how many single-use KeyPackages of that suite the device has now
   * @throws ApiError limit-reached for too many of all suites together, quota, and then none is stored
   */
  publishKeyPackages(
    session: Pick<DeviceSession, 'deviceId' | 'userId'>,
    published: { suite: KeyPackageSuite; singleUse: readonly Buffer[]; lastResort: Buffer | null },
  ): Promise<number>;
  keyPackageCount(
    deviceId: string,
  ): Promise<{ suite: KeyPackageSuite; available: number; lastResort: boolean }[]>;
  /**
   * One KeyPackage of each device of several people, each of them once and the calling device left out: all of it, or
   * nothing. They are of one suite, the first of those given that all these devices have, or else the last one. A single-use
   * one is given once; a device that has none left gives its last-resort one, and one that has neither is left out.
   * @param choice.spared people of whom last-resort ones are given where there are any, so that nobody's single-use ones are
   *   used up by others
   * @throws ApiError not-found, not-a-contact
   */
  claimKeyPackages(
    session: DeviceSession,
    ownerIds: readonly string[],
    choice?: { spared?: ReadonlySet<string>; suites?: readonly KeyPackageSuite[] },
  ): Promise<{ ownerId: string; claimed: KeyPackageClaim[] }[]>;
}

/**
 * Milliseconds for which a KeyPackage is given and counted. Clients give them 90 days (RFC 9420 section 7.2): with the last of
 * them whoever claims one has a day to use it.
 */
export const keyPackageLifetime = 89 * 24 * 60 * 60 * 1000;

export interface DeviceDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

export function createDevices({ db, hub, clock }: DeviceDependencies): Devices {
  return {
    async register(session, { id, name, certificate, signature }) {
      if (session.deviceId !== id) requireSignedSession(session, { id, certificate, signature });
      return db.transaction().execute(async (tx) => {
        const now = clock();
        // The count below must hold until the device is there.
        await lockUsers(tx, [session.userId]);
        const known = await devices.findDevice(tx, id);
        let isAnother = false;
        if (known === null) {
          if (await isRevoked(tx, id)) throw conflict(await devices.isCopied(tx, session.userId, id));
          const accountKey = await findAccountKey(tx, session.userId);
          const isCertified =
            accountKey === null ||
            isCertifiedBy(accountKey, certificate, { userId: session.userId, deviceId: id });
          if (!isCertified)
            throw new ApiError('forbidden', 'This device is certified by another account key.');
          const others = (await devices.devicesOf(tx, session.userId)).length;
          if (others >= limits.devicesPerUser) {
            throw new ApiError('limit-reached', `You can have at most ${limits.devicesPerUser} devices.`);
          }
          const device = { id, userId: session.userId, name, certificate, createdAt: now, lastSeenAt: now };
          isAnother = others > 0 || (await revocationsOf(tx, session.userId)).length > 0;
          await devices.insertDevice(tx, device);
        } else {
          if (known.userId !== session.userId || !known.certificate.equals(certificate)) throw conflict();
          if (await devices.isCopied(tx, session.userId, id)) throw conflict(true);
          await devices.renameDevice(tx, id, name, now);
        }
        const bound = { sessionId: session.id, deviceId: id, lifetime: sessionLifetime };
        if (!(await bindDevice(tx, bound))) throw conflict();
        const createdAt = known?.createdAt ?? now;
        const device = { id, userId: session.userId, name, certificate, createdAt, lastSeenAt: now };
        return { device, isAnother };
      });
    },

    own: (userId) => devices.devicesOf(db, userId),

    async revoke(userId, deviceId, statement, vault) {
      const { endedIds, recipientIds } = await db.transaction().execute(async (tx) => {
        // A session that is being bound to the device would be missed.
        await lockUsers(tx, [userId]);
        const device = await devices.findDevice(tx, deviceId);
        if (device === null || device.userId !== userId) throw noSuchDevice();
        requireRevocation(device, statement);
        const now = clock();
        if (vault !== null) await rotateVault(tx, userId, vault, now);
        const sessionIds = await endRevokedSessions(tx, deviceId, now);
        await removeDevice(tx, userId, { deviceId, statement, revokedAt: now });
        return { endedIds: sessionIds, recipientIds: await peopleConcerned(tx, userId) };
      });
      // First, so that the device itself learns why its connection is about to be closed.
      hub.publishToUsers(recipientIds, { type: 'devices', userId, deviceId });
      tellEnded(hub, endedIds, 'device-revoked');
    },

    async revokedVisibleTo(userId, ownerId) {
      if (!(await knowEachOther(db, userId, ownerId))) throw noSuchPerson();
      return revocationsOf(db, ownerId);
    },

    async allRevokedVisibleTo(userId, since) {
      return revocationsSince(db, await peopleSeen(db, userId), since);
    },

    async visibleTo(userId, ownerId) {
      if (!(await knowEachOther(db, userId, ownerId))) throw noSuchPerson();
      return devices.devicesOf(db, ownerId);
    },

    async publishKeyPackages({ deviceId, userId }, { lastResort, singleUse, suite }) {
      return db.transaction().execute(async (tx) => {
        const now = clock();
        await devices.lockDevice(tx, deviceId);
        await keyPackages.insertKeyPackages(tx, deviceId, { suite, contents: singleUse, now });
        const available = await keyPackages.countKeyPackages(tx, deviceId, now - keyPackageLifetime);
        if ([...available.values()].reduce((sum, count) => sum + count, 0) > limits.keyPackagesPerDevice) {
          throw new ApiError(
            'limit-reached',
            `A device can have at most ${limits.keyPackagesPerDevice} KeyPackages.`,
          );
        }
        if ((await keyPackageBytesOf(tx, userId)) > personQuotas.keyPackageBytesPerUser) {
          throw quotaReached(
            'key-packages',
            'There is no more room for KeyPackages of your devices. There is as they are taken.',
          );
        }
        if (lastResort !== null)
          await keyPackages.replaceLastResort(tx, deviceId, { suite, content: lastResort, now });
        return available.get(suite) ?? 0;
      });
    },

    async keyPackageCount(deviceId) {
      const after = clock() - keyPackageLifetime;
      const available = await keyPackages.countKeyPackages(db, deviceId, after);
      const lastResorts = await keyPackages.lastResortSuites(db, deviceId, after);
      return keyPackageSuites.map((suite) => ({
        suite,
        available: available.get(suite) ?? 0,
        lastResort: lastResorts.has(suite),
      }));
    },

    claimKeyPackages: (session, ownerIds, { spared = new Set(), suites = [formerSuite] } = {}) =>
      db.transaction().execute(async (tx) => {
        const owners: { ownerId: string; deviceIds: string[] }[] = [];
        // In one order, whoever asks: two who take from the same people must not wait for each other.
        for (const ownerId of [...new Set(ownerIds)].sort())
          owners.push({ ownerId, deviceIds: await claimableDevices(tx, session, ownerId) });
        const after = clock() - keyPackageLifetime;
        const all = owners.flatMap(({ deviceIds }) => deviceIds);
        const wanted = { suite: await commonSuite(tx, all, suites, after), after };
        const given: { ownerId: string; claimed: KeyPackageClaim[] }[] = [];
        for (const { ownerId, deviceIds } of owners)
          given.push({ ownerId, claimed: await claimFrom(tx, deviceIds, wanted, spared.has(ownerId)) });
        return given;
      }),
  };
}

/** @throws ApiError forbidden unless the account key has signed that this device is revoked */
export function requireRevocation(
  { certificate, id, userId }: Pick<devices.DeviceRow, 'certificate' | 'id' | 'userId'>,
  statement: Buffer,
): void {
  if (isRevocationOf({ userId, deviceId: id }, certificate, statement)) return;
  throw new ApiError('forbidden', 'This is no revocation of the device.');
}

/** @throws ApiError not-found, not-a-contact */
async function claimableDevices(tx: Db, session: DeviceSession, ownerId: string): Promise<string[]> {
  if (!(await knowEachOther(tx, session.userId, ownerId))) {
    if ((await findUser(tx, ownerId)) === null) throw noSuchPerson();
    throw new ApiError('not-a-contact', 'You can only talk to people who are your contacts.');
  }
  const all = await devices.devicesOf(tx, ownerId);
  return all.map(({ id }) => id).filter((id) => id !== session.deviceId);
}

/**
 * Chooses the first suite of which each device has a KeyPackage, or else the last one. Devices that have none of any suite
 * don't count: they are left out in any case.
 */
async function commonSuite(
  tx: Db,
  deviceIds: readonly string[],
  suites: readonly KeyPackageSuite[],
  after: number,
): Promise<KeyPackageSuite> {
  const [first = formerSuite, ...others] = suites;
  if (others.length === 0 || deviceIds.length === 0) return first;
  const having = await keyPackages.devicesWith(tx, deviceIds, { suite: first, after });
  const without = deviceIds.filter((id) => !having.has(id));
  if (without.length === 0) return first;
  for (const other of others) {
    if ((await keyPackages.devicesWith(tx, without, { suite: other, after })).size > 0)
      return commonSuite(tx, deviceIds, others, after);
  }
  return first;
}

async function claimFrom(
  tx: Db,
  deviceIds: readonly string[],
  wanted: { readonly suite: KeyPackageSuite; readonly after: number },
  isSpared: boolean,
): Promise<KeyPackageClaim[]> {
  const claimed: KeyPackageClaim[] = [];
  for (const deviceId of deviceIds) {
    const spare = isSpared ? await keyPackages.findLastResort(tx, deviceId, wanted) : null;
    const singleUse = spare === null ? await keyPackages.takeKeyPackage(tx, deviceId, wanted) : null;
    const keyPackage = singleUse ?? spare ?? (await keyPackages.findLastResort(tx, deviceId, wanted));
    if (keyPackage === null) continue;
    claimed.push({ deviceId, keyPackage, lastResort: singleUse === null });
  }
  return claimed;
}

/** Returns whether two people are contacts or fellow members, so that they need each other's devices. */
async function knowEachOther(db: Db, userId: string, otherId: string): Promise<boolean> {
  return (
    userId === otherId ||
    (await contactExists(db, userId, otherId)) ||
    (await shareGroup(db, userId, otherId))
  );
}

const conflict = (copied = false) =>
  new ApiError('device-conflict', 'This device id is already in use.', copied ? { copied } : {});
const noSuchDevice = () => new ApiError('not-found', 'There is no such device.');
const noSuchPerson = () => new ApiError('not-found', 'There is no such person.');
