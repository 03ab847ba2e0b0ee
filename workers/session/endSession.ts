import { openRootDatabase } from '../storage/db.ts';

/** Deletes the session: the storage key, wrapped, and the key that wraps it. The sealed records can't be opened then. */
export async function endSession(factory: IDBFactory): Promise<void> {
  const root = await openRootDatabase(factory);
  try {
    await root.clear('sessions');
  } finally {
    root.close();
  }
}
