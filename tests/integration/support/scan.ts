import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** A value that must not be found, and how it is called when it is. */
export interface Secret {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Words as a secret. */
export const text = (name: string, value: string): Secret => ({ name, bytes: Buffer.from(value) });

const shortestPattern = 8;

/** The characters of base64 that are the same whatever stands before and behind the bytes. */
function base64Core(bytes: Uint8Array, offset: number, encoding: 'base64' | 'base64url'): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = padded.toString(encoding).replace(/=+$/, '');
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor((padded.length * 8) / 6);
  return text.slice(first, last);
}

/** Every way in which bytes could stand in a file or a message: as they are, as hexadecimal, inside any base64. */
function patternsOf({ bytes }: Secret): Buffer[] {
  const hex = Buffer.from(bytes).toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => [
    base64Core(bytes, offset, 'base64'),
    base64Core(bytes, offset, 'base64url'),
  ]);
  const utf16 = Buffer.from(Buffer.from(bytes).toString('utf8'), 'utf16le');
  return [Buffer.from(bytes), utf16, ...[hex, hex.toUpperCase(), ...base64].map((text) => Buffer.from(text))];
}

/** The names of the secrets that are found in the bytes; one pass however many there are. */
export function findSecrets(haystack: Buffer, secrets: readonly Secret[]): string[] {
  const byPrefix = new Map<number, { name: string; pattern: Buffer }[]>();
  for (const secret of secrets) {
    for (const pattern of patternsOf(secret)) {
      if (pattern.length < shortestPattern) throw new Error(`${secret.name} is too short to be looked for`);
      const prefix = pattern.readUInt32LE(0);
      byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), { name: secret.name, pattern }]);
    }
  }
  const found = new Set<string>();
  for (let at = 0; at + shortestPattern <= haystack.length; at += 1) {
    for (const { name, pattern } of byPrefix.get(haystack.readUInt32LE(at)) ?? []) {
      if (haystack.subarray(at, at + pattern.length).equals(pattern)) found.add(name);
    }
  }
  return [...found];
}

/** The paths of every file in a folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => path.join(parentPath, name));
}

/** Every byte of every file in a folder. */
export async function bytesOfFolder(folder: string): Promise<Buffer> {
  return Buffer.concat(await Promise.all((await filesIn(folder)).map((file) => readFile(file))));
}

/** The sizes of every file in a folder, smallest first. */
export async function sizesIn(folder: string): Promise<number[]> {
  const stats = await Promise.all((await filesIn(folder)).map((file) => stat(file)));
  return stats.map(({ size }) => size).toSorted((one, other) => one - other);
}

function bytesOfValue(value: unknown): Buffer[] {
  if (typeof value === 'string' || typeof value === 'number') return [Buffer.from(`${value}\n`)];
  if (value instanceof Uint8Array) return [Buffer.from(value), Buffer.from('\n')];
  if (value instanceof ArrayBuffer) return [Buffer.from(value), Buffer.from('\n')];
  if (value instanceof CryptoKey) {
    if (value.extractable) throw new Error('a stored key can be taken out');
    return [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => [Buffer.from(`${name}\n`), ...bytesOfValue(field)]);
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB')));
  });
}

/** Every key and every record of every database of a browser, as stored. */
export async function bytesOfIndexedDb(factory: IDBFactory): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const { name } of await factory.databases()) {
    if (name === undefined) continue;
    const database = await answer(factory.open(name));
    parts.push(Buffer.from(`${name}\n`));
    for (const storeName of database.objectStoreNames) {
      const store = database.transaction(storeName).objectStore(storeName);
      const [keys, values] = await Promise.all([answer(store.getAllKeys()), answer(store.getAll())]);
      parts.push(...bytesOfValue([keys, values]));
    }
    database.close();
  }
  return Buffer.concat(parts);
}
