import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import type { Locks } from '#src/lib/locks.ts';
import type { AtPoint } from './points.ts';

/** The fault of a write: the transaction is torn, or there is no room for it. */
export type DiskFault = 'torn' | 'full';

interface OpenDatabase extends IDBDatabase {
  readonly _rawDatabase: { readonly transactions: readonly (IDBTransaction & { readonly _state: string })[] };
}

const diskOf = new WeakMap<object, TabDisk>();

const openTransaction = Reflect.get(IDBDatabase.prototype, 'transaction');
IDBDatabase.prototype.transaction = function (
  this: IDBDatabase,
  ...given: Parameters<typeof openTransaction>
) {
  const disk = diskOf.get(this);
  disk?.atPoint('disk');
  const opened = Reflect.apply(openTransaction, this, given);
  // All is written, and nobody has heard of it yet.
  if (disk !== undefined && opened.mode === 'readwrite')
    opened.addEventListener('complete', (event) => disk.committed(event));
  return opened;
};

for (const method of ['put', 'add'] as const) {
  const original = IDBObjectStore.prototype[method];
  IDBObjectStore.prototype[method] = function (this: IDBObjectStore, ...given: Parameters<typeof original>) {
    const disk = diskOf.get(this.transaction.db);
    disk?.beforeWrite(this.transaction);
    const request = Reflect.apply(original, this, given);
    disk?.atPoint('disk');
    return request;
  };
}

/** One browser's IndexedDB as one tab has it open: it ends with the tab. */
export class TabDisk {
  readonly #factory: () => IDBFactory;
  readonly #open = new Set<IDBDatabase>();
  #isDead = false;
  /** Every write fails for want of room until this is taken back. */
  isFull = false;
  /** Writes until the one that is torn; null for none. */
  tearIn: number | null = null;
  torn = 0;
  /** Told of each transaction that opens, each write and each commit. */
  readonly atPoint: AtPoint;

  constructor(factory: () => IDBFactory, atPoint: AtPoint) {
    this.#factory = factory;
    this.atPoint = atPoint;
  }

  /** As the worker of this tab sees it. */
  readonly indexedDB = {
    open: (name: string, version?: number) => {
      const request = this.#living().open(name, version);
      request.addEventListener('success', () => {
        diskOf.set(request.result, this);
        this.#open.add(request.result);
        if (this.#isDead) this.kill();
      });
      return request;
    },
    deleteDatabase: (name: string) => this.#living().deleteDatabase(name),
  } as unknown as globalThis.IDBFactory;

  committed(event: Event): void {
    this.atPoint('disk');
    if (this.#isDead) event.stopImmediatePropagation();
  }

  beforeWrite(transaction: IDBTransaction): void {
    if (this.isFull) this.#fail(transaction, 'full');
    if (this.tearIn === null) return;
    this.tearIn -= 1;
    if (this.tearIn > 0) return;
    this.tearIn = null;
    this.#fail(transaction, 'torn');
  }

  #fail(transaction: IDBTransaction, fault: DiskFault): never {
    this.torn += 1;
    transaction.abort();
    throw new DOMException(`the disk is ${fault}`, fault === 'full' ? 'QuotaExceededError' : 'AbortError');
  }

  /** The tab is gone in the middle of whatever it was doing: what it has not committed is undone. */
  kill(): void {
    this.#isDead = true;
    for (const db of this.#open) {
      const { transactions } = (db as OpenDatabase)._rawDatabase;
      // Nobody is there to be told that it was broken off.
      for (const type of ['success', 'error', 'abort'])
        db.addEventListener(type, (event) => event.stopPropagation(), { capture: true });
      const running = transactions.filter((one) => one.db === db && one._state !== 'finished');
      for (const transaction of running) abort(transaction);
      db.close();
    }
    this.#open.clear();
  }

  #living(): IDBFactory {
    if (this.#isDead) throw new DOMException('the tab is gone', 'InvalidStateError');
    return this.#factory();
  }
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It is being committed: a tab that dies then has written it.
  }
}

interface Lock {
  holder: symbol | null;
  waiting: { readonly tab: symbol; readonly go: () => void }[];
}

/** Web Locks of one browser: exclusive, first come first served, and let go of by a tab that is gone. */
export class ProfileLocks {
  readonly #locks = new Map<string, Lock>();

  of(tab: symbol): Locks {
    return {
      request: async (name, task) => {
        await this.#take(name, tab);
        try {
          return await task();
        } finally {
          this.#give(name, tab);
        }
      },
    };
  }

  release(tab: symbol): void {
    for (const [name, lock] of this.#locks) {
      lock.waiting = lock.waiting.filter((one) => one.tab !== tab);
      this.#give(name, tab);
    }
  }

  #take(name: string, tab: symbol): Promise<void> {
    const lock = this.#locks.get(name) ?? { holder: null, waiting: [] };
    this.#locks.set(name, lock);
    if (lock.holder !== null) return new Promise((go) => lock.waiting.push({ tab, go }));
    lock.holder = tab;
    return Promise.resolve();
  }

  #give(name: string, tab: symbol): void {
    const lock = this.#locks.get(name);
    if (lock?.holder !== tab) return;
    const next = lock.waiting.shift();
    lock.holder = next?.tab ?? null;
    next?.go();
  }
}

/** Copies all that a browser has stored, as a backup of its profile does. */
export async function copyStorage(from: IDBFactory): Promise<IDBFactory> {
  const to = new IDBFactory();
  for (const { name = '', version } of await from.databases()) {
    const source = await settled(from.open(name));
    const opening = to.open(name, version);
    opening.addEventListener('upgradeneeded', () => {
      for (const store of source.objectStoreNames) {
        const { autoIncrement, indexNames, keyPath } = source.transaction(store).objectStore(store);
        const made = opening.result.createObjectStore(store, { autoIncrement, keyPath });
        for (const index of indexNames) {
          const found = source.transaction(store).objectStore(store).index(index);
          made.createIndex(index, found.keyPath, { unique: found.unique, multiEntry: found.multiEntry });
        }
      }
    });
    const target = await settled(opening);
    // All of one moment: a tab may be writing.
    const stores = [...source.objectStoreNames];
    const snapshot = source.transaction(stores);
    const found = await Promise.all(
      stores.map(async (store) => {
        const rows = snapshot.objectStore(store);
        const [keys, values] = await Promise.all([settled(rows.getAllKeys()), settled(rows.getAll())]);
        return { store, keys, values };
      }),
    );
    for (const { store, keys, values } of found) {
      const into = target.transaction(store, 'readwrite').objectStore(store);
      const isKeyed = into.keyPath === null;
      await Promise.all(values.map((value, i) => settled(into.put(value, isKeyed ? keys[i] : undefined))));
    }
    source.close();
    target.close();
  }
  return to;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB')));
  });
}
