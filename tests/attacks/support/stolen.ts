import { openRecord, type SharedKeys } from '../../../crypto-core/src/account/index.ts';

/** A record of the storage of a browser: its store, its key with the parts joined by slashes, and its bytes. */
type StoredRecord = readonly [store: string, place: string, bytes: number[]];

/** Runs in the page or in its frame of the keys. @returns the storage key, where its origin gives it to a script; else nothing */
export async function stealStorageKey(): Promise<number[]> {
  const settled = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(request.error ?? new Error('no answer')));
    });
  if (!(await indexedDB.databases()).some(({ name }) => name === 'sinetti')) return [];
  const root = await settled(indexedDB.open('sinetti'));
  const sessions = root.transaction('sessions').objectStore('sessions');
  const [[userId], [row]] = (await Promise.all([
    settled(sessions.getAllKeys()),
    settled(sessions.getAll()),
  ])) as [
    [string],
    [{ wrappingKey: CryptoKey; iv: Uint8Array<ArrayBuffer>; wrapped: Uint8Array<ArrayBuffer> }],
  ];
  root.close();
  const additionalData = new TextEncoder().encode(userId);
  const { iv, wrapped, wrappingKey } = row;
  const key = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, wrappingKey, wrapped);
  return [...new Uint8Array(key)];
}

/** Runs in the frame of the keys. @returns every record of the one account there */
export async function stealRecords(): Promise<StoredRecord[]> {
  const settled = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(request.error ?? new Error('no answer')));
    });
  const account = (await indexedDB.databases()).find(({ name }) => name?.startsWith('sinetti-'));
  const db = await settled(indexedDB.open(account?.name ?? ''));
  const tx = db.transaction([...db.objectStoreNames]);
  const records = [...db.objectStoreNames].map(async (store) => {
    const [keys, rows] = (await Promise.all([
      settled(tx.objectStore(store).getAllKeys()),
      settled(tx.objectStore(store).getAll()),
    ])) as [(string | (string | number)[])[], (Uint8Array | { sealed: Uint8Array })[]];
    return rows.map((row, i): [string, string, number[]] => [
      store,
      [keys[i] ?? ''].flat().join('/'),
      [...(row instanceof Uint8Array ? row : row.sealed)],
    ]);
  });
  const all = await Promise.all(records);
  db.close();
  return all.flat();
}

/** Opens every record by the storage key, but the one that only the vault opens. @returns what they hold, one after the other */
export function openStolen(storageKey: readonly number[], records: readonly StoredRecord[]): string {
  return records
    .filter(([, place]) => place !== 'unlock')
    .map(([store, place, bytes]) => {
      const opened = openRecord(Uint8Array.from(storageKey), store, place, Uint8Array.from(bytes));
      return Buffer.from(opened).toString('latin1');
    })
    .join('\n');
}

/** The keys that a person's browsers share, of what the stolen disk of one holds. */
export function sharedKeysIn(opened: string): SharedKeys[] {
  const [, list = '[]'] = /"sharedKeys":(\[.*?\])/.exec(opened) ?? [];
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return (JSON.parse(list) as { revision: number; stateKey: string; historyKey: string }[]).map(
    ({ historyKey, revision, stateKey }) => ({
      revision,
      stateKey: bytes(stateKey),
      historyKey: bytes(historyKey),
    }),
  );
}
