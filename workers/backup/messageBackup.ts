/**
 * The message backup: sealed copies of messages at the relay, for the person's other devices (PROTOCOL
 * section 5).
 */
import { CryptoError } from '@sinetti/crypto-core';
import {
  newestSharedKeys,
  type SharedKeys,
  sharedRevision,
  signReplacedCopies,
} from '@sinetti/crypto-core/account';
import { BackupEntriesStored, ConversationId, check, StoredBackupEntries } from '../api/arguments.ts';
import type { BackupEntry, CryptoApi, MessageView } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean, integer } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { randomUuid } from '../codec/uuid.ts';
import { selfConversationId } from '../conversation/conversationId.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { MessageKeeper } from '../conversation/messageKeeper.ts';
import { type KnownMessage, openMessage } from '../conversation/messageView.ts';
import { countUnread } from '../conversation/views.ts';
import { type AccountOnDevice, readKeys, type Session, type UnlockedAccount } from '../session/session.ts';
import {
  BackupPositionRecord,
  type BackupRecord,
  putBackupRecord,
  readBackupRecord,
} from '../storage/backupRecord.ts';
import { type MessageRow, read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { isForPeople } from '../storage/payload.ts';
import { type ConversationRecord, type MessageRecord, readConversation } from '../storage/records.ts';
import {
  type OpenedEntry,
  openEntry,
  type SettingEntry,
  sealMessageEntry,
  sealSettingEntry,
} from './backupFormat.ts';

export function createMessageBackup(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async backupState() {
      const account = session.account();
      const { kept, position } = await read(account.db, (tx) => readBackupRecord(tx, account));
      return { kept, position };
    },

    async setBackupKept(wanted) {
      const kept = check('setBackupKept', boolean, wanted);
      const account = session.account();
      await write(account.db, 'relaxed', async (tx) => {
        const record = await readBackupRecord(tx, account);
        if (record.kept === kept) return;
        await putBackupRecord(tx, account, { ...record, kept, version: record.version + 1, isTold: false });
        // The relay deleted all entries when the backup was switched off, so every message is sealed anew.
        if (kept) await restart(tx, account);
      });
    },

    async backupSetting(again = false) {
      check('backupSetting', boolean, again);
      const account = session.account();
      const [{ kept, isTold, version }, { sharedKeys }] = await read(account.db, (tx) =>
        Promise.all([readBackupRecord(tx, account), readKeys(tx, account)]),
      );
      if (isTold && !again) return null;
      const at = { conversationId: `direct:${account.userId}:${account.userId}`, messageId: randomUuid(env) };
      const sealed = sealSettingEntry(sharedKeys, at, { kept, version }, env);
      return {
        kept,
        copy: { id: at.messageId, conversationId: at.conversationId, sealed: toBase64Url(sealed) },
      };
    },

    async backupSettingStored(told) {
      const kept = check('backupSettingStored', boolean, told);
      const account = session.account();
      await write(account.db, 'relaxed', async (tx) => {
        const record = await readBackupRecord(tx, account);
        // The person may have changed their mind meanwhile.
        if (record.kept === kept) await putBackupRecord(tx, account, { ...record, isTold: true });
      });
    },

    async conversationsToBackUp() {
      const account = session.account();
      return read(account.db, async (tx) => {
        if (!(await readBackupRecord(tx, account)).kept) return [];
        const due: string[] = [];
        for (const conversationId of await tx.objectStore('heads').getAllKeys()) {
          const conversation = await readConversation(tx, account.sealer, conversationId);
          const upTo = await backedUpTo(tx, account, conversationId, conversation);
          if (conversation.lastSeq > upTo || (await isReplacingDue(tx, conversationId)))
            due.push(conversationId);
        }
        return due;
      });
    },

    async nextBackupEntries(id) {
      const conversationId = check('nextBackupEntries', ConversationId, id);
      const account = session.accountOnDevice();
      return read(account.db, async (tx) => {
        if (!(await readBackupRecord(tx, account)).kept) return null;
        const conversation = await readConversation(tx, account.sealer, conversationId);
        const from = await backedUpTo(tx, account, conversationId, conversation);
        return conversation.lastSeq <= from
          ? replacingEntries(tx, account, conversationId, from)
          : entriesAfter(tx, account, conversationId, from, conversation.lastSeq);
      });
    },

    async backupEntriesStored(input) {
      const { conversationId, replaced, upTo, stored } = check(
        'backupEntriesStored',
        BackupEntriesStored,
        input,
      );
      const account = session.account();
      await write(account.db, 'relaxed', async (tx) => {
        const sealed = account.sealer.seal('copies', conversationId, { upTo } satisfies BackupPositionRecord);
        await tx.objectStore('copies').put(sealed, conversationId);
        for (const messageId of replaced) await noteReplaced(tx, conversationId, messageId);
        if (stored === null) return;
        const record = await readBackupRecord(tx, account);
        // A difference means that another device stored entries in between, which are still to be read.
        if (record.position + stored.count !== stored.lastPosition) return;
        await putBackupRecord(tx, account, { ...record, position: stored.lastPosition });
      });
    },

    async readBackup(given, hasAllKeys = false, after = 0) {
      check('readBackup', boolean, hasAllKeys);
      check('readBackup', integer(0), after);
      const entries = check('readBackup', StoredBackupEntries, given);
      const account = session.accountOnDevice();
      const { sharedKeys } = await read(account.db, (tx) => readKeys(tx, account));
      const opened = entries.map(({ conversationId, id, sealed }) =>
        tryOpenEntry(sharedKeys, { conversationId, messageId: id }, sealed),
      );
      const result = await write(account.db, 'relaxed', async (tx) => {
        const record = await readBackupRecord(tx, account);
        // Else those between are to be read again, since the log doesn't have their messages.
        const isNext = after <= record.position;
        const restored = new Map<string, { readonly keeper: MessageKeeper; readonly seen: KnownMessage[] }>();
        let isLate = false;
        const isComplete = hasAllKeys || !opened.includes('missing-key');
        for (const [i, entry] of opened.entries()) {
          const at = entries[i];
          // From here on it waits for the keys that another device has renewed.
          if (at === undefined || (entry === 'missing-key' && !hasAllKeys)) break;
          if (isNext) record.position = Math.max(record.position, at.position);
          if (entry === null || entry === 'missing-key') continue;
          if (entry.type === 'setting') {
            if (entry.version < record.version || !record.isTold) continue;
            await adoptSetting(tx, account, record, entry);
            isLate = false;
            continue;
          }
          isLate ||= !record.kept;
          const { conversationId } = at;
          if (entry.payload !== null && !isBackedUp(account, conversationId, entry.payload)) continue;
          const { erased, seq, type: _type, payloadLength: _length, ...copied } = entry;
          const own = copied.senderDeviceId === account.device.deviceId;
          const left = erased && { ...erased, isShown: erased.of === null, how: 'everywhere' as const };
          const message = { ...copied, own, reason: null, erased: left };
          const into = restored.get(conversationId) ?? {
            keeper: new MessageKeeper(tx, account, conversationId),
            seen: [],
          };
          restored.set(conversationId, into);
          const outcome = await restore(tx, account, into.keeper, at, seq, message);
          if (typeof outcome === 'object') into.seen.push(outcome);
          if (outcome === 'left-to-log')
            record.leftToLog = Math.min(record.leftToLog ?? at.position, at.position);
        }
        await putBackupRecord(tx, account, record);
        const messages: MessageView[] = [];
        for (const { keeper, seen } of restored.values()) messages.push(...(await keeper.viewsOf(seen)));
        return { messages, kept: record.kept, isLate, isComplete };
      });
      for (const conversationId of new Set(result.messages.map((message) => message.conversationId))) {
        await recountUnread(account, conversationId);
      }
      return result;
    },
  } satisfies Partial<CryptoApi>;

  async function entriesAfter(
    tx: Transaction,
    account: UnlockedAccount,
    conversationId: string,
    from: number,
    lastSeq: number,
  ) {
    const { sharedKeys } = await readKeys(tx, account);
    const entries: BackupEntry[] = [];
    let bytes = 0;
    const range = IDBKeyRange.bound([conversationId, from], [conversationId, lastSeq], true);
    let cursor = await tx.objectStore('messages').openCursor(range);
    while (cursor !== null) {
      const [, seq] = cursor.key;
      const sealed = sealCopy(sharedKeys, account, conversationId, seq, cursor.value);
      if (sealed !== null) {
        bytes += sealed.length;
        entries.push({ id: cursor.value.messageId, conversationId, sealed: toBase64Url(sealed) });
      }
      if (entries.length >= limits.backupEntriesPerCall || bytes >= limits.backupBytesPerCall) {
        return { copies: entries, upTo: seq };
      }
      cursor = await cursor.continue();
    }
    return { copies: entries, upTo: lastSeq };
  }

  /** Seals a message; null for one that has no copy, or another one that is to be replaced. */
  function sealCopy(
    sharedKeys: readonly SharedKeys[],
    account: UnlockedAccount,
    conversationId: string,
    seq: number,
    row: MessageRow,
    isReplacing = false,
  ): Uint8Array | null {
    const record = openMessage(account, conversationId, seq, row);
    const { erased, own: _own, payload, reason: _reason, ...copied } = record;
    const isErasedCopy = erased?.how === 'everywhere' && (isReplacing || isCopiedErased(erased));
    const isCopied = payload === null ? isErasedCopy : isBackedUp(account, conversationId, payload);
    if (!isCopied || (row.copyDue !== undefined && !isReplacing)) return null;
    const left = erased === null || erased.id === null ? null : { id: erased.id, of: erased.of };
    const at = { conversationId, messageId: row.messageId };
    return sealMessageEntry(sharedKeys, at, { seq, ...copied, erased: left }, payload, env);
  }

  /** Seals what is left of deleted messages, which replaces their copies. */
  async function replacingEntries(
    tx: Transaction,
    account: AccountOnDevice,
    conversationId: string,
    upTo: number,
  ) {
    const { sharedKeys } = await readKeys(tx, account);
    const due = tx.objectStore('messages').index('copyDue');
    const range = IDBKeyRange.only(conversationId);
    const [keys, rows] = await Promise.all([
      due.getAllKeys(range, limits.backupEntriesPerCall),
      due.getAll(range, limits.backupEntriesPerCall),
    ]);
    const copies = rows.flatMap((row, i) => {
      const seq = keys[i]?.[1];
      const sealed = seq === undefined ? null : sealCopy(sharedKeys, account, conversationId, seq, row, true);
      return sealed === null ? [] : [{ messageId: row.messageId, sealed }];
    });
    if (copies.length === 0) return null;
    const { deviceId, signatureKey } = account.device;
    const signature = signReplacedCopies(signatureKey.privateKey, {
      userId: account.userId,
      deviceId,
      copies,
    });
    return {
      copies: copies.map(({ messageId, sealed }) => ({
        id: messageId,
        conversationId,
        sealed: toBase64Url(sealed),
      })),
      upTo,
      replaces: toBase64Url(signature),
    };
  }

  /** Counts the unread messages anew, since restored ones may be newer than the read position. */
  async function recountUnread(account: ReturnType<Session['accountOnDevice']>, conversationId: string) {
    const known = await read(account.db, (tx) => tx.objectStore('heads').getKey(conversationId));
    if (known === undefined) return;
    await inTransaction(account, deps, conversationId, 'relaxed', async ({ conversation, tx }) => {
      conversation.unread = await countUnread(tx, account, conversationId, conversation.readSeq);
    });
  }
}

