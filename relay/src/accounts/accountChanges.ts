import { randomUUID } from 'node:crypto';
import type { AccountChangeKind } from '../../contract/index.ts';
import type { Session } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import type { AccountMails, Recipient } from '../mail/accountMails.ts';
import type { Hub } from '../realtime/hub.ts';
import {
  type AccountChangeRow,
  accountChangesOf,
  insertAccountChange,
} from '../repositories/accountChanges.ts';
import { findDevice } from '../repositories/devices.ts';

/** Milliseconds for which a change is told to devices that come. */
export const accountChangeLifetime = 7 * 24 * 60 * 60 * 1000;

/** Tells a person's devices of what changed who owns the account, so that a thief is noticed. */
export interface AccountChanges {
  /**
   * Keeps a change for those that come, tells those that are there, and mails it.
   * @param before to whom the account's mails went before the change, if that may be another
   */
  record(session: Session, kind: AccountChangeKind, before?: Recipient | null): Promise<void>;
  list(userId: string): Promise<AccountChangeRow[]>;
}

export interface AccountChangeDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly accountMails: AccountMails;
  readonly clock: () => number;
}

export function createAccountChanges({
  accountMails,
  clock,
  db,
  hub,
}: AccountChangeDependencies): AccountChanges {
  return {
    async record({ deviceId, id: sessionId, userId }, kind, before) {
      const device = deviceId === null ? null : await findDevice(db, deviceId);
      await insertAccountChange(db, {
        id: randomUUID(),
        userId,
        kind,
        sessionId,
        deviceId,
        deviceName: device?.name ?? null,
        createdAt: clock(),
      });
      hub.publishToUsers([userId], { type: 'account' });
      accountMails.tell(before ?? (await accountMails.recipient(userId)), kind);
    },

    list: (userId) => accountChangesOf(db, userId, clock() - accountChangeLifetime),
  };
}
