/** Stores state for the durable measurements: one IndexedDB transaction a message, on the disk before it counts. */
import { deleteDB, type IDBPDatabase, openDB } from 'idb';

const NAME = 'bench';
const STATE = 'state';

export interface StateChange {
  readonly puts: readonly (readonly [key: string, bytes: Uint8Array])[];
  readonly deletes: readonly string[];
}

export class StateStore {
  readonly #db: IDBPDatabase;

  private constructor(db: IDBPDatabase) {
    this.#db = db;
  }

  /** An empty store; what an earlier run left is deleted. */
  static async open(): Promise<StateStore> {
    await deleteDB(NAME);
    return new StateStore(await openDB(NAME, 1, { upgrade: (db) => void db.createObjectStore(STATE) }));
  }

  /**
   * Resolves when the change is flushed to the disk ('strict').
   * @returns its size, as `sizeOf` counts
   */
  async write(change: StateChange): Promise<number> {
    const transaction = this.#db.transaction(STATE, 'readwrite', { durability: 'strict' });
    for (const [key, value] of change.puts) void transaction.store.put(value, key);
    for (const key of change.deletes) void transaction.store.delete(key);
    await transaction.done;
    return sizeOf(change);
  }
}

/** Bytes of keys and values. */
export function sizeOf({ puts, deletes }: StateChange): number {
  let bytes = 0;
  for (const [key, value] of puts) bytes += key.length + value.length;
  for (const key of deletes) bytes += key.length;
  return bytes;
}
