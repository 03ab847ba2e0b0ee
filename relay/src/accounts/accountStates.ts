import { createHash } from 'node:crypto';
import { limits } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedState } from '../devices/deviceSignatures.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import {
  findAccountState,
  findStateVersion,
  replaceAccountState,
  replaceSegments,
  type StoredAccountState,
} from '../repositories/accountStates.ts';

/** The sealed state that the devices of a person share. The relay can't open it. */
export interface AccountStates {
  /** Null before the first one is stored. */
  find(userId: string): Promise<StoredAccountState | null>;
  /**
   * Stores a state in the place of the one at `version`, 0 for the first, and tells the person's devices.
   * @param state with the segments of it that aren't stored yet
   * @returns the new version
   * @throws ApiError stale-version with the stored version, also for a whole state in the place of one in segments; forbidden
   *   unless the session's device has signed it, and the segments that it names are there
   */
  replace(session: DeviceSession, state: StoredAccountState): Promise<number>;
}

export interface AccountStateDependencies {
  readonly db: Db;
  readonly hub: Hub;
}

export function createAccountStates({ db, hub }: AccountStateDependencies): AccountStates {
  return {
    find: (userId) => findAccountState(db, userId),

    async replace(session, { segments, version, sealed }) {
      const { userId } = session;
      const signed = await requireSignedState(db, session, sealed);
      const named = new Set(signed);
      const next = { version: version + 1, sealed };
      await db.transaction().execute(async (tx) => {
        // A client from before segments can't read them, and would write what it knows over what all devices know.
        const isFromBefore = signed === null && (await findStateVersion(tx, userId)).isInSegments;
        if (isFromBefore || !(await replaceAccountState(tx, userId, next))) {
          const { version: stored } = await findStateVersion(tx, userId);
          const sentence = 'The account state has been changed from another device.';
          throw new ApiError('stale-version', sentence, { version: stored });
        }
        const added = segments.map((segment) => ({
          hash: createHash('sha256').update(segment).digest('hex'),
          sealed: segment,
        }));
        const count = await replaceSegments(tx, userId, [...named], added);
        if (count !== named.size || count > limits.accountStateSegments) {
          throw new ApiError('forbidden', 'The segments of the account state are not those that are signed.');
        }
      });
      hub.publishToUsers([userId], { type: 'account' });
      return next.version;
    },
  };
}
