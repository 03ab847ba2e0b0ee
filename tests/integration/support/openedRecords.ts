import { CryptoError } from '@sinetti/crypto-core';
import { answer, type OpenedRecord, openRecords } from '#tests/unit/workers/support/storage.ts';

/**
 * Everything that browsers keep of accounts, as whoever has their storage keys reads it.
 * @param drawn the random values of these browsers, their storage keys among them
 */
export async function openedRecords(
  factories: readonly IDBFactory[],
  drawn: readonly Uint8Array[],
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const factory of factories) {
    for (const { name = '' } of await factory.databases()) {
      const db = await answer(factory.open(name));
      // Only the databases of accounts are sealed.
      if (db.objectStoreNames.contains('messages'))
        for (const { content } of await openByOne(db, drawn))
          parts.push(Buffer.from(content), Buffer.from('\n'));
      db.close();
    }
  }
  return Buffer.concat(parts);
}

async function openByOne(db: IDBDatabase, drawn: readonly Uint8Array[]): Promise<OpenedRecord[]> {
  for (const key of drawn.filter(({ length }) => length === 32)) {
    try {
      return await openRecords(db, key);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
  throw new Error('no drawn value opens the records of a browser');
}
