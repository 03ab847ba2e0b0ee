/** Files beside messages: sealed and opened piece by piece here, carried and shown by the page, which never has a key. */
import { equalBytes, paddedLength, toHex, wipe } from '@sinetti/crypto-core';
import {
  FILE_CHUNK_LENGTH,
  FILE_KEY_LENGTH,
  openFileChunk,
  type RunningSha256,
  runningSha256,
  SEALED_FILE_CHUNK_LENGTH,
  sealedFileLength,
  sealFileChunk,
} from '@sinetti/crypto-core/content';
import {
  ConversationId,
  check,
  FileHandle,
  FileIndex,
  FilePiece,
  FileSize,
  Id,
  PieceIndex,
  type QueueFilesInput,
} from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import type { Guarded } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { randomUuid } from '../codec/uuid.ts';
import type { TransactionDeps } from '../conversation/conversationTransaction.ts';
import { isOver } from '../conversation/messageView.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import type { OutgoingFile } from '../storage/attachments.ts';
import { read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { sealedFiles } from '../storage/payload.ts';
import { UploadRecord } from '../storage/uploadRecord.ts';

const CHUNKS_IN_PIECE = limits.filePiece / FILE_CHUNK_LENGTH;

/** A file that is being sealed: its key is used once for each chunk, and written nowhere before the last one. */
interface Sealing {
  readonly key: Uint8Array;
  readonly size: number;
  readonly hash: RunningSha256;
  next: number;
}

interface Opened {
  readonly key: Uint8Array;
  readonly size: number;
  /** The message's word for the hash. */
  readonly expected: Uint8Array;
  /** Null once a piece was opened out of order: only who opens all of them has the hash compared. */
  hash: RunningSha256 | null;
  next: number;
}

/** The secrets of files in memory, of one account. */
interface InHand {
  readonly sealing: Map<string, Sealing>;
  readonly opened: Map<string, Opened>;
}

export function createFiles({ env }: TransactionDeps, session: Session) {
  const ofAccounts = new WeakMap<UnlockedAccount, InHand>();

  function inHand(account: UnlockedAccount): InHand {
    const known = ofAccounts.get(account);
    if (known !== undefined) return known;
    const made: InHand = { sealing: new Map(), opened: new Map() };
    ofAccounts.set(account, made);
    account.wipeWhenLocked.push(() => {
      for (const { hash, key } of [...made.sealing.values(), ...made.opened.values()]) {
        wipe(key);
        hash?.digest();
      }
      made.sealing.clear();
      made.opened.clear();
    });
    return made;
  }

  function forget<T extends Sealing | Opened>(files: Map<string, T>, id: string): void {
    const file = files.get(id);
    if (file === undefined) return;
    files.delete(id);
    file.hash?.digest();
    wipe(file.key);
  }

  return {
    async beginFile(given) {
      const size = check('beginFile', FileSize, given);
      const account = session.account();
      const { sealing } = inHand(account);
      if (sealing.size >= limits.filesSealing) throw new CryptoApiError('usage', 'files at once');
      const fileId = randomUuid(env);
      sealing.set(fileId, { key: env.random(FILE_KEY_LENGTH), size, hash: runningSha256(), next: 0 });
      const length = paddedLength(size);
      return { fileId, pieces: piecesOf(length), sealedSize: sealedFileLength(length) };
    },

    async sealPiece(givenId, givenIndex, given) {
      const fileId = check('sealPiece', Id, givenId);
      const index = check('sealPiece', PieceIndex, givenIndex);
      const piece = new Uint8Array(check('sealPiece', FilePiece, given));
      const account = session.account();
      const { sealing } = inHand(account);
      const file = sealing.get(fileId);
      if (file === undefined) throw new CryptoApiError('unknown-file');
      const { hash, key, size } = file;
      const length = paddedLength(size);
      if (index !== file.next || piece.length !== lengthOfPiece(size, index))
        throw new CryptoApiError('usage', 'piece of a file');
      file.next++;
      const sealed = sealPadded(paddedTo(lengthOfPiece(length, index), piece), { key, length }, index);
      hash.update(sealed);
      if (file.next === piecesOf(length)) {
        sealing.delete(fileId);
        const record: UploadRecord = { key, hash: hash.digest(), size };
        const row = account.sealer.seal('uploads', fileId, record);
        wipe(key);
        await write(account.db, 'relaxed', (tx) => tx.objectStore('uploads').put(row, fileId));
      }
      return sealed.buffer;
    },

    async forgetFile(given) {
      const fileId = check('forgetFile', Id, given);
      const account = session.account();
      forget(inHand(account).sealing, fileId);
      await write(account.db, 'relaxed', (tx) => tx.objectStore('uploads').delete(fileId));
    },

    async openFile(givenConversation, givenMessage, givenIndex) {
      const conversationId = check('openFile', ConversationId, givenConversation);
      const messageId = check('openFile', Id, givenMessage);
      const index = check('openFile', FileIndex, givenIndex);
      const account = session.account();
      const payload = await read(account.db, (tx) => payloadOf(tx, account, conversationId, messageId));
      if (payload === null) throw new CryptoApiError('unknown-message');
      const file = sealedFiles(payload)[index];
      if (file === undefined) throw new CryptoApiError('unknown-file');
      const { opened } = inHand(account);
      const [oldest] = opened.keys();
      if (opened.size >= limits.filesOpen && oldest !== undefined) forget(opened, oldest);
      const handle = toHex(env.random(16));
      const { blobId, hash: expected, key, size } = file;
      opened.set(handle, { key: key.slice(), size, expected, hash: runningSha256(), next: 0 });
      const length = paddedLength(size);
      return {
        handle,
        blobId,
        sealedSize: sealedFileLength(length),
        sealedPiece: limits.sealedPiece,
        pieces: piecesOf(size),
        sealedPieces: piecesOf(length),
      };
    },

    async openPiece(givenHandle, givenIndex, given) {
      const handle = check('openPiece', FileHandle, givenHandle);
      const index = check('openPiece', PieceIndex, givenIndex);
      const sealed = new Uint8Array(check('openPiece', FilePiece, given));
      const { opened } = inHand(session.account());
      const file = opened.get(handle);
      if (file === undefined) throw new CryptoApiError('unknown-file');
      const length = paddedLength(file.size);
      const piece = openPadded(sealed, { key: file.key, length }, index);
      takeIntoHash(file, index, sealed, piecesOf(length));
      const pieceLength = lengthOfPiece(file.size, index);
      return piece.length === pieceLength ? piece.buffer : piece.slice(0, pieceLength).buffer;
    },
  } satisfies Partial<CryptoApi>;
}

/** The facts of a file as the page gives them. */
type GivenFile = Guarded<typeof QueueFilesInput>['files'][number];

/**
 * Takes away what was kept of sealed files, for the message that names them.
 * @throws CryptoApiError `unknown-file`; `usage` for no files
 */
export async function takeUploads(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  files: readonly GivenFile[],
): Promise<OutgoingFile[]> {
  if (files.length === 0) throw new CryptoApiError('usage', 'no files');
  const store = tx.objectStore('uploads');
  const taken: OutgoingFile[] = [];
  for (const { fileId, ...facts } of files) {
    const row = await store.get(fileId);
    if (row === undefined) throw new CryptoApiError('unknown-file');
    await store.delete(fileId);
    const { hash, key, size } = sealer.open('uploads', fileId, row, UploadRecord);
    taken.push({ ...facts, hash, key, size });
  }
  return taken;
}

/** The payload of a message that is in the cache or the outbox; null where it is in neither, or has none. */
async function payloadOf(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  messageId: string,
): Promise<string | null> {
  const known = await new MessageViews(tx, account, conversationId).find(messageId);
  if (known === null) return null;
  if ('waiting' in known) return known.waiting.record.payload;
  return isOver(account, known.logged.record) ? null : known.logged.record.payload;
}

/** @throws CryptoApiError `decrypt-failed` at the last piece of another file than the message's */
function takeIntoHash(file: Opened, index: number, sealed: Uint8Array, count: number): void {
  if (file.hash === null) return;
  if (index !== file.next) {
    file.hash.digest();
    file.hash = null;
    return;
  }
  file.hash.update(sealed);
  file.next++;
  if (file.next < count) return;
  const digest = file.hash.digest();
  file.hash = null;
  if (!equalBytes(digest, file.expected)) throw new CryptoApiError('decrypt-failed', 'another file');
}

function paddedTo(length: number, piece: Uint8Array): Uint8Array {
  if (piece.length === length) return piece;
  const padded = new Uint8Array(length);
  padded.set(piece);
  return padded;
}

function sealPadded(
  padded: Uint8Array,
  file: { readonly key: Uint8Array; readonly length: number },
  piece: number,
): Uint8Array<ArrayBuffer> {
  const count = Math.max(1, Math.ceil(padded.length / FILE_CHUNK_LENGTH));
  const sealed = new Uint8Array(sealedFileLength(padded.length));
  for (let i = 0; i < count; i++) {
    const chunk = padded.subarray(i * FILE_CHUNK_LENGTH, (i + 1) * FILE_CHUNK_LENGTH);
    sealed.set(sealFileChunk(file, piece * CHUNKS_IN_PIECE + i, chunk), i * SEALED_FILE_CHUNK_LENGTH);
  }
  return sealed;
}

/** @throws CryptoError as openFileChunk does */
function openPadded(
  sealed: Uint8Array,
  { key, length }: { readonly key: Uint8Array; readonly length: number },
  piece: number,
): Uint8Array<ArrayBuffer> {
  const expected = lengthOfPiece(length, piece);
  if (sealed.length !== sealedFileLength(expected)) throw new CryptoApiError('malformed', 'piece of a file');
  const opened = new Uint8Array(expected);
  const file = { key, sealedLength: sealedFileLength(length) };
  for (let i = 0; i * SEALED_FILE_CHUNK_LENGTH < sealed.length; i++) {
    const chunk = sealed.subarray(i * SEALED_FILE_CHUNK_LENGTH, (i + 1) * SEALED_FILE_CHUNK_LENGTH);
    opened.set(openFileChunk(file, piece * CHUNKS_IN_PIECE + i, chunk), i * FILE_CHUNK_LENGTH);
  }
  return opened;
}

function piecesOf(length: number): number {
  return Math.max(1, Math.ceil(length / limits.filePiece));
}

function lengthOfPiece(length: number, index: number): number {
  return Math.min(limits.filePiece, Math.max(0, length - index * limits.filePiece));
}
