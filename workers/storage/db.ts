/**
 * The browser's storage. It has two kinds of databases: a small root one with the session, and one for each
 * account. Keys and index values are in the clear (ids and positions, which the relay knows too); everything
 * else is sealed (see records.ts) before it comes here.
 */
import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, type IDBPTransaction, wrap } from 'idb';

/** A session: the storage key, wrapped by a key that WebCrypto never lets out. Logging out deletes it. */
export interface SessionRow {
  readonly wrappingKey: CryptoKey;
  readonly iv: Uint8Array;
  readonly wrapped: Uint8Array;
}

export interface MessageRow {
  readonly messageId: string;
  readonly sealed: Uint8Array;
  /** The hidden key of its content id (see messageRow.ts): absent where it can't be read, and from earlier versions. */
  readonly content?: string;
  /** The conversation, and the hidden key of what a change is about. A row with it is on no screen by itself. */
  readonly about?: [string, string];
  /** The conversation's id, where the message backup has a copy of what was erased. */
  readonly copyDue?: string;
  /** The time at which it disappears (ms since the Unix epoch), {@link UNREAD} before it was read, and the conversation. */
  readonly expires?: [number, string];
}

/** In place of the time at which a message disappears that nobody has read: after all times. */
export const UNREAD: number = Number.MAX_SAFE_INTEGER;

export interface OutboxRow {
  readonly conversationId: string;
  /** Ascending in the order of writing. */
  readonly order: number;
  readonly sealed: Uint8Array;
}

interface RootSchema extends DBSchema {
  sessions: { key: string; value: SessionRow };
}

interface AccountSchema extends DBSchema {
  /**
   * The single records `keys`, `device`, `start`, `former` (the device before this one), `marks`, `name` (the own one,
   * signed), `clock` (see clockSetBack.ts), `history` (the message backup's), `ownState` (what the own devices are to be told), `revisions`
   * (what they have said of their keys and account state), `removed` (own devices that
   * their group has taken out) and `unlock` (the storage key, sealed under a key that the vault gives; `nextUnlock` under one
   * of a vault that the relay may have taken). Browsers from before vault version 2 have a `vault` instead of `keys`.
   */
  device: { key: string; value: Uint8Array };
  /** KeyPackageRef in hexadecimal to a KeyPackage with its private halves. */
  keyPackages: { key: string; value: Uint8Array };
  /** User id to the pinned account key, an offered one and former ones. */
  pins: { key: string; value: Uint8Array };
  /** Conversation id to the conversation record: small, and rewritten by each transaction. */
  heads: { key: string; value: Uint8Array };
  /** Conversation id to the members of the tree: written once an epoch. */
  members: { key: string; value: Uint8Array };
  /** Conversation id to the group without its ratchets: written once an epoch. */
  epochs: { key: string; value: Uint8Array };
  /** [conversation id, secret tree key] to a ratchet: only those that moved are written. */
  ratchets: { key: [string, string]; value: Uint8Array };
  /** Conversation id to the group record: its creator, its name, leave statements. */
  groups: { key: string; value: Uint8Array };
  /** Conversation id to the pending commit. */
  pending: { key: string; value: Uint8Array };
  /** [conversation id, seq] to a message: the message cache. */
  messages: {
    key: [string, number];
    value: MessageRow;
    indexes: {
      messageId: string;
      content: string;
      about: [string, string];
      copyDue: string;
      expires: [number, string];
    };
  };
  /** Message id to a message that the log doesn't have yet. */
  outbox: { key: string; value: OutboxRow; indexes: { order: number; conversation: [string, number] } };
  /** Hidden key of a name, in hexadecimal, to an entry of the local store. */
  notes: { key: string; value: Uint8Array };
  /** Conversation id to the position up to which its messages are in the message backup. */
  copies: { key: string; value: Uint8Array };
  /** [conversation id, seq] to the event of that entry. */
  events: { key: [string, number]; value: Uint8Array };
  /** Conversation id to the names last known of people who are or were in the group. */
  names: { key: string; value: Uint8Array };
  /** [conversation id, seq] to the running hash after that entry of the current epoch: see chainRows.ts. */
  chain: { key: [string, number]; value: Uint8Array };
  /** Conversation id to what the running hash needs beside its rows: written once an epoch. */
  chains: { key: string; value: Uint8Array };
  /** Conversation id to how far others have received and read it: see receiptRows.ts. */
  receipts: { key: string; value: Uint8Array };
  /** [user id, device id] to the account key's statement that the device is revoked. */
  revocations: { key: [string, string]; value: Uint8Array };
  /** File id to the key and the hash of a file that is being uploaded, until a message names it. */
  uploads: { key: string; value: Uint8Array };
}

export type StoreName =
  | 'device'
  | 'keyPackages'
  | 'pins'
  | 'heads'
  | 'members'
  | 'epochs'
  | 'ratchets'
  | 'groups'
  | 'pending'
  | 'messages'
  | 'outbox'
  | 'notes'
  | 'events'
  | 'names'
  | 'revocations'
  | 'copies'
  | 'chain'
  | 'chains'
  | 'receipts'
  | 'uploads';

