import type { MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { createBackoff } from '../../lib/backoff.ts';
import { delay, timestamp } from '../../lib/clock.ts';
import { BlobError, type Blobs } from '../../net/blobs.ts';
import { type ConversationKey, chatsAtom } from '../../store/chats.ts';
import { type FileActions, type NewFile, type Upload, uploadsAtom } from '../../store/files.ts';
import type { Chats } from '../conversations/chats.ts';
import { type Outbox, sendQueued } from '../conversations/outbox.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, isPassing, toAppError } from '../core/failures.ts';
import { createCarrier } from './carrying.ts';
import { restoreInterrupted } from './interrupted.ts';
import { createPendingMessages, type PendingFile, type PendingMessage } from './pendingMessages.ts';
import type { PieceStore } from './pieceStore.ts';

/** Bytes of a file that the worker is given at once, and gives. */
export const pieceLength = 1024 * 1024;
const retryBase = 1_000;
const retryMax = 30_000;
/** The share of an upload's progress that sealing is. */
const sealing = 0.1;

export interface UploadsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Pick<Chats, 'addMessages' | 'get' | 'isLoaded' | 'removeMessage' | 'setState'>;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly isActive: () => boolean;
  readonly background: Background;
  readonly blobs: Blobs;
  readonly pieces: PieceStore;
}

export interface Uploads
  extends Pick<FileActions, 'discardUpload' | 'pauseUpload' | 'resumeUpload' | 'retryUpload' | 'send'> {
  /** Goes on with what was on its way as the page was left. */
  resume(): Promise<void>;
}

/**
 * Brings the files of messages to the relay, sealed, one after the other. Each file is sealed whole before any of it goes: from
 * then on a reload, or a network that is gone for days, costs nothing. The message goes when its last file is there. One that is
 * paused lets the next one go before it.
 */
