import { IdentityChanged, offerAccountKey } from '../identity/pins.ts';
import type { AccountOnDevice } from '../session/session.ts';
import { type WriteTransaction, write } from '../storage/db.ts';

/**
 * Writes all of `body` or nothing; where another account key stops it, keeps that key for the person to
 * judge.
 */
export async function writeOrOfferKey<T>(
  account: AccountOnDevice,
  durability: 'strict' | 'relaxed',
  body: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  try {
    return await write(account.db, durability, body);
  } catch (error) {
    if (error instanceof IdentityChanged) {
      await write(account.db, 'relaxed', (tx) => offerAccountKey(tx, account, error));
    }
    throw error;
  }
}