export type RootDatabase = IDBPDatabase<RootSchema>;
export type AccountDatabase = IDBPDatabase<AccountSchema>;
export type ReadTransaction = IDBPTransaction<AccountSchema, StoreName[]>;
export type WriteTransaction = IDBPTransaction<AccountSchema, StoreName[], 'readwrite'>;
export type KeyPackageStore = IDBPObjectStore<AccountSchema, StoreName[], 'keyPackages', 'readwrite'>;
/** Either kind of transaction, which reading accepts. */
export type Transaction = ReadTransaction | WriteTransaction;

const STORES: StoreName[] = [
  'device',
  'keyPackages',
  'pins',
  'heads',
  'members',
  'epochs',
  'ratchets',
  'groups',
  'pending',
  'messages',
  'outbox',
  'notes',
  'events',
  'names',
  'revocations',
  'copies',
  'chain',
  'chains',
  'receipts',
  'uploads',
];

/** Brings the schema of the version below to this one. Migrations are only ever appended. */
export type Migration = (db: IDBDatabase, tx: IDBTransaction) => void;

export const rootMigrations: readonly Migration[] = [(db) => void db.createObjectStore('sessions')];

export const accountMigrations: readonly Migration[] = [
  (db) => {
    for (const store of [
      'device',
      'keyPackages',
      'pins',
      'heads',
      'members',
      'epochs',
      'ratchets',
      'pending',
    ]) {
      db.createObjectStore(store);
    }
    db.createObjectStore('messages').createIndex('messageId', 'messageId');
    const outbox = db.createObjectStore('outbox');
    outbox.createIndex('order', 'order');
    outbox.createIndex('conversation', ['conversationId', 'order']);
  },
  (db) => void db.createObjectStore('groups'),
  (db) => void db.createObjectStore('notes'),
  (db) => {
    for (const store of ['events', 'names']) db.createObjectStore(store);
  },
  (db) => void db.createObjectStore('revocations'),
  (db) => void db.createObjectStore('copies'),
  (db) => {
    for (const store of ['chain', 'chains']) db.createObjectStore(store);
  },
  (db) => void db.createObjectStore('receipts'),
  (_db, tx) => {
    const messages = tx.objectStore('messages');
    for (const index of ['content', 'about', 'copyDue']) messages.createIndex(index, index);
  },
  (db) => void db.createObjectStore('uploads'),
  (_db, tx) => void tx.objectStore('messages').createIndex('expires', 'expires'),
];

/**
 * Opens a database and brings its schema up to date, one migration after the other, in one transaction.
 * @param onClosed called when the connection is gone: another tab erases or upgrades the database, or the
 * browser evicted it
 */
export async function openDatabase(
  factory: IDBFactory,
  name: string,
  migrations: readonly Migration[],
  onClosed: () => void,
): Promise<IDBDatabase> {
  const request = factory.open(name, migrations.length);
  request.addEventListener('upgradeneeded', (event) => {
    const tx = request.transaction;
    if (tx === null) return;
    for (const migrate of migrations.slice(event.oldVersion)) migrate(request.result, tx);
  });
  await wrap(request);
  const db = request.result;
  db.addEventListener('versionchange', () => {
    // An open connection would block the other tab for as long as this one lives.
    db.close();
    onClosed();
  });
  db.addEventListener('close', onClosed);
  return db;
}

export async function openRootDatabase(factory: IDBFactory): Promise<RootDatabase> {
  return wrap(await openDatabase(factory, 'sinetti', rootMigrations, () => {})) as unknown as RootDatabase;
}

export function accountDatabaseName(userId: string): string {
  return `sinetti-${userId}`;
}

export async function openAccountDatabase(
  factory: IDBFactory,
  userId: string,
  onClosed: () => void,
): Promise<AccountDatabase> {
  const db = await openDatabase(factory, accountDatabaseName(userId), accountMigrations, onClosed);
  return wrap(db) as unknown as AccountDatabase;
}

/** Resolves once every tab has let go and the database is gone. */
export async function deleteAccountDatabase(factory: IDBFactory, userId: string): Promise<void> {
  await wrap(factory.deleteDatabase(accountDatabaseName(userId)));
}

/**
 * Runs `body` in one transaction over all stores, of which all is stored or nothing. `body` may wait for
 * nothing but this transaction's own requests. The result is let out only after the browser has committed.
 * @param durability `strict` waits for the disk, as a transaction that uses up a sending key has to
 */
export async function write<T>(
  db: AccountDatabase,
  durability: 'strict' | 'relaxed',
  body: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  const tx = db.transaction(STORES, 'readwrite', { durability });
  const done = tx.done;
  // The first failure is reported below; it must not surface again as an unhandled rejection.
  done.catch(() => {});
  let result: T;
  try {
    result = await body(tx);
  } catch (error) {
    abort(tx);
    throw error;
  }
  await done;
  return result;
}

/** Runs `body` in one read transaction, which shows all stores as of one moment. */
export async function read<T>(db: AccountDatabase, body: (tx: ReadTransaction) => Promise<T>): Promise<T> {
  const tx = db.transaction(STORES, 'readonly');
  tx.done.catch(() => {});
  return body(tx);
}

function abort(tx: WriteTransaction): void {
  try {
    tx.abort();
  } catch {
    // The transaction has ended already, and its failure is the one that made `body` fail.
  }
}

/** Returns the range of all keys [conversation id, …] of a compound-key store. */
export function withinConversation(conversationId: string): IDBKeyRange {
  return withinFirst(conversationId);
}

/** Returns the range of all keys [id, …] of a compound-key store. */
export function withinFirst(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}
