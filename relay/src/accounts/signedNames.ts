import type { DeviceSession, Session } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedName, revisionOfName } from '../devices/deviceSignatures.ts';
import { peopleSeen } from '../devices/peopleConcerned.ts';
import { ApiError } from '../errors.ts';
import { devicesOf } from '../repositories/devices.ts';
import { findUser, lockUsers, setSignedName, signedNamesOf } from '../repositories/users.ts';

/** Usernames as their owners have signed them: whoever has pinned their account keys needn't believe the relay. */
export interface SignedNames {
  /**
   * @throws ApiError forbidden unless the session's device has signed the person's present username; stale-version for one
   * of before another device's
   */
  keep(session: DeviceSession, signedName: Buffer): Promise<void>;
  /** Returns the signed names that the person may see; people without one are left out. */
  visibleTo(
    session: Pick<Session, 'userId'>,
    userIds: readonly string[],
  ): Promise<{ userId: string; signedName: Buffer }[]>;
}

export function createSignedNames({ db }: { readonly db: Db }): SignedNames {
  return {
    async keep(session, signedName) {
      const { userId } = session;
      await db.transaction().execute(async (tx) => {
        const username = (await findUser(tx, userId))?.username ?? '';
        await requireNewerName(tx, session, { username, former: username, signedName });
        await setSignedName(tx, userId, { signedName, username });
      });
    },

    async visibleTo({ userId }, userIds) {
      const visible = new Set(await peopleSeen(db, userId));
      const asked = [...new Set(userIds)].filter((id) => visible.has(id));
      return asked.length === 0 ? [] : signedNamesOf(db, asked);
    },
  };
}

/**
 * Has the session's device itself say the name, and as no older one than the person's other devices have: contacts would go on
 * with the other device's. The word of a device that the person has no more binds nobody.
 * @param names `former` is the present username, under which the kept one was signed
 * @throws ApiError forbidden, stale-version with the kept revision
 */
export async function requireNewerName(
  tx: Db,
  session: DeviceSession,
  names: { readonly username: string; readonly former: string; readonly signedName: Buffer },
): Promise<void> {
  // Locks the person, so that the later of two changes at once is compared with the other.
  await lockUsers(tx, [session.userId]);
  const revision = await requireSignedName(tx, session, names.username, names.signedName);
  const [kept] = await signedNamesOf(tx, [session.userId]);
  if (kept === undefined) return;
  const version = revisionOfName(await devicesOf(tx, session.userId), names.former, kept.signedName);
  if (revision < version)
    throw new ApiError('stale-version', 'The name has been changed from another device.', { version });
}
