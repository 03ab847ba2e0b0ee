/**
 * Reads what a browser has on its disk, opened with its session's key. No request of IndexedDB is made for it: nothing in the
 * world moves meanwhile, and a run is the same with it and without.
 */
import { createDecipheriv } from 'node:crypto';
import { endGroup, groupView, loadGroup, toHex } from '@sinetti/crypto-core';
import type { ConversationKey } from '#src/store/chats.ts';
import type { Guard } from '#workers/codec/guards.ts';
import {
  accountDatabaseName,
  type MessageRow,
  type OutboxRow,
  type SessionRow,
  type StoreName,
} from '#workers/storage/db.ts';
import { EventRecord } from '#workers/storage/eventRecord.ts';
import { readPayload } from '#workers/storage/payload.ts';
import {
  ConversationRecord,
  DeviceRecord,
  LocalEntryRecord,
  MembersRecord,
  MessageRecord,
  OutboxRecord,
} from '#workers/storage/records.ts';
import { Sealer, sealingKey } from '#workers/storage/sealer.ts';
import { textAt } from './people.ts';

/** A device's part in one conversation. */
export interface StoredConversation {
  readonly conversationId: string;
  /** It has the keys of `epoch`. */
  readonly isMember: boolean;
  readonly epoch: number;
  /** The epoch authenticator (RFC 9420 section 8.7) in hexadecimal; empty for a device without keys. */
  readonly authenticator: string;
  /** The agreement of the members, as JSON: when messages disappear, and which are pinned. */
  readonly agreed: string;
  /** Seconds after which messages disappear that are sent from now on; 0 for never. */
  readonly timer: number;
  readonly memberDeviceIds: readonly string[];
  readonly joinedSeq: number;
  readonly lastSeq: number;
  readonly isDoubted: boolean;
  /** By position. */
  readonly messages: readonly { readonly seq: number; readonly messageId: string }[];
  /** Kinds of events: the device has found something to be missing, different or refused. */
  readonly findings: readonly string[];
}

export interface StoredDevice {
  readonly deviceId: string;
  readonly conversations: readonly StoredConversation[];
  /**
   * Every text that it has, sent or unsent or received, with its place ({@link textAt}) and the seconds after which it disappears; 0
   * for one that stays.
   */
  readonly texts: ReadonlyMap<string, number>;
  /** Texts of before it came into their conversations, which this browser has had as another device. */
  readonly earlyTexts: ReadonlySet<string>;
  /** Its drafts, by the keys of their conversations. */
  readonly drafts: ReadonlyMap<ConversationKey, string>;
}

type Key = string | readonly (string | number)[];

/** The rows of fake-indexeddb. */
interface RawFactory {
  readonly _databases: ReadonlyMap<
    string,
    {
      readonly rawObjectStores: ReadonlyMap<
        string,
        { readonly records: { values(): Iterable<{ readonly key: Key; readonly value: unknown }> } }
      >;
    }
  >;
}

type Row<T> = readonly [key: Key, value: T];

/** Records by their rows: a row is another object once it is written anew. */
const openedRows = new WeakMap<object, unknown>();

function opened<T>(row: object, open: () => T): T {
  if (!openedRows.has(row)) openedRows.set(row, open());
  return openedRows.get(row) as T;
}

function rowsOf<T>(factory: IDBFactory, database: string, store: string): Row<T>[] {
  const records = (factory as unknown as RawFactory)._databases
    .get(database)
    ?.rawObjectStores.get(store)?.records;
  return [...(records?.values() ?? [])].map(({ key, value }) => [key, value as T] as const);
}

/** The session's storage key; null for a browser on which this person isn't signed in. */
function storageKey(factory: IDBFactory, userId: string): Uint8Array | null {
  const row = rowsOf<SessionRow>(factory, 'sinetti', 'sessions').find(([key]) => key === userId)?.[1];
  if (row === undefined) return null;
  const { bytes } = row.wrappingKey as unknown as { readonly bytes: Uint8Array };
  const decipher = createDecipheriv('aes-256-gcm', bytes, row.iv);
  decipher.setAAD(Buffer.from(userId));
  decipher.setAuthTag(row.wrapped.subarray(-16));
  return Buffer.concat([decipher.update(row.wrapped.subarray(0, -16)), decipher.final()]);
}

const unused = {
  random: (): never => {
    throw new Error('nothing is sealed here');
  },
  now: () => 0,
};

class Disk {
  readonly #factory: IDBFactory;
  readonly #database: string;
  readonly #sealer: Sealer;

  constructor(factory: IDBFactory, userId: string, key: Uint8Array) {
    this.#factory = factory;
    this.#database = accountDatabaseName(userId);
    this.#sealer = new Sealer(key, unused);
  }

