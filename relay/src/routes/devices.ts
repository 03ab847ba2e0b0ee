import { type Device, formerSuite, type RevokedDevice } from '../../contract/index.ts';
import type { KeyPackageClaim } from '../devices/devices.ts';
import { ApiError } from '../errors.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import type { Share } from '../rateLimits/rateLimiter.ts';
import type { DeviceRow } from '../repositories/devices.ts';
import type { RevocationRow } from '../repositories/revocations.ts';
import type { Services } from '../services.ts';
import { bytes, rotationOf, text, time } from './encoding.ts';

export function deviceHandlers({ accountChanges, accountMails, devices, rateLimiter, starts }: Services) {
  /**
   * Claims KeyPackages, and spares people whose were taken so often that only the last-resort ones are given until the next
   * hour. A claim that is refused doesn't count: strangers could use up somebody's hour by it.
   */
  async function sparing<T>(
    userId: string,
    ownerIds: readonly string[],
    claim: (spared: ReadonlySet<string>) => Promise<T>,
  ): Promise<T> {
    const spared = new Set<string>();
    const taken: Share[] = [];
    for (const ownerId of new Set(ownerIds)) {
      if (ownerId === userId) continue;
      const shares: Share[] = [
        ['claim.account-target', `${userId} ${ownerId}`],
        ['claim.target', ownerId],
      ];
      for (const share of shares) {
        if (spared.has(ownerId)) continue;
        if ((await rateLimiter.wait(share)) > 0) spared.add(ownerId);
        else taken.push(share);
      }
    }
    return rateLimiter.orGiveBack(taken, () => claim(spared));
  }

  return {
    putDevice: async ({ session, params, body }) => {
      const certificate = bytes(body.certificate);
      const signature = body.signature === undefined ? null : bytes(body.signature);
      const { name } = body;
      const added = { id: params.id, name, certificate, signature };
      const { device, isAnother } = await devices.register(session, added);
      if (isAnother) accountMails.tell(await accountMails.recipient(session.userId), 'device-added');
      return deviceOf(device, device.id);
    },

    putStart: ({ session, body }) => starts.register(session, { ...body, signature: bytes(body.signature) }),

    deviceCopied: async ({ session, params, body }) => {
      const statement = body.statement === undefined ? null : bytes(body.statement);
      const word = { signature: bytes(body.signature), statement };
      const isRevoked = await starts.copied(session.userId, params.id, word);
      if (isRevoked) await accountChanges.record(session, 'device-revoked');
    },

    listDevices: async ({ session }) =>
      (await devices.own(session.userId)).map((device) => deviceOf(device, session.deviceId)),

    revokeDevice: async ({ session, params, body, requireProof }) => {
      const isOther = params.id !== session.deviceId;
      if (!isOther && body.vault !== undefined) {
        throw new ApiError('invalid-request', 'vault: a device that revokes itself renews no keys');
      }
      if (isOther) await requireProof();
      const vault = body.vault === undefined ? null : rotationOf(body.vault);
      await devices.revoke(session.userId, params.id, bytes(body.statement), vault);
      // A device that revokes itself has nobody else to be mistaken for.
      if (isOther) await accountChanges.record(session, 'device-revoked');
    },

    revokedDevices: async ({ session, params }) =>
      (await devices.revokedVisibleTo(session.userId, params.id)).map(revokedDeviceOf),

    visibleRevocations: async ({ session, query }) => {
      const since = query.since === undefined ? 0 : Date.parse(query.since);
      return (await devices.allRevokedVisibleTo(session.userId, since)).map((revocation) => ({
        ...revokedDeviceOf(revocation),
        user_id: revocation.userId,
      }));
    },

    userDevices: async ({ session, params }) =>
      (await devices.visibleTo(session.userId, params.id)).map(({ id, certificate }) => ({
        id,
        certificate: text(certificate),
      })),

    publishKeyPackages: async ({ session, body }) => ({
      available: await devices.publishKeyPackages(session, {
        suite: body.suite,
        singleUse: body.keyPackages.map(bytes),
        lastResort: body.lastResort === undefined ? null : bytes(body.lastResort),
      }),
    }),

    keyPackageCount: async ({ session }) => {
      const suites = await devices.keyPackageCount(session.deviceId);
      const former = suites.find(({ suite }) => suite === formerSuite);
      return { available: former?.available ?? 0, lastResort: former?.lastResort ?? false, suites };
    },

    claimKeyPackages: async ({ session, params: { id } }) => {
      const all = await sparing(session.userId, [id], (spared) =>
        devices.claimKeyPackages(session, [id], { spared }),
      );
      return all.flatMap(({ claimed }) => claimed.map(claimedOf));
    },

    claimKeyPackagesOfMany: async ({ session, body: { suites, user_ids } }) => {
      const all = await sparing(session.userId, user_ids, (spared) =>
        devices.claimKeyPackages(session, user_ids, { spared, suites }),
      );
      return all.flatMap(({ ownerId, claimed }) =>
        claimed.map((one) => ({ userId: ownerId, ...claimedOf(one) })),
      );
    },
  } satisfies Partial<Handlers>;
}

function revokedDeviceOf({ deviceId, statement, revokedAt }: RevocationRow): RevokedDevice {
  return { id: deviceId, statement: text(statement), revoked_at: time(revokedAt) };
}

function claimedOf({ deviceId, keyPackage, lastResort }: KeyPackageClaim) {
  return { deviceId, keyPackage: text(keyPackage), lastResort };
}

function deviceOf(device: DeviceRow, currentId: string | null): Device {
  return {
    id: device.id,
    name: device.name,
    certificate: text(device.certificate),
    created_at: time(device.createdAt),
    last_seen_at: time(device.lastSeenAt),
    current: device.id === currentId,
  };
}
