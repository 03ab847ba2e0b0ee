/** Both views of a conversation beside each other: what this device was given, signed, and another's (PROTOCOL section 10). */
import { CryptoError } from '@sinetti/crypto-core';
import {
  checkDeviceCredential,
  isSavedViewOf,
  readDeviceCertificate,
  signSavedView,
} from '@sinetti/crypto-core/account';
import { ConversationId, check, ViewFileText } from '../api/arguments.ts';
import type { CryptoApi, SeenEntry, ViewComparison } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { type ChainRow, readRows } from '../conversation/chainRows.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { isFinding, readEvents } from '../conversation/events.ts';
import { isOver, openMessage, saidBy } from '../conversation/messageView.ts';
import { readPin } from '../identity/pins.ts';
import { isRevokedBy } from '../identity/revocations.ts';
import type { Session } from '../session/session.ts';
import type { Said } from '../storage/payload.ts';
import {
  type FileEntry,
  readViewFile,
  type SavedView,
  type ViewFile,
  viewBytes,
  writeViewFile,
} from './viewFile.ts';

export function createSavedViews(deps: TransactionDeps, session: Session) {
  return {
    async saveView(id, wanted) {
      const conversationId = check('saveView', ConversationId, id);
      const withTexts = check('saveView', boolean, wanted);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const view = await viewOf(transaction, withTexts, new Date(deps.env.now()).toISOString());
        const { certificate, deviceId, signatureKey } = account.device;
        const saved = { conversationId, userId: account.userId, deviceId, view: viewBytes(view) };
        const signature = signSavedView(signatureKey.privateKey, saved);
        return writeViewFile(view, toBase64Url(certificate), toBase64Url(signature));
      });
    },

    async compareView(id, text) {
      const conversationId = check('compareView', ConversationId, id);
      const file = readViewFile(check('compareView', ViewFileText, text));
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      if (file.view.conversation_id !== conversationId) throw new CryptoApiError('wrong-group');
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        await checkAuthor(transaction, file);
        return compare(transaction, file.view);
      });
    },
  } satisfies Partial<CryptoApi>;
}

async function viewOf(
  transaction: ConversationTransaction,
  withTexts: boolean,
  savedAt: string,
): Promise<SavedView> {
  const { account, conversation, conversationId, tx } = transaction;
  const rows = await keptRows(transaction);
  const entries: FileEntry[] = [];
  for (const row of rows) {
    const seen = await seenAt(transaction, row);
    entries.push({
      position: row.seq,
      digest: toBase64Url(row.digest),
      running_hash: row.hash === null ? null : toBase64Url(row.hash),
      device_id: row.deviceId,
      user_id: seen.userId,
      message_id: seen.messageId,
      text: withTexts ? (seen.text?.slice(0, limits.viewText) ?? null) : null,
      kind: seen.kind ?? undefined,
    });
  }
  const findings = (await readEvents(tx, account, conversationId)).filter(isFinding);
  return {
    conversation_id: conversationId,
    user_id: account.userId,
    device_id: account.device.deviceId,
    saved_at: savedAt,
    start: conversation.chain?.start ?? null,
    position: conversation.lastSeq,
    entries,
    findings: findings.map(({ change, senderDeviceId, senderId, seq }) => ({
      position: seq,
      kind: change.kind === 'diverged' ? 'diverged' : 'missing',
      count: 'count' in change ? change.count : 0,
      user_id: senderId,
      device_id: senderDeviceId,
    })),
  };
}

async function keptRows(transaction: ConversationTransaction): Promise<ChainRow[]> {
  const rows = await readRows(transaction, 0, transaction.conversation.lastSeq);
  return rows.slice(-limits.viewEntries);
}

/** Returns the entry that this device has at a position. */
async function seenAt(transaction: ConversationTransaction, { deviceId, seq }: ChainRow): Promise<SeenEntry> {
  const { account, conversationId, tx } = transaction;
  const row = await tx.objectStore('messages').get([conversationId, seq]);
  if (row === undefined) {
    const owner = (await transaction.members())?.find(({ deviceIds }) => deviceIds.includes(deviceId));
    return { userId: owner?.userId ?? null, deviceId, messageId: null, text: null, kind: null };
  }
  const record = openMessage(account, conversationId, seq, row);
  const said = isOver(account, record) ? null : saidBy({ record });
  return { userId: record.senderId, deviceId, messageId: row.messageId, ...seenIn(said) };
}

