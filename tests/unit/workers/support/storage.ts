/** Tools for a browser's storage: crashes at a write, measurements, a dump of all bytes, and all records opened. */
import { openRecord } from '@sinetti/crypto-core/account';
import type { Browser } from './browser.ts';

/** Runs `body` with `before` in front of every call of a method, whichever object it is called on. */
async function intercept<T extends object>(
  prototype: T,
  methods: readonly (keyof T)[],
  before: (target: T, args: readonly unknown[]) => void,
  body: () => Promise<unknown>,
): Promise<void> {
  const originals = methods.map((method): [keyof T, unknown] => [method, prototype[method]]);
  for (const [method, original] of originals) {
    if (typeof original !== 'function') throw new Error(`no method ${String(method)}`);
    const intercepted = function (this: T, ...args: unknown[]): unknown {
      before(this, args);
      return Reflect.apply(original, this, args);
    };
    Reflect.set(prototype, method, intercepted);
  }
  try {
    await body();
  } finally {
    for (const [method, original] of originals) Reflect.set(prototype, method, original);
  }
}

/**
 * Runs `body` and kills its transaction at the `nth` write, as if the tab had died there.
 * @returns whether there were that many writes
 */
export async function crashAtWrite(nth: number, body: () => Promise<unknown>): Promise<boolean> {
  let writes = 0;
  let crashed = false;
  const die = (store: IDBObjectStore) => {
    writes++;
    if (writes !== nth) return;
    crashed = true;
    store.transaction.abort();
    throw new DOMException('the tab died', 'AbortError');
  };
  try {
    await intercept(IDBObjectStore.prototype, ['put', 'delete'], die, body);
  } catch (error) {
    if (!crashed) throw error;
    return true;
  }
  if (crashed) throw new Error('it went on after the crash');
  return false;
}

/** Measures the bytes of the values that `body` stores, by store. */
export async function measureWrites(body: () => Promise<unknown>): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  const count = ({ name }: IDBObjectStore, [value]: readonly unknown[]) => {
    bytes.set(name, (bytes.get(name) ?? 0) + rawBytes(value).length);
  };
  await intercept(IDBObjectStore.prototype, ['put'], count, body);
  return bytes;
}

/** Counts the transactions that `body` opens. */
export async function countTransactions(body: () => Promise<unknown>): Promise<number> {
  let transactions = 0;
  await intercept(IDBDatabase.prototype, ['transaction'], () => transactions++, body);
  return transactions;
}

/** Reads every key and value of every database of a browser as bytes. */
export async function dump(browser: Browser): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const { name } of await browser.indexedDB.databases()) {
    const db = await answer<IDBDatabase>(browser.indexedDB.open(name ?? ''));
    const tx = db.transaction([...db.objectStoreNames]);
    for (const storeName of db.objectStoreNames) {
      const store = tx.objectStore(storeName);
      for (const found of [await answer(store.getAllKeys()), await answer(store.getAll())]) {
        parts.push(rawBytes(found));
      }
    }
    db.close();
  }
  return Buffer.concat(parts);
}

export interface OpenedRecord {
  readonly store: string;
  /** The key of the record, its parts joined by slashes. */
  readonly place: string;
  readonly content: Uint8Array;
  /** The columns that stand beside it unsealed. */
  readonly indexed: readonly string[];
}

/**
 * Opens every record of an account, but for the storage key itself, which the vault opens.
 * @throws CryptoError `corrupt-record` for a record that isn't sealed under the storage key for its place
 */
export async function openRecords(db: IDBDatabase, storageKey: Uint8Array): Promise<OpenedRecord[]> {
  const tx = db.transaction([...db.objectStoreNames]);
  const opened: OpenedRecord[] = [];
  for (const store of db.objectStoreNames) {
    const keys = (await answer(tx.objectStore(store).getAllKeys())) as (string | (string | number)[])[];
    const rows: unknown[] = await answer(tx.objectStore(store).getAll());
    for (const [i, row] of rows.entries()) {
      const place = [keys[i] ?? ''].flat().join('/');
      if (place === 'unlock') continue;
      const { sealed, ...indexed } =
        row instanceof Uint8Array ? { sealed: row } : (row as { sealed: Uint8Array });
      const content = openRecord(storageKey, store, place, sealed);
      opened.push({ store, place, content, indexed: Object.keys(indexed).sort() });
    }
  }
  return opened;
}

export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

function rawBytes(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (Array.isArray(value)) return Buffer.concat(value.map(rawBytes));
  // The bytes of a non-extractable key are the browser's, and no record shows them.
  if (value instanceof CryptoKey) return Buffer.alloc(0);
  if (typeof value === 'object' && value !== null) return Buffer.concat(Object.values(value).map(rawBytes));
  return Buffer.from(String(value));
}
