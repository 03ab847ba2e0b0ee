import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedState } from '../devices/deviceSignatures.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import {
  type AccountStateRow,
  findAccountState,
  replaceAccountState,
} from '../repositories/accountStates.ts';

/** The sealed state that the devices of a person share. The relay can't open it. */
export interface AccountStates {
  /** Null before the first one is stored. */
  find(userId: string): Promise<AccountStateRow | null>;
  /**
   * Stores a state in the place of the one at `version`, 0 for the first, and tells the person's devices.
   * @returns the new version
   * @throws ApiError stale-version with the stored version; forbidden unless the session's device has signed it
   */
  replace(session: DeviceSession, state: AccountStateRow): Promise<number>;
}

export interface AccountStateDependencies {
  readonly db: Db;
  readonly hub: Hub;
}

export function createAccountStates({ db, hub }: AccountStateDependencies): AccountStates {
  return {
    find: (userId) => findAccountState(db, userId),

    async replace(session, { version, sealed }) {
      const { userId } = session;
      await requireSignedState(db, session, sealed);
      const next = { version: version + 1, sealed };
      if (!(await replaceAccountState(db, userId, next))) {
        const stored = (await findAccountState(db, userId))?.version ?? 0;
        const sentence = 'The account state has been changed from another device.';
        throw new ApiError('stale-version', sentence, { version: stored });
      }
      hub.publishToUsers([userId], { type: 'account' });
      return next.version;
    },
  };
}