/**
 * Returns the position up to which a conversation is backed up. It starts at this device's join, since
 * messages from before it reach this device through the backup.
 */
async function backedUpTo(
  tx: Transaction,
  { sealer }: UnlockedAccount,
  conversationId: string,
  conversation: ConversationRecord,
): Promise<number> {
  const sealed = await tx.objectStore('copies').get(conversationId);
  return sealed === undefined
    ? conversation.joinedSeq
    : sealer.open('copies', conversationId, sealed, BackupPositionRecord).upTo;
}

/** Backs up every message of every conversation anew. */
async function restart(tx: WriteTransaction, { sealer }: UnlockedAccount): Promise<void> {
  for (const conversationId of await tx.objectStore('heads').getAllKeys()) {
    const record: BackupPositionRecord = { upTo: 0 };
    await tx.objectStore('copies').put(sealer.seal('copies', conversationId, record), conversationId);
  }
}

/** Takes over the setting that another device has made. */
async function adoptSetting(
  tx: WriteTransaction,
  account: UnlockedAccount,
  record: BackupRecord,
  { kept, version }: SettingEntry,
): Promise<void> {
  if (kept && !record.kept) await restart(tx, account);
  record.kept = kept;
  record.version = version;
}

/** Leaves out all but notes of what own devices tell each other: it is for the devices that hear it, not for later ones. */
function isBackedUp({ userId }: UnlockedAccount, conversationId: string, payload: string): boolean {
  return conversationId !== selfConversationId(userId) || isForPeople(payload);
}

