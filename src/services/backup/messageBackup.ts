import type { MessageView } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { limits } from '../../net/contract.ts';
import { isApiError } from '../../net/errors.ts';
import { catchUpAtom } from '../../store/connection.ts';
import { devicesAtom } from '../../store/devices.ts';
import { keysRenewedAtom } from '../../store/keys.ts';
import { backupKeptAtom } from '../../store/messageBackup.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Chats } from '../conversations/chats.ts';
import type { Confirmation } from '../core/confirmation.ts';
import { groupConversationId, keyOf, selfOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

/** Shared by all tabs of one person, because messages that one has copied the others need not. */
const lockName = 'sinetti:history';

/**
 * Copies of messages at the relay, sealed so that only this person's devices can read them: each device leaves those of
 * what it can read, and a new one begins by reading them (PROTOCOL section 5).
 */
export interface MessageBackup {
  /** Tells whether copies are kept, as far as this browser knows. */
  start(): void;
  /** Reads what other devices have left since the last time, then leaves what has no copy yet. */
  sync(): Promise<void>;
  /** Switches it for all devices of the person; off, it deletes the copies, for which it asks for the password. */
  setKept(kept: boolean): Promise<void>;
  stop(): void;
}

export interface MessageBackupOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Pick<Chats, 'get' | 'addMessages' | 'setStates'>;
  readonly confirmation: Pick<Confirmation, 'confirmWithPassword'>;
  /** Asks the relay whether another device has renewed the keys. */
  readonly isBehind: () => Promise<boolean>;
  readonly background: Background;
}

export function createMessageBackup({
  background,
  chats,
  confirmation,
  deps,
  isBehind,
  ownUserId,
}: MessageBackupOptions): MessageBackup {
  const { api, clock, crypto, locks, log, sessionEvents, store } = deps;
  const due = new Set<string>();
  let timer: Timer | null = null;
  let secondLook: Timer | null = null;
  /** The relay has no more room: another session may find some. */
  let isFull = false;

  function showKept(kept: boolean): void {
    if (store.get(backupKeptAtom) !== kept) store.set(backupKeptAtom, kept);
  }

  /** Uploads the person's choice, which only this device knows until then. */
  async function tellSetting(again = false): Promise<void> {
    const setting = store.get(keysRenewedAtom) ? null : await crypto.backupSetting(again);
    if (setting === null) return;
    if (!setting.kept) await api.deleteHistory({});
    await api.putHistory({ items: [setting.copy], ...(setting.kept && { on: true }) });
    await crypto.backupSettingStored(setting.kept);
  }

  /**
   * Replaces messages that are on screen as unreadable; the others are read from the worker when their chat is opened.
   * Notes are on screen only once they can be read.
   */
  async function show(restored: readonly MessageView[]): Promise<void> {
    const ids = [...new Set(restored.map(({ conversationId }) => conversationId))];
    for (const conversationId of ids) {
      const key = keyOf(conversationId, ownUserId);
      if (key === null) continue;
      const shown = new Set(chats.get(key).messages.map(({ messageId }) => messageId));
      chats.addMessages(
        conversationId,
        restored.filter(
          (message) =>
            message.conversationId === conversationId && (key === ownUserId || shown.has(message.messageId)),
        ),
      );
    }
    const known = ids.filter((id) => {
      const key = keyOf(id, ownUserId);
      return key !== null && chats.get(key).state !== null;
    });
    chats.setStates(await Promise.all(known.map((id) => crypto.conversation(id))));
    sessionEvents.emit('copiesShown', {});
  }

  /** @returns whether copies were left after the person had switched them off */
  async function download(): Promise<boolean> {
    let { position } = await crypto.backupState();
    const isFirst = position === 0;
    let done = 0;
    let isLate = false;
    try {
      for (;;) {
        const page = await api.getHistory({ after: position, limit: limits.historyPerPage });
        const last = page.at(-1);
        if (last === undefined) {
          if (isFirst) lookAgain();
          return isLate;
        }
        if (isFirst) store.set(catchUpAtom, { done, of: null });
        const copies = page.map(({ id, conversationId, sealed, position: at }) => ({
          id,
          conversationId,
          sealed,
          position: at,
        }));
        let read = await crypto.readBackup(copies, false, position);
        if (!read.isComplete && !(await isBehind())) read = await crypto.readBackup(copies, true, position);
        isLate = read.isLate;
        position = last.position;
        done += page.length;
        showKept(read.kept);
        await show(read.messages);
        if (!read.isComplete) return isLate;
      }
    } finally {
      if (isFirst) store.set(catchUpAtom, null);
    }
  }

  /** Looks a second time on a new device, since others leave a copy of a message only some seconds after it. */
  function lookAgain(): void {
    secondLook ??= clock.after(2 * timings.backupCopying, () => {
      if ((store.get(devicesAtom)?.length ?? 0) > 1) background(syncOnce);
    });
  }

  async function upload(conversationId: string): Promise<void> {
    for (;;) {
      // A copy that is sealed under former keys opens to a device that was revoked with them.
      const next =
        isFull || store.get(keysRenewedAtom) ? null : await crypto.nextBackupEntries(conversationId);
      if (next === null) return;
      const { copies, replaces, upTo } = next;
      let stored: { count: number; lastPosition: number } | null = null;
      if (copies.length > 0) {
        const signature = replaces === undefined ? {} : { replaces };
        const answer = await api.putHistory({ items: [...copies], ...signature });
        stored = { count: answer.stored, lastPosition: answer.lastPosition };
      }
      const replaced = replaces === undefined ? [] : copies.map(({ id }) => id);
      await crypto.backupEntriesStored({ conversationId, upTo, replaced, stored });
    }
  }

  async function uploadAll(conversationIds: Iterable<string>): Promise<void> {
    try {
      for (const conversationId of conversationIds) await upload(conversationId);
    } catch (error) {
      if (!isApiError(error, 'quota')) throw error;
      isFull = true;
      log.warn('backup-full', { code: error.code });
    }
  }

  const syncOnce = coalesce(() =>
    locks.request(lockName, async () => {
      await tellSetting();
      // A device that hadn't heard of the switch has left some after all.
      if (await download()) await tellSetting(true);
      await uploadAll(await crypto.conversationsToBackUp());
    }),
  );

  const uploadDue = coalesce(async () => {
    const ids = [...due];
    due.clear();
    await locks.request(lockName, () => uploadAll(ids));
  });

  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    // A star is no message, and a new browser has it by its copy alone.
    if (messages.length === 0 && selfOf(state.conversationId) === null) return;
    due.add(state.conversationId);
    // Together with what comes soon after.
    timer ??= clock.after(timings.backupCopying, () => {
      timer = null;
      background(uploadDue);
    });
  });

  sessionEvents.on('keysTakenOver', () => background(syncOnce));

  sessionEvents.on('groupGivenUp', ({ groupId }) => {
    const conversationId = groupConversationId(groupId);
    due.delete(conversationId);
    background(() => api.deleteHistory({ conversationId }));
  });

  return {
    start: () => background(async () => showKept((await crypto.backupState()).kept)),

    sync: syncOnce,

    async setKept(kept) {
      if (!kept) {
        const target = store.get(currentUserAtom)?.username ?? '';
        await api.deleteHistory(
          {},
          confirmation.confirmWithPassword({ kind: 'delete-message-backup', target, id: null }),
        );
      }
      await crypto.setBackupKept(kept);
      showKept(kept);
      background(syncOnce);
    },

    stop() {
      timer?.cancel();
      timer = null;
      secondLook?.cancel();
    },
  };
}
