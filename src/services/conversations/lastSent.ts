/**
 * The last text that this browser has sent beside what the relay has of it, for the page /prove. It reads only: neither the
 * conversation nor the outbox changes by it.
 */
import type { LogEntryInput, MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { bytesOf } from '../../net/base64url.ts';
import { isApiError } from '../../net/errors.ts';
import type { LastSent, RelayCopy, RelayEntry, SentText } from '../../store/proof.ts';
import { keyOf } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';
import { isPassing, toAppError } from '../core/failures.ts';
import { listEntries, toInput } from './logInputs.ts';

type LastSentDeps = Pick<Deps, 'api' | 'crypto'>;

const pageSize = 100;
/** Pages of the history that are read in all: whoever writes seldom need not have all of it opened. */
const pagesMax = 50;
/** Bytes of a text that stand in a row nowhere by chance, and the least of a shorter text. */
const piece = 8;
const shortestPiece = 4;

/** @throws AppError */
export async function lastSent(deps: LastSentDeps, ownUserId: string): Promise<LastSent | null> {
  try {
    const text = await lastText(deps, ownUserId);
    return text === null ? null : { text, copy: await copyOf(deps, ownUserId, text) };
  } catch (error) {
    throw toAppError(error, t('prove.failed'));
  }
}

interface Sent {
  readonly message: MessageView & { readonly seq: number };
  readonly at: number;
}

async function lastText({ crypto }: LastSentDeps, ownUserId: string): Promise<SentText | null> {
  const message = await newestSent(crypto);
  if (message === null || message.content.kind !== 'text') return null;
  const { conversationId, messageId, senderDeviceId: deviceId, seq } = message;
  const key = keyOf(conversationId, ownUserId);
  if (key === null) return null;
  const [first] =
    message.isEdited === true ? await crypto.messageVersions(conversationId, messageId) : [message.content];
  if (first === undefined) return null;
  const { isMarkdown, text } = first;
  const words = isMarkdown === true ? { text, isMarkdown } : { text };
  return { ...words, key, conversationId, deviceId, seq, isEdited: message.isEdited === true };
}

/** Looks through the conversations, the one that was written in last first, until what is left is older than what was found. */
async function newestSent(crypto: Deps['crypto']): Promise<Sent['message'] | null> {
  let newest: Sent | null = null;
  let pagesLeft = pagesMax;
  // That of the own devices, where the notes are, names no last message.
  const lastAt = ({ lastMessage }: { readonly lastMessage: MessageView | null }) =>
    lastMessage === null ? Number.POSITIVE_INFINITY : Date.parse(lastMessage.timestamp);
  const states = (await crypto.conversations()).toSorted((one, other) => lastAt(other) - lastAt(one));
  for (const state of states) {
    const { conversationId } = state;
    if (newest !== null && lastAt(state) <= newest.at) break;
    let before: number | undefined;
    while (pagesLeft > 0) {
      pagesLeft -= 1;
      const page: MessageView[] = await crypto.messages(conversationId, {
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
      });
      const found = page.map(sentText).findLast((sent) => sent !== null) ?? null;
      if (found !== null && found.at > (newest?.at ?? 0)) newest = found;
      const oldest = page[0];
      const isOlder = newest !== null && Date.parse(oldest?.timestamp ?? '') <= newest.at;
      if (found !== null || isOlder || page.length < pageSize || !oldest?.seq) break;
      before = oldest.seq;
    }
  }
  return newest?.message ?? null;
}

/** Returns a message if this device has sent it, the log has it, and it is a text. */
function sentText(message: MessageView): Sent | null {
  const { content, seq, status, timestamp } = message;
  if (status !== 'sent' || seq === null || content.kind !== 'text') return null;
  return { message: { ...message, seq }, at: Date.parse(timestamp) };
}

async function copyOf({ api, crypto }: LastSentDeps, ownUserId: string, text: SentText): Promise<RelayCopy> {
  const { conversationId, seq } = text;
  let entries: readonly LogEntryInput[];
  try {
    entries = await listEntries(api, ownUserId, conversationId, { after: seq - 1, limit: 1 });
  } catch (error) {
    if (isApiError(error, 'not-found')) return { kind: 'refused' };
    if (isPassing(error)) return { kind: 'unreachable' };
    throw error;
  }
  const given = entries.find((one) => one.seq === seq);
  if (given === undefined) return { kind: 'missing' };
  const { fields, match } = await crypto.sentEvidence(conversationId, toInput(given));
  const entry: RelayEntry = {
    senderId: given.sender_id,
    senderDeviceId: given.sender_device_id,
    epoch: given.epoch,
    seq,
    timestamp: given.timestamp,
  };
  if (given.content === '') return { kind: 'digest', digest: given.digest ?? '', match, entry };
  const bytes = await bytesOf(given.content);
  // In an entry that another one has made, the text may stand in the open.
  const open = match === 'different' ? [] : (fields ?? []);
  const sealedFrom = open.reduce((sum, { length }) => sum + length, 0);
  const hasText = hasPiece(bytes.subarray(sealedFrom), text.text);
  return { kind: 'bytes', bytes, fields: fields ?? [], match, hasText, entry };
}

/** Returns whether any few bytes in a row of a text are among others; null of a text that is too short to tell. */
function hasPiece(bytes: Uint8Array, text: string): boolean | null {
  const words = new TextEncoder().encode(text);
  const length = Math.min(words.length, piece);
  if (length < shortestPiece) return null;
  const pieces = new Set(piecesOf(words, length));
  for (const one of piecesOf(bytes, length)) if (pieces.has(one)) return true;
  return false;
}

/** One at a time: an entry is as long as the relay makes it. */
function* piecesOf(bytes: Uint8Array, length: number): Generator<string> {
  // One character for each byte.
  const text = new TextDecoder('latin1').decode(bytes);
  for (let at = 0; at + length <= text.length; at += 1) yield text.slice(at, at + length);
}