  rows<T>(store: StoreName): Row<T>[] {
    return rowsOf<T>(this.#factory, this.#database, store);
  }

  /** The records of a store by their keys; those of [conversation id, seq] by `conversation id/seq`. */
  records<T>(store: StoreName, guard: Guard<T>): Map<string, T> {
    return new Map(
      this.rows<Uint8Array | MessageRow | OutboxRow>(store).map(([key, row]) => {
        const place = typeof key === 'string' ? key : sealingKey(String(key[0]), key[1] ?? '');
        const sealed = row instanceof Uint8Array ? row : row.sealed;
        return [place, opened(row, () => this.#sealer.open(store, place, sealed, guard))];
      }),
    );
  }

  authenticators(): Map<string, string> {
    return new Map(
      this.rows<Uint8Array>('epochs').map(([key, row]) => [
        String(key),
        opened(row, () => this.#authenticator(String(key), row)),
      ]),
    );
  }

  #authenticator(conversationId: string, row: Uint8Array): string {
    const group = loadGroup(this.#sealer.openBytes('epochs', conversationId, row), () => undefined);
    const authenticator = toHex(groupView(group).epochAuthenticator);
    endGroup(group);
    return authenticator;
  }
}

/** The text of a message, or of an edit of one, and when it disappears. */
function textIn(conversationId: string, payload: string | null): (readonly [string, number])[] {
  const said = payload === null || payload === '' ? null : readPayload(payload);
  if (said?.kind === 'edit') return [[textAt(conversationId, said.text), said.expires ?? 0]];
  if (said?.kind !== 'message' || (said.content.kind !== 'text' && said.content.kind !== 'files')) return [];
  return [[textAt(conversationId, said.content.text), said.expires ?? 0]];
}

/** The text of a message whose files are on their way. */
function captionIn({ name, text }: LocalEntryRecord): (readonly [string, number])[] {
  if (!name.startsWith('upload:')) return [];
  const pending = JSON.parse(text) as { readonly conversationId: string; readonly text: string };
  return [[textAt(pending.conversationId, pending.text), 0]];
}

const draftPrefix = 'draft:';
const notable = ['missing', 'withheld', 'diverged', 'refused'];

/** Returns what is stored of a person's device; null where nobody is signed in, or no device was made yet. */
export function storedDevice(factory: IDBFactory, userId: string): StoredDevice | null {
  const key = storageKey(factory, userId);
  if (key === null) return null;
  const disk = new Disk(factory, userId, key);
  const device = disk.rows<Uint8Array>('device').find(([name]) => name === 'device');
  if (device === undefined) return null;
  const sealer = new Sealer(key, unused);
  const { deviceId } = opened(device[1], () => sealer.open('device', 'device', device[1], DeviceRecord));
  const authenticators = disk.authenticators();
  const members = disk.records('members', MembersRecord);
  const events = [...disk.records('events', EventRecord)];
  const rows = disk.rows<MessageRow>('messages');
  const conversations = [...disk.records('heads', ConversationRecord)].map(([conversationId, head]) => ({
    conversationId,
    isMember: head.membership === 'member',
    epoch: head.epoch,
    authenticator: authenticators.get(conversationId) ?? '',
    agreed: JSON.stringify([head.timer, head.pinned]),
    timer: head.timer,
    memberDeviceIds: (members.get(conversationId) ?? []).flatMap(({ deviceIds }) => deviceIds),
    joinedSeq: head.joinedSeq,
    lastSeq: head.lastSeq,
    isDoubted: head.isDoubted,
    messages: rows
      .filter(([place]) => place[0] === conversationId)
      .map(([place, { messageId }]) => ({ seq: Number(place[1]), messageId })),
    findings: events
      .filter(([place, { kind }]) => place.startsWith(`${conversationId}/`) && notable.includes(kind))
      .map(([, { code, kind }]) => (code === null ? kind : `${kind} (${code})`)),
  }));
  const places = new Map(
    disk.rows<OutboxRow>('outbox').map(([id, { conversationId }]) => [id, conversationId]),
  );
  const entries = [...disk.records('notes', LocalEntryRecord).values()];
  const logged = [...disk.records('messages', MessageRecord)].flatMap(([place, { payload }]) => {
    const end = place.lastIndexOf('/');
    const [conversationId, seq] = [place.slice(0, end), Number(place.slice(end + 1))];
    return textIn(conversationId, payload).map((text) => ({ conversationId, seq, text }));
  });
  const texts = [
    ...entries.flatMap(captionIn),
    ...logged.map(({ text }) => text),
    ...[...disk.records('outbox', OutboxRecord)].flatMap(([id, { payload }]) =>
      textIn(places.get(id) ?? '', payload),
    ),
  ];
  const joinedSeqs = new Map(
    conversations.map(({ conversationId, joinedSeq }) => [conversationId, joinedSeq]),
  );
  const early = logged.filter(({ conversationId, seq }) => seq <= (joinedSeqs.get(conversationId) ?? 0));
  const drafts = entries.flatMap(({ name, text }) =>
    name.startsWith(draftPrefix) ? [[name.slice(draftPrefix.length), text] as const] : [],
  );
  return {
    deviceId,
    conversations,
    texts: new Map(texts),
    earlyTexts: new Set(early.map(({ text: [text] }) => text)),
    drafts: new Map(drafts),
  };
}