export function createUploads(options: UploadsOptions): Uploads {
  const { background, blobs, chats, isActive, ownUserId, pieces } = options;
  const { clock, crypto, locks, newId, random, store } = options.deps;
  const pending = createPendingMessages(options.deps);
  const carrier = createCarrier({ blobs, pending, pieces });
  /** Views that stand for the messages until they are queued. */
  const shown = new Map<string, MessageView>();
  const stops = new Map<string, AbortController>();
  /** Stop the message that is being brought, for now: it goes on from where it is. */
  const pauses = new Map<string, AbortController>();
  const sealingNow = new Set<string>();

  function change(messageId: string, changed: Partial<Upload>): void {
    store.set(uploadsAtom, (all) => {
      const before: Upload = all[messageId] ?? {
        progress: 0,
        isWaiting: false,
        isPaused: false,
        failure: null,
      };
      return { ...all, [messageId]: { ...before, ...changed } };
    });
  }

  function show(message: MessageView): void {
    shown.set(message.messageId, message);
    change(message.messageId, {});
    chats.addMessages(message.conversationId, [message]);
  }

  function hide(messageId: string): void {
    shown.delete(messageId);
    stops.delete(messageId);
    pauses.delete(messageId);
    store.set(uploadsAtom, ({ [messageId]: _over, ...others }) => others);
  }

  // A chat that is loaded later knows nothing of messages that the worker doesn't have yet.
  const unsubscribe = store.sub(chatsAtom, () => {
    if (!isActive()) return unsubscribe();
    for (const message of shown.values()) {
      const key = keyOf(message.conversationId, ownUserId);
      if (key === null || !chats.isLoaded(key)) continue;
      const there = chats.get(key).messages.find(({ messageId }) => messageId === message.messageId);
      if (there === undefined) chats.addMessages(message.conversationId, [message]);
      // Another tab has sent it, while it is paused here.
      else if (there.seq !== null) hide(message.messageId);
    }
  });

  function viewOf(
    message: Omit<PendingMessage, 'files'>,
    files: readonly Pick<PendingFile, 'facts' | 'size'>[],
  ): MessageView {
    return {
      conversationId: message.conversationId,
      messageId: message.messageId,
      seq: null,
      senderId: ownUserId,
      senderDeviceId: '',
      timestamp: message.sentAt,
      status: 'sending',
      content: {
        kind: 'files',
        text: message.text,
        files: files.map(({ facts, size }) => ({ ...facts, size })),
      },
    };
  }

  /** Seals a file into this browser's storage. */
  async function seal(
    { facts, source }: NewFile,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<PendingFile> {
    const { fileId, pieces: count, sealedSize } = await crypto.beginFile(source.size);
    let sealedPiece = 0;
    for (let index = 0; index < count; index += 1) {
      signal.throwIfAborted();
      const piece = await source.slice(index * pieceLength, (index + 1) * pieceLength).arrayBuffer();
      const sealed = await crypto.sealPiece(fileId, index, piece);
      sealedPiece ||= sealed.byteLength;
      await pieces.put(fileId, index, sealed);
      onProgress((index + 1) / count);
    }
    return { fileId, blobId: null, size: source.size, sealedSize, sealedPiece, isUploaded: false, facts };
  }

  /** Does what is to be done until it is done, or fails for a reason that waiting doesn't change. */
  async function persistently(
    messageId: string,
    signal: AbortSignal,
    attempt: () => Promise<void>,
  ): Promise<void> {
    const backoff = createBackoff({ baseMs: retryBase, maxMs: retryMax, random });
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        signal.throwIfAborted();
        const mayPass =
          isPassing(error) || (error instanceof BlobError && error.code !== 'unsupported-version');
        if (!isActive() || !mayPass) throw error;
        change(messageId, { isWaiting: true });
      }
      await delay(clock, backoff.next());
      signal.throwIfAborted();
    }
  }

  async function bring(given: PendingMessage, signal: AbortSignal): Promise<void> {
    let message = given;
    const { conversationId, inReplyTo, messageId, sentAt, text } = message;
    const total = message.files.reduce((sum, { sealedSize }) => sum + sealedSize, 0);
    const done = () =>
      message.files.reduce((sum, { isUploaded, sealedSize }) => sum + (isUploaded ? sealedSize : 0), 0);
    const keepOf = (fileId: string) => async (changed: Partial<PendingFile>) => {
      const files = message.files.map((file) => (file.fileId === fileId ? { ...file, ...changed } : file));
      message = { ...message, files };
      await pending.keep(message);
    };
    for (const { fileId } of message.files) {
      await persistently(messageId, signal, async () => {
        const file = message.files.find((one) => one.fileId === fileId);
        if (file === undefined || file.isUploaded) return;
        await carrier.carry(file, {
          signal,
          keep: keepOf(fileId),
          async mayGoOn() {
            signal.throwIfAborted();
            // Another tab can pause what this one brings.
            if (await pending.isPaused(messageId)) pauseHere(messageId);
            signal.throwIfAborted();
          },
          onProgress: (bytes) =>
            change(messageId, {
              progress: sealing + (1 - sealing) * ((done() + bytes) / total),
              isWaiting: false,
            }),
        });
      });
    }
    signal.throwIfAborted();
    const queued = await crypto.queueFiles({
      conversationId,
      messageId,
      text,
      sentAt,
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      files: message.files.map(({ blobId, facts, fileId }) => ({ ...facts, fileId, blobId: blobId ?? '' })),
    });
    hide(messageId);
    sendQueued(options, queued);
    await pending.forget(messageId);
    for (const { fileId } of message.files) await pieces.remove(fileId);
  }

  function stopOf(messageId: string): AbortSignal {
    const stop = stops.get(messageId) ?? new AbortController();
    stops.set(messageId, stop);
    return stop.signal;
  }

  function pauseHere(messageId: string): void {
    pauses.get(messageId)?.abort();
    if (shown.has(messageId)) change(messageId, { isPaused: true, isWaiting: false });
  }

  /** Runs a step of a message, and says what has stopped it. */
  async function tellFailure(
    messageId: string,
    signal: AbortSignal,
    step: () => Promise<void>,
  ): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isActive() || signal.aborted) return;
      const { code, message } = toAppError(error, t('files.uploadFailed'));
      change(messageId, { isWaiting: false, failure: { code, text: message } });
      if (code === 'internal') throw error;
    }
  }

  const whileUploading = (task: () => Promise<void>) => locks.request(`uploads:${ownUserId}`, task);

  /** Brings a message's files to the relay, when those before it are there and no other tab does it. */
  async function run(messageId: string): Promise<void> {
    // The run before this one, if any: it was paused, or waits still.
    pauses.get(messageId)?.abort();
    const pause = new AbortController();
    pauses.set(messageId, pause);
    const signal = AbortSignal.any([stopOf(messageId), pause.signal]);
    await whileUploading(() =>
      tellFailure(messageId, signal, async () => {
        signal.throwIfAborted();
        const message = (await pending.all()).find((one) => one.messageId === messageId);
        // Another tab has brought it, or given it up.
        if (message === undefined) return hide(messageId);
        if (await pending.isPaused(messageId)) return pauseHere(messageId);
        if (message.unsealed !== undefined) throw new AppError('storage-erased', t('files.uploadLost'));
        await bring(message, signal);
      }),
    );
  }

  /** Another tab must not take the pieces for left ones while they are made. */
  const whileSealing = (task: () => Promise<void>) => locks.request(`sealing:${ownUserId}`, task);

  async function sealAll(
    message: Omit<PendingMessage, 'files'>,
    files: readonly NewFile[],
    signal: AbortSignal,
  ): Promise<void> {
    const sealed: PendingFile[] = [];
    await pending.keep({ ...message, files: [], unsealed: files.length });
    try {
      for (const [at, file] of files.entries()) {
        sealed.push(
          await seal(file, signal, (share) =>
            change(message.messageId, { progress: (sealing * (at + share)) / files.length }),
          ),
        );
      }
      await pending.keep({ ...message, files: sealed });
    } catch (error) {
      for (const { fileId } of sealed) await forget(fileId).catch(() => undefined);
      throw error;
    }
  }

  async function forget(fileId: string): Promise<void> {
    await pieces.remove(fileId);
    await crypto.forgetFile(fileId);
  }

  async function discard(messageId: string): Promise<void> {
    stops.get(messageId)?.abort();
    const message = (await pending.all()).find((one) => one.messageId === messageId);
    await pending.forget(messageId);
    hide(messageId);
    chats.removeMessage(messageId);
    for (const { blobId, fileId } of message?.files ?? []) {
      await forget(fileId);
      // The relay deletes by itself what nobody finishes.
      if (blobId !== null) background(() => blobs.remove(blobId));
    }
  }

  return {
    async send(key: ConversationKey, text, files, inReplyTo) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) throw new AppError('not-found', t('errors.sendNotFound'));
      const message = {
        conversationId,
        messageId: newId(),
        text: text.trim(),
        sentAt: timestamp(clock),
        ...(inReplyTo === undefined ? {} : { inReplyTo }),
      };
      const { messageId } = message;
      const signal = stopOf(messageId);
      show(
        viewOf(
          message,
          files.map(({ facts, source }) => ({ facts, size: source.size })),
        ),
      );
      background(async () => {
        let isSealed = false;
        sealingNow.add(messageId);
        await tellFailure(messageId, signal, () =>
          whileSealing(async () => {
            await sealAll(message, files, signal);
            isSealed = true;
          }),
        );
        sealingNow.delete(messageId);
        if (isSealed) await run(messageId);
      });
    },

    retryUpload(messageId) {
      change(messageId, { failure: null, isWaiting: false });
      background(() => run(messageId));
    },

    async pauseUpload(messageId) {
      pauseHere(messageId);
      await pending.setPaused(messageId, true);
      // It was faster.
      if (!shown.has(messageId)) await pending.setPaused(messageId, false);
    },

    async resumeUpload(messageId) {
      change(messageId, { isPaused: false });
      await pending.setPaused(messageId, false);
      // It is brought when it is sealed.
      if (!sealingNow.has(messageId)) background(() => run(messageId));
    },

    discardUpload: discard,

    async resume() {
      background(() => whileUploading(() => carrier.endLost()));
      const messages = await pending.all();
      for (const message of messages) {
        if (shown.has(message.messageId) || message.unsealed !== undefined) continue;
        show(viewOf(message, message.files));
        const { files, messageId } = message;
        const done = files.filter(({ isUploaded }) => isUploaded).length / files.length;
        const isPaused = await pending.isPaused(messageId);
        change(messageId, { progress: sealing + (1 - sealing) * done, isPaused });
        if (!isPaused) background(() => run(messageId));
      }
      await whileSealing(async () => {
        const left = await pending.all();
        for (const message of left) {
          if (message.unsealed === undefined || shown.has(message.messageId)) continue;
          await restoreInterrupted(options, message);
          await pending.forget(message.messageId);
        }
        const known = new Set(left.flatMap(({ files }) => files.map(({ fileId }) => fileId)));
        for (const fileId of await pieces.fileIds()) if (!known.has(fileId)) await forget(fileId);
      });
    },
  };
}