/** Returns what is told of a content: of one that can't be read, or is of a version to come, nothing. */
function seenIn(said: Said | null): Pick<SeenEntry, 'kind' | 'text'> {
  if (said === null) return { kind: null, text: null };
  switch (said.kind) {
    case 'message':
      return said.content.kind === 'text' || said.content.kind === 'files'
        ? { kind: said.content.kind, text: said.content.text === '' ? null : said.content.text }
        : { kind: null, text: null };
    case 'edit':
      return { kind: 'edit', text: said.text };
    case 'reaction':
      return { kind: 'reaction', text: said.emoji };
    case 'deletion':
      return { kind: 'deletion', text: null };
    default:
      throw said satisfies never;
  }
}

/**
 * Checks that a member whose account key is pinned has signed the file, or a device of this person's.
 * @throws CryptoError `invalid-credential`, as CryptoApiError for a device that is revoked; CryptoApiError `unknown-person`, `bad-signature`
 */
async function checkAuthor(transaction: ConversationTransaction, file: ViewFile): Promise<void> {
  const { account, tx } = transaction;
  const { conversation_id: conversationId, device_id: deviceId, user_id: userId } = file.view;
  const members = (await transaction.members()) ?? [];
  if (!members.some((member) => member.userId === userId)) throw new CryptoApiError('unknown-person');
  const pinned = userId === account.userId ? account.device : await readPin(tx, account, userId);
  if (pinned === null) throw new CryptoApiError('unknown-person');
  const { deviceKey } = claimsOf(file.certificate);
  const leaf = { identity: file.certificate, signatureKey: deviceKey };
  const certified = checkDeviceCredential(
    leaf,
    (certifiedId) => (certifiedId === userId ? pinned.accountKey : undefined),
    null,
  );
  // A removed device may be in other hands, which can write in its person's name.
  if (await isRevokedBy(tx, account, { userId, deviceId, accountKey: pinned.accountKey }))
    throw new CryptoApiError('invalid-credential');
  const saved = { conversationId, userId, deviceId, view: viewBytes(file.view) };
  if (certified.deviceId !== deviceId || !isSavedViewOf(deviceKey, saved, file.signature))
    throw new CryptoApiError('bad-signature');
}

function claimsOf(certificate: Uint8Array) {
  try {
    return readDeviceCertificate(certificate);
  } catch (error) {
    if (error instanceof CryptoError) throw new CryptoApiError('invalid-credential');
    throw error;
  }
}

async function compare(transaction: ConversationTransaction, view: SavedView): Promise<ViewComparison> {
  const rows = new Map((await keptRows(transaction)).map((row) => [row.seq, row]));
  const common = view.entries.flatMap((entry) => {
    const row = rows.get(entry.position);
    return row === undefined ? [] : [{ entry, row }];
  });
  const author = { userId: view.user_id, deviceId: view.device_id, savedAt: view.saved_at };
  const [first, last] = [common[0], common.at(-1)];
  if (first === undefined || last === undefined) return { author, result: { kind: 'apart' } };
  const parting = common.find(({ entry, row }) => entry.digest !== toBase64Url(row.digest));
  const { start } = transaction.conversation.chain ?? {};
  const hasSameStart = start !== undefined && start === view.start;
  if (hasSameStart && parting !== first && differsBefore(first))
    return { author, result: { kind: 'earlier', position: first.row.seq } };
  if (parting === undefined)
    return { author, result: { kind: 'same', from: first.row.seq, upTo: last.row.seq } };
  const { entry, row } = parting;
  const there = {
    userId: entry.user_id,
    deviceId: entry.device_id,
    messageId: entry.message_id,
    text: entry.text,
    kind: entry.kind ?? null,
  };
  const here = await seenAt(transaction, row);
  return { author, result: { kind: 'parts', position: row.seq, here, there } };
}

/** Returns whether the running hashes differ after an entry that is the same in both. */
function differsBefore({ entry, row }: { entry: FileEntry; row: ChainRow }): boolean {
  return row.hash !== null && entry.running_hash !== null && toBase64Url(row.hash) !== entry.running_hash;
}
