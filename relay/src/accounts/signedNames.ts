import type { DeviceSession, Session } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedName } from '../devices/deviceSignatures.ts';
import { peopleConcerned } from '../devices/peopleConcerned.ts';
import { findUser, setSignedName, signedNamesOf } from '../repositories/users.ts';

/** Usernames as their owners have signed them: whoever has pinned their account keys needn't believe the relay. */
export interface SignedNames {
  /** @throws ApiError forbidden unless the session's device has signed the person's present username */
  keep(session: DeviceSession, signedName: Buffer): Promise<void>;
  /** Those that the person may see, of people who have one. */
  visibleTo(
    session: Pick<Session, 'userId'>,
    userIds: readonly string[],
  ): Promise<{ userId: string; signedName: Buffer }[]>;
}

export function createSignedNames({ db }: { readonly db: Db }): SignedNames {
  return {
    async keep(session, signedName) {
      const username = (await findUser(db, session.userId))?.username ?? '';
      await requireSignedName(db, session, username, signedName);
      await setSignedName(db, session.userId, { signedName, username });
    },

    async visibleTo({ userId }, userIds) {
      const visible = new Set(await peopleConcerned(db, userId));
      const asked = [...new Set(userIds)].filter((id) => visible.has(id));
      return asked.length === 0 ? [] : signedNamesOf(db, asked);
    },
  };
}
