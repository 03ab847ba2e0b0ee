/** Copies of messages that this person's devices leave at the relay for those to come (PROTOCOL section 5). */
import { CryptoError } from '@sinetti/crypto-core';
import { ConversationId, CopiesStored, check, StoredCopies } from '../api/arguments.ts';
import type { CryptoApi, HistoryCopy, MessageView } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { randomUuid } from '../codec/uuid.ts';
import { inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { countUnread, messageView, openMessage } from '../conversation/views.ts';
import type { Person, Session } from '../session/session.ts';
import { read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import {
  CopiedRecord,
  type HeadRecord,
  HistoryRecord,
  type MessageRecord,
  readHead,
  sealingKey,
} from '../storage/records.ts';
import {
  type OpenedCopy,
  openCopy,
  type SettingCopy,
  sealMessageCopy,
  sealSettingCopy,
} from './backupFormat.ts';

type CopiesApi = Pick<
  CryptoApi,
  | 'historyState'
  | 'setHistoryKept'
  | 'historySetting'
  | 'historySettingTold'
  | 'conversationsToCopy'
  | 'nextCopies'
  | 'copiesStored'
  | 'readCopies'
>;

const firstRecord: HistoryRecord = { kept: true, version: 0, isTold: true, position: 0 };

export function createCopies(deps: StepDeps, session: Session): CopiesApi {
  const { env } = deps;
  return {
    async historyState() {
      const person = session.person();
      const { kept, position } = await read(person.db, (tx) => readHistory(tx, person));
      return { kept, position };
    },

    async setHistoryKept(wanted) {
      const kept = check('setHistoryKept', boolean, wanted);
      const person = session.person();
      await write(person.db, 'relaxed', async (tx) => {
        const record = await readHistory(tx, person);
        if (record.kept === kept) return;
        await putHistory(tx, person, { ...record, kept, version: record.version + 1, isTold: false });
        // The relay has lost its copies in between: everything is copied anew.
        if (kept) await restart(tx, person);
      });
    },

    async historySetting(again = false) {
      check('historySetting', boolean, again);
      const person = session.person();
      const { kept, isTold, version } = await read(person.db, (tx) => readHistory(tx, person));
      if (isTold && !again) return null;
      const at = { conversationId: `direct:${person.userId}:${person.userId}`, messageId: randomUuid(env) };
      const sealed = sealSettingCopy(person.vault.historyKey, at, { kept, version }, env);
      return {
        kept,
        copy: { id: at.messageId, conversationId: at.conversationId, sealed: toBase64Url(sealed) },
      };
    },

    async historySettingTold(told) {
      const kept = check('historySettingTold', boolean, told);
      const person = session.person();
      await write(person.db, 'relaxed', async (tx) => {
        const record = await readHistory(tx, person);
        // The person may have changed their mind meanwhile.
        if (record.kept === kept) await putHistory(tx, person, { ...record, isTold: true });
      });
    },

    async conversationsToCopy() {
      const person = session.person();
      return read(person.db, async (tx) => {
        if (!(await readHistory(tx, person)).kept) return [];
        const due: string[] = [];
        for (const conversationId of await tx.objectStore('heads').getAllKeys()) {
          const head = await readHead(tx, person.sealer, conversationId);
          if (head.lastSeq > (await copiedUpTo(tx, person, conversationId, head))) due.push(conversationId);
        }
        return due;
      });
    },

    async nextCopies(id) {
      const conversationId = check('nextCopies', ConversationId, id);
      const person = session.person();
      return read(person.db, async (tx) => {
        if (!(await readHistory(tx, person)).kept) return null;
        const head = await readHead(tx, person.sealer, conversationId);
        const from = await copiedUpTo(tx, person, conversationId, head);
        return head.lastSeq <= from ? null : copiesAfter(tx, person, conversationId, from, head.lastSeq);
      });
    },

    async copiesStored(input) {
      const { conversationId, upTo, stored } = check('copiesStored', CopiesStored, input);
      const person = session.person();
      await write(person.db, 'relaxed', async (tx) => {
        const sealed = person.sealer.seal('copies', conversationId, { upTo } satisfies CopiedRecord);
        await tx.objectStore('copies').put(sealed, conversationId);
        if (stored === null) return;
        const record = await readHistory(tx, person);
        // Nobody else's copies are among them: there is nothing to read up to there.
        if (record.position + stored.count !== stored.lastPosition) return;
        await putHistory(tx, person, { ...record, position: stored.lastPosition });
      });
    },

    async readCopies(given) {
      const copies = check('readCopies', StoredCopies, given);
      const person = session.personWithDevice();
      const { historyKey } = person.vault;
      const opened = copies.map(({ conversationId, id, sealed }) =>
        openedCopy(historyKey, { conversationId, messageId: id }, sealed),
      );
      const result = await write(person.db, 'relaxed', async (tx) => {
        const record = await readHistory(tx, person);
        const messages: MessageView[] = [];
        let isLate = false;
        for (const [i, copy] of opened.entries()) {
          const at = copies[i];
          if (at === undefined || copy === null) continue;
          record.position = Math.max(record.position, at.position);
          if (copy.type === 'setting') {
            if (copy.version < record.version || !record.isTold) continue;
            await follow(tx, person, record, copy);
            isLate = false;
            continue;
          }
          isLate ||= !record.kept;
          const { payload, seq, senderId, senderDeviceId, timestamp } = copy;
          const own = senderDeviceId === person.device.deviceId;
          const message = { senderId, senderDeviceId, timestamp, own, payload, reason: null };
          if (await restore(tx, person, at, seq, message)) {
            messages.push(messageView(at.conversationId, seq, at.id, message));
          }
        }
        record.position = Math.max(record.position, copies.at(-1)?.position ?? 0);
        await putHistory(tx, person, record);
        return { messages, kept: record.kept, isLate };
      });
      for (const conversationId of new Set(result.messages.map((message) => message.conversationId))) {
        await countAgain(person, conversationId);
      }
      return result;
    },
  };

  async function copiesAfter(
    tx: Transaction,
    person: Person,
    conversationId: string,
    from: number,
    lastSeq: number,
  ) {
    const copies: HistoryCopy[] = [];
    let bytes = 0;
    const range = IDBKeyRange.bound([conversationId, from], [conversationId, lastSeq], true);
    let cursor = await tx.objectStore('messages').openCursor(range);
    while (cursor !== null) {
      const [, seq] = cursor.key;
      const { messageId } = cursor.value;
      const record = openMessage(person, conversationId, seq, cursor.value);
      const { payload, senderDeviceId, senderId, timestamp } = record;
      const at = { conversationId, messageId };
      const message = { seq, senderId, senderDeviceId, timestamp };
      const sealed =
        payload === null ? null : sealMessageCopy(person.vault.historyKey, at, message, payload, env);
      if (sealed !== null) {
        bytes += sealed.length;
        copies.push({ id: messageId, conversationId, sealed: toBase64Url(sealed) });
      }
      if (copies.length >= limits.copiesPerCall || bytes >= limits.copyBytesPerCall) {
        return { copies, upTo: seq };
      }
      cursor = await cursor.continue();
    }
    return { copies, upTo: lastSeq };
  }

  /** Restored messages may be newer than what the person has read. */
  async function countAgain(person: ReturnType<Session['personWithDevice']>, conversationId: string) {
    const known = await read(person.db, (tx) => tx.objectStore('heads').getKey(conversationId));
    if (known === undefined) return;
    await inStep(person, deps, conversationId, 'relaxed', async ({ head, tx }) => {
      head.unread = await countUnread(tx, person, conversationId, head.readSeq);
    });
  }
}

async function readHistory(tx: Transaction, { sealer }: Person): Promise<HistoryRecord> {
  const sealed = await tx.objectStore('device').get('history');
  return sealed === undefined ? { ...firstRecord } : sealer.open('device', 'history', sealed, HistoryRecord);
}

async function putHistory(tx: WriteTransaction, { sealer }: Person, record: HistoryRecord): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'history', record), 'history');
}

