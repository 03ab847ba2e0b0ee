/** Sealed pieces of files, kept in this browser until the relay has them. What is here nobody can read without the worker. */

import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';

const databaseOf = (userId: string) => `sinetti-uploads:${userId}`;
const storeName = 'pieces';

/** Each @throws AppError `storage` where the disk is full, or can't be written. */
export interface PieceStore {
  put(fileId: string, index: number, piece: ArrayBuffer): Promise<void>;
  get(fileId: string, index: number): Promise<ArrayBuffer | null>;
  /** Forgets all pieces of a file. */
  remove(fileId: string): Promise<void>;
  /** The files that something is kept of. */
  fileIds(): Promise<readonly string[]>;
}

export function createPieceStore(factory: IDBFactory, userId: string): PieceStore {
  let opened: Promise<IDBDatabase> | null = null;

  async function open(): Promise<IDBDatabase> {
    const request = factory.open(databaseOf(userId), 1);
    request.addEventListener('upgradeneeded', () => void request.result.createObjectStore(storeName));
    const database = await settled(request);
    // Erasing this browser must not wait for this tab.
    database.addEventListener('versionchange', () => {
      database.close();
      opened = null;
    });
    return database;
  }

  async function run<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    try {
      opened ??= open().catch((error: unknown) => {
        opened = null;
        throw error;
      });
      const transaction = (await opened).transaction(storeName, mode);
      const answer = settled(ask(transaction.objectStore(storeName)));
      await Promise.all([answer, committed(transaction)]);
      return await answer;
    } catch (error) {
      throw new AppError('storage', t('errors.storageFailed'), { cause: error });
    }
  }

  return {
    async put(fileId, index, piece) {
      await run('readwrite', (store) => store.put(piece, [fileId, index]));
    },
    async get(fileId, index) {
      const piece: unknown = await run('readonly', (store) => store.get([fileId, index]));
      return piece instanceof ArrayBuffer ? piece : null;
    },
    async remove(fileId) {
      await run('readwrite', (store) => store.delete(IDBKeyRange.bound([fileId], [fileId, []])));
    },
    async fileIds() {
      const keys = await run('readonly', (store) => store.getAllKeys());
      return [
        ...new Set(keys.flatMap((key) => (Array.isArray(key) && typeof key[0] === 'string' ? [key[0]] : []))),
      ];
    },
  };
}

/** Deletes all pieces of a person's files. */
export async function deletePieces(factory: IDBFactory, userId: string): Promise<void> {
  await settled(factory.deleteDatabase(databaseOf(userId)));
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB')));
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB')));
  });
}
