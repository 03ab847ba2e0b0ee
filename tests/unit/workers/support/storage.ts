/** What happens to a browser's storage: crashes in the middle, and what is found when it is read raw. */
import type { Browser } from './browser.ts';

type Put = IDBObjectStore['put'];
type Delete = IDBObjectStore['delete'];

/**
 * Runs `body` and kills its transaction at the `nth` write, as if the tab had died there.
 * @returns whether it came to that many writes
 */
export async function crashAtWrite(nth: number, body: () => Promise<unknown>): Promise<boolean> {
  const { put, delete: remove } = IDBObjectStore.prototype;
  let writes = 0;
  let crashed = false;
  const die = (store: IDBObjectStore) => {
    writes++;
    if (writes !== nth) return;
    crashed = true;
    store.transaction.abort();
    throw new DOMException('the tab died', 'AbortError');
  };
  IDBObjectStore.prototype.put = function (...args: Parameters<Put>) {
    die(this);
    return put.apply(this, args);
  };
  IDBObjectStore.prototype.delete = function (...args: Parameters<Delete>) {
    die(this);
    return remove.apply(this, args);
  };
  try {
    await body();
    if (crashed) throw new Error('it went on after the crash');
  } catch (error) {
    if (!crashed) throw error;
  } finally {
    IDBObjectStore.prototype.put = put;
    IDBObjectStore.prototype.delete = remove;
  }
  return crashed;
}

/** The bytes of the values that `body` stores, by store. */
export async function measureWrites(body: () => Promise<unknown>): Promise<Map<string, number>> {
  const { put } = IDBObjectStore.prototype;
  const bytes = new Map<string, number>();
  IDBObjectStore.prototype.put = function (...args: Parameters<Put>) {
    bytes.set(this.name, (bytes.get(this.name) ?? 0) + rawBytes(args[0]).length);
    return put.apply(this, args);
  };
  try {
    await body();
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  return bytes;
}

/** How many transactions `body` opens. */
export async function countTransactions(body: () => Promise<unknown>): Promise<number> {
  const { transaction } = IDBDatabase.prototype;
  let count = 0;
  IDBDatabase.prototype.transaction = function (...args: Parameters<IDBDatabase['transaction']>) {
    count++;
    return transaction.apply(this, args);
  };
  try {
    await body();
  } finally {
    IDBDatabase.prototype.transaction = transaction;
  }
  return count;
}

/** Every key and value of every database of a browser, one after the other. */
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

export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

function rawBytes(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (Array.isArray(value)) return Buffer.concat(value.map(rawBytes));
  // What the browser does with a non-extractable key is beyond IndexedDB's records.
  if (value instanceof CryptoKey) return Buffer.alloc(0);
  if (typeof value === 'object' && value !== null) return Buffer.concat(Object.values(value).map(rawBytes));
  return Buffer.from(String(value));
}