/**
 * Opens an entry; null if no device of the person sealed it, since the relay can return anything, and `missing-key`
 * if it says that it was sealed under newer keys.
 */
function tryOpenEntry(
  keys: readonly SharedKeys[],
  at: { conversationId: string; messageId: string },
  sealed: Uint8Array,
): OpenedEntry | 'missing-key' | null {
  try {
    return openEntry(keys, at, sealed);
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return error.code === 'missing-key' && sharedRevision(sealed) > newestSharedKeys(keys).revision
      ? 'missing-key'
      : null;
  }
}

/** Returns whether a deleted message has a copy that says so: not one that only this device has deleted. */
function isCopiedErased({ isShown, of }: NonNullable<MessageRecord['erased']>): boolean {
  return isShown || of !== null;
}

async function isReplacingDue(tx: Transaction, conversationId: string): Promise<boolean> {
  return (await tx.objectStore('messages').index('copyDue').getKey(conversationId)) !== undefined;
}

async function noteReplaced(tx: WriteTransaction, conversationId: string, messageId: string): Promise<void> {
  const messages = tx.objectStore('messages');
  const keys = await messages.index('messageId').getAllKeys(messageId);
  const key = keys.find(([within]) => within === conversationId);
  const row = key === undefined ? undefined : await messages.get(key);
  if (row === undefined) return;
  const { copyDue: _due, ...kept } = row;
  await messages.put(kept, key);
}

/**
 * Stores a message from the backup, unless this device can read it already or will from the log. One that was deleted replaces
 * one that can be read.
 * @returns the message, or the one that it changes
 */
async function restore(
  tx: WriteTransaction,
  account: UnlockedAccount,
  keeper: MessageKeeper,
  { conversationId, id }: { conversationId: string; id: string },
  seq: number,
  message: MessageRecord,
): Promise<KnownMessage | 'unseen' | 'known' | 'left-to-log'> {
  const store = tx.objectStore('messages');
  const present = await store.get([conversationId, seq]);
  const known = present === undefined ? null : openMessage(account, conversationId, seq, present);
  if (known !== null && known.erased !== null) return 'known';
  if (known !== null && known.payload !== null && message.erased === null) return 'known';
  const conversation = await readConversation(tx, account.sealer, conversationId);
  if (conversation.membership === 'member' && seq > conversation.lastSeq) return 'left-to-log';
  return (await keeper.keep(seq, id, message, null)) ?? 'unseen';
}