/** Of what came before this device joined, the copies are where it has it from. */
async function copiedUpTo(
  tx: Transaction,
  { sealer }: Person,
  conversationId: string,
  head: HeadRecord,
): Promise<number> {
  const sealed = await tx.objectStore('copies').get(conversationId);
  return sealed === undefined
    ? head.joinedSeq
    : sealer.open('copies', conversationId, sealed, CopiedRecord).upTo;
}

async function restart(tx: WriteTransaction, { sealer }: Person): Promise<void> {
  for (const conversationId of await tx.objectStore('heads').getAllKeys()) {
    const record: CopiedRecord = { upTo: 0 };
    await tx.objectStore('copies').put(sealer.seal('copies', conversationId, record), conversationId);
  }
}

/** Another device has switched it. */
async function follow(
  tx: WriteTransaction,
  person: Person,
  record: HistoryRecord,
  { kept, version }: SettingCopy,
): Promise<void> {
  if (kept && !record.kept) await restart(tx, person);
  record.kept = kept;
  record.version = version;
}

/** Null for what is none of this person's: the relay can keep anything under anything. */
function openedCopy(
  historyKey: Uint8Array,
  at: { conversationId: string; messageId: string },
  sealed: Uint8Array,
): OpenedCopy | null {
  try {
    return openCopy(historyKey, at, sealed);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Only where this device has nothing to read, nor will have from the log. @returns whether it was put there */
async function restore(
  tx: WriteTransaction,
  person: Person,
  { conversationId, id }: { conversationId: string; id: string },
  seq: number,
  message: MessageRecord,
): Promise<boolean> {
  const store = tx.objectStore('messages');
  const present = await store.get([conversationId, seq]);
  if (present !== undefined && openMessage(person, conversationId, seq, present).payload !== null) {
    return false;
  }
  const head = await readHead(tx, person.sealer, conversationId);
  if (head.membership === 'member' && seq > head.lastSeq) return false;
  const sealed = person.sealer.seal('messages', sealingKey(conversationId, seq), message);
  await store.put({ messageId: id, sealed }, [conversationId, seq]);
  return true;
}
