import type { MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Blobs } from '../../net/blobs.ts';
import { type ConversationKey, chatsAtom } from '../../store/chats.ts';
import { type FileActions, type Upload, uploadsAtom } from '../../store/files.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { Chats } from '../conversations/chats.ts';
import type { Drafts } from '../conversations/drafts.ts';
import { type Outbox, sendQueued } from '../conversations/outbox.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';
import { createCarrier } from './carrying.ts';
import { restoreInterrupted } from './interrupted.ts';
import {
  createPendingMessages,
  type Original,
  type PendingFile,
  type PendingMessage,
  pendingView,
  type Unsealed,
} from './pendingMessages.ts';
import { createPersistence, mayServeLater } from './persistence.ts';
import type { PieceStore } from './pieceStore.ts';
import { openFile } from './reading.ts';
import { createSealing } from './sealing.ts';
import { chosenFile, type FileToSeal, filesOfMessage, isStillThere } from './sources.ts';

/** The share of an upload's progress that sealing is: of files that have to be fetched first, half of it. */
const sealingOf = ({ original }: Pick<PendingMessage, 'original'>) => (original === undefined ? 0.1 : 0.5);

export interface UploadsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Pick<Chats, 'addMessages' | 'get' | 'isLoaded' | 'removeMessage' | 'setState'>;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly drafts: Pick<Drafts, 'keep'>;
  readonly isActive: () => boolean;
  readonly background: Background;
  readonly blobs: Blobs;
  readonly pieces: PieceStore;
}

export interface Uploads
  extends Pick<
    FileActions,
    'discardUpload' | 'forward' | 'pauseUpload' | 'resumeUpload' | 'retryUpload' | 'send'
  > {
  /** Goes on with what was on its way as the page was left. */
  resume(): Promise<void>;
}

/**
 * Brings the files of messages to the relay, sealed, one after the other. Each file is sealed whole before any of it goes: from
 * then on a reload, or a network that is gone for days, costs nothing. The message goes when its last file is there. One
 * that is paused lets the next one go before it.
 */
