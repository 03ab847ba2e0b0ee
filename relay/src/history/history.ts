import { limits } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedCopies } from '../devices/deviceSignatures.ts';
import { quotaReached } from '../errors.ts';
import { takesPart } from '../repositories/conversations.ts';
import * as rows from '../repositories/history.ts';

export interface StoredCopies {
  readonly stored: number;
  readonly lastPosition: number;
}

/** Sealed copies of messages, which a person's devices leave for those to come. */
export interface History {
  /**
   * Stores the copies of messages that have none yet.
   * @param isOn true if the person has just switched the message backup on again
   * @returns how many these were, and the position of the newest copy
   * @throws ApiError quota, and then none is stored
   */
  store(userId: string, items: readonly rows.HistoryItemRow[], isOn: boolean): Promise<StoredCopies>;
  /**
   * Stores copies in the place of those that their messages have: positions are new, so that other devices read them too.
   * @param signature the device's, over the copies
   * @throws ApiError forbidden, quota, and then none is stored
   */
  replace(
    session: DeviceSession,
    items: readonly rows.HistoryItemRow[],
    signature: Buffer,
  ): Promise<StoredCopies>;
  /** Copies above a position in the order of storing; only an empty page is the end. */
  page(userId: string, page: { after: number; limit: number }): Promise<rows.StoredHistoryItemRow[]>;
  /**
   * Returns whether these copies are nobody's any more, so that deleting them takes no proof: all, while the message
   * backup is off, or those of a conversation that the person isn't in.
   */
  isAbandoned(userId: string, conversationId?: string): Promise<boolean>;
  /** @param conversationId those of one conversation only; all of them switch the message backup off */
  delete(userId: string, conversationId?: string): Promise<void>;
}

/** Bytes of one answer. */
const maxPageBytes = 8 * 1024 * 1024;

export function createHistory({ db, clock }: { db: Db; clock: () => number }): History {
  /** Stores those that have no copy yet. */
  async function add(
    tx: Db,
    userId: string,
    items: readonly rows.HistoryItemRow[],
    totals: rows.HistoryTotals,
  ): Promise<StoredCopies> {
    const ids = items.map(({ id }) => id);
    const stored = await rows.storedIds(tx, userId, ids);
    const added = items
      .filter(({ id }, index) => !stored.has(id) && ids.indexOf(id) === index)
      .map((item, index) => ({ ...item, position: totals.lastPosition + index + 1 }));
    const bytes = added.reduce((sum, { sealed }) => sum + sealed.length, totals.bytes);
    if (bytes > limits.historyBytesPerUser) {
      throw quotaReached('history', 'There is no more room for copies of messages.');
    }
    if (added.length > 0) await rows.insertHistory(tx, userId, added, clock());
    const lastPosition = totals.lastPosition + added.length;
    await rows.setTotals(tx, userId, { ...totals, lastPosition, bytes });
    return { stored: added.length, lastPosition };
  }

  return {
    async store(userId, items, isOn) {
      return db.transaction().execute(async (tx) => {
        const totals = await rows.lockTotals(tx, userId);
        return add(tx, userId, items, { ...totals, switchedOffAt: isOn ? null : totals.switchedOffAt });
      });
    },

    async replace(session, items, signature) {
      return db.transaction().execute(async (tx) => {
        await requireSignedCopies(tx, session, items, signature);
        const { userId } = session;
        const totals = await rows.lockTotals(tx, userId);
        const ids = items.map(({ id }) => id);
        const bytes = totals.bytes - (await rows.deleteCopies(tx, userId, ids));
        return add(tx, userId, items, { ...totals, bytes });
      });
    },

    page: (userId, page) => rows.historyOf(db, userId, { ...page, maxBytes: maxPageBytes }),

    async isAbandoned(userId, conversationId) {
      if (await rows.isSwitchedOff(db, userId)) return true;
      return conversationId !== undefined && !(await takesPart(db, conversationId, userId));
    },

    async delete(userId, conversationId) {
      await db.transaction().execute(async (tx) => {
        // Positions go on from there: a device that reads on must not miss what comes next.
        const { lastPosition, bytes, switchedOffAt } = await rows.lockTotals(tx, userId);
        const deleted = await rows.deleteHistory(tx, userId, conversationId);
        await rows.setTotals(tx, userId, {
          lastPosition,
          bytes: conversationId === undefined ? 0 : bytes - deleted,
          switchedOffAt: conversationId === undefined ? clock() : switchedOffAt,
        });
      });
    },
  };
}
