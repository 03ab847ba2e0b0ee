import { limits } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import * as rows from '../repositories/history.ts';

export interface StoredCopies {
  readonly stored: number;
  readonly lastPosition: number;
}

/** Sealed copies of messages, which a person's devices leave for those to come. */
export interface History {
  /**
   * Stores the copies of messages that have none yet.
   * @returns how many these were, and the position of the newest copy
   * @throws ApiError limit-reached, and then none is stored
   */
  store(userId: string, items: readonly rows.HistoryItemRow[]): Promise<StoredCopies>;
  /** Copies above a position in the order of storing; only an empty page is the end. */
  page(userId: string, page: { after: number; limit: number }): Promise<rows.StoredHistoryItemRow[]>;
  /** @param conversationId those of one conversation only */
  delete(userId: string, conversationId?: string): Promise<void>;
}

/** Bytes of one answer. */
const maxPageBytes = 8 * 1024 * 1024;

export function createHistory({ db }: { db: Db }): History {
  return {
    async store(userId, items) {
      return db.transaction().execute(async (tx) => {
        const totals = await rows.lockTotals(tx, userId);
        const ids = items.map(({ id }) => id);
        const stored = await rows.storedIds(tx, userId, ids);
        const added = items
          .filter(({ id }, index) => !stored.has(id) && ids.indexOf(id) === index)
          .map((item, index) => ({ ...item, position: totals.lastPosition + index + 1 }));
        if (added.length === 0) return { stored: 0, lastPosition: totals.lastPosition };
        const bytes = added.reduce((sum, { sealed }) => sum + sealed.length, totals.bytes);
        if (bytes > limits.historyBytesPerUser) {
          throw new ApiError('limit-reached', 'There is no more room for copies of messages.');
        }
        await rows.insertHistory(tx, userId, added);
        const lastPosition = totals.lastPosition + added.length;
        await rows.setTotals(tx, userId, { lastPosition, bytes });
        return { stored: added.length, lastPosition };
      });
    },

    page: (userId, page) => rows.historyOf(db, userId, { ...page, maxBytes: maxPageBytes }),

    async delete(userId, conversationId) {
      await db.transaction().execute(async (tx) => {
        // Positions go on from there: a device that reads on must not miss what comes next.
        const { lastPosition, bytes } = await rows.lockTotals(tx, userId);
        const deleted = await rows.deleteHistory(tx, userId, conversationId);
        await rows.setTotals(tx, userId, {
          lastPosition,
          bytes: conversationId === undefined ? 0 : bytes - deleted,
        });
      });
    },
  };
}