export function createUploads(options: UploadsOptions): Uploads {
  const { background, blobs, chats, isActive, ownUserId, pieces } = options;
  const { clock, crypto, locks, newId, store } = options.deps;
  const pending = createPendingMessages(options.deps);
  const carrier = createCarrier({ blobs, pending, pieces });
  const { forget, sealAll } = createSealing({ crypto, pieces });
  const reading = { blobs, crypto };
  const persistently = createPersistence({
    deps: options.deps,
    isActive,
    onWaiting: (messageId) => change(messageId, { isWaiting: true }),
  });
  const viewOf = (message: Unsealed, files: readonly Pick<FileToSeal, 'facts' | 'size'>[]) =>
    pendingView(message, files, ownUserId);
  /** Views that stand for the messages until they are queued. */
  const shown = new Map<string, MessageView>();
  const stops = new Map<string, AbortController>();
  /** Stop the message that is being brought, for now: it goes on from where it is. */
  const pauses = new Map<string, AbortController>();
  const sealingNow = new Set<string>();
  /** Messages whose files this page has yet to seal, or could not: it has them still. `isBegun` once the message was kept. */
  const chosen = new Map<string, { message: Unsealed; files: readonly FileToSeal[]; isBegun: boolean }>();

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
    chosen.delete(messageId);
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

  async function bring(given: PendingMessage, stop: AbortSignal, signal: AbortSignal): Promise<void> {
    let message = given;
    const { conversationId, inReplyTo, isMarkdown, messageId, original, sentAt, text } = message;
    const sealing = sealingOf(message);
    const total = message.files.reduce((sum, { sealedSize }) => sum + sealedSize, 0);
    const done = () =>
      message.files.reduce((sum, { isUploaded, sealedSize }) => sum + (isUploaded ? sealedSize : 0), 0);
    const keepOf = (fileId: string) => async (changed: Partial<PendingFile>) => {
      const files = message.files.map((file) => (file.fileId === fileId ? { ...file, ...changed } : file));
      message = { ...message, files };
      stop.throwIfAborted(); // An answer of the relay may come after it was given up.
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
      ...(isMarkdown === undefined ? {} : { isMarkdown }),
      isForwarded: original !== undefined,
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
    const stop = stopOf(messageId);
    const signal = AbortSignal.any([stop, pause.signal]);
    await whileUploading(() =>
      tellFailure(messageId, signal, async () => {
        signal.throwIfAborted();
        const message = await pending.find(messageId);
        // Another tab has brought it, or given it up.
        if (message === undefined) return hide(messageId);
        if (await pending.isPaused(messageId)) return pauseHere(messageId);
        if (message.unsealed !== undefined) throw new AppError('storage-erased', t('files.uploadLost'));
        await bring(message, stop, signal);
      }),
    );
  }

  /** Another tab must not take the pieces for left ones while they are made. */
  const whileSealing = (task: () => Promise<void>) => locks.request(`sealing:${ownUserId}`, task);

  /**
   * Seals the files of a message, and brings them then.
   * @param isBegun it was kept before: another tab may have sealed them since, or given them up
   */
  async function sealThenRun(
    message: Unsealed,
    files: readonly FileToSeal[],
    isBegun: boolean,
  ): Promise<void> {
    const { messageId } = message;
    const signal = stopOf(messageId);
    const share = sealingOf(message);
    chosen.set(messageId, { message, files, isBegun });
    const step = (task: () => Promise<void>) => {
      signal.throwIfAborted();
      let hasWaited = false;
      return persistently(messageId, signal, async () => {
        if (hasWaited) await endWithOriginal(message);
        hasWaited = true;
        signal.throwIfAborted();
        await task();
      });
    };
    let isSealed = false;
    sealingNow.add(messageId);
    await tellFailure(messageId, signal, () =>
      whileSealing(async () => {
        await endWithOriginal(message);
        signal.throwIfAborted();
        const kept = isBegun ? await pending.find(messageId) : undefined;
        if (!isBegun || kept?.unsealed !== undefined) {
          await pending.keep({ ...message, files: [], unsealed: files.length });
          chosen.set(messageId, { message, files, isBegun: true });
          const sealed = await sealAll(files, step, (done) =>
            change(messageId, { progress: share * done, isWaiting: false }),
          );
          signal.throwIfAborted();
          await pending.keep({ ...message, files: sealed });
        }
        isSealed = true;
        chosen.delete(messageId);
      }),
    );
    sealingNow.delete(messageId);
    if (isSealed) await run(messageId);
  }

  /** Goes on with a message from where it was left: files that this page has, or that are passed on, can be had once more. */
  async function goOn(messageId: string): Promise<void> {
    const here = chosen.get(messageId);
    if (here !== undefined) return sealThenRun(here.message, here.files, here.isBegun);
    const message = await pending.find(messageId);
    if (message?.original === undefined || message.unsealed === undefined) return run(messageId);
    const { files: _none, unsealed: _count, ...unsealed } = message;
    await sealThenRun(unsealed, originalFiles(message.original), true);
  }

  const originalFiles = ({ files, ...message }: Original) => filesOfMessage(reading, message, files);

  /** Gives up a message whose original was deleted before all of it was here, and with it caption, names and previews. */
  async function endWithOriginal({ messageId, original }: Unsealed): Promise<void> {
    if (original === undefined || (await isStillThere(crypto, original))) return;
    await discard(messageId);
    store.set(showToastAtom, 'info', t('files.originalGone'));
  }

  /** Shows a message, and begins to seal its files. */
  function begin(message: Unsealed, files: readonly FileToSeal[]): void {
    show(viewOf(message, files));
    background(() => sealThenRun(message, files, false));
  }

  async function discard(messageId: string): Promise<void> {
    stops.get(messageId)?.abort();
    const message = await pending.find(messageId);
    await pending.forget(messageId);
    hide(messageId);
    chats.removeMessage(messageId);
    for (const { blobId, fileId } of message?.files ?? []) {
      await forget(fileId);
      // The relay deletes by itself what nobody finishes.
      if (blobId !== null) background(() => blobs.remove(blobId));
    }
  }

  function newMessage(key: ConversationKey) {
    const conversationId = conversationOf(key, ownUserId);
    if (conversationId === null) throw new AppError('not-found', t('errors.sendNotFound'));
    return { conversationId, messageId: newId(), sentAt: timestamp(clock) };
  }

  return {
    async send(key, text, files, inReplyTo) {
      const answer = inReplyTo === undefined ? {} : { inReplyTo };
      begin({ ...newMessage(key), text: text.trim(), ...answer }, files.map(chosenFile));
    },

    async forward(key, { content, conversationId, messageId }, { isMarkdown = false, text }) {
      const message = newMessage(key);
      if (content.kind !== 'files') throw new AppError('usage', t('files.readFailed'));
      const { files } = content;
      for (const index of files.keys()) {
        try {
          await (await openFile(reading, { conversationId, messageId, index })).probe();
        } catch (error) {
          // Without a network it waits, as what is sent anew does.
          if (!mayServeLater(error)) throw error;
        }
      }
      const original = { conversationId, messageId, files };
      begin({ ...message, text, isMarkdown, original }, originalFiles(original));
    },

    retryUpload(messageId) {
      change(messageId, { failure: null, isWaiting: false });
      background(() => goOn(messageId));
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
      if (!sealingNow.has(messageId)) background(() => goOn(messageId));
    },

    discardUpload: discard,

    async resume() {
      background(() => whileUploading(() => carrier.endLost()));
      const messages = await pending.all();
      for (const message of messages) {
        const { messageId, original, unsealed } = message;
        if (shown.has(messageId) || (unsealed !== undefined && original === undefined)) continue;
        show(viewOf(message, original === undefined ? message.files : originalFiles(original)));
        if (unsealed !== undefined) await endWithOriginal(message);
        if (!shown.has(messageId)) continue;
        const share = sealingOf(message);
        const done = message.files.filter(({ isUploaded }) => isUploaded).length / message.files.length;
        const isPaused = await pending.isPaused(messageId);
        change(messageId, { progress: unsealed === undefined ? share + (1 - share) * done : 0, isPaused });
        if (!isPaused) background(() => goOn(messageId));
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
