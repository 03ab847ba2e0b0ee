import type { Timer } from '../../lib/clock.ts';
import { type ConversationKey, groupKeyOf } from '../../store/chats.ts';
import { draftsAtom } from '../../store/drafts.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, ended } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

/** The start of the name of a draft's local entry, before the key of its conversation. */
const entryPrefix = 'draft:';

type TextByKey = Readonly<Record<ConversationKey, string>>;

/** Lists the conversations with another draft after than before; none is as good as an empty one. */
export function changedDrafts(before: TextByKey, after: TextByKey): readonly ConversationKey[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => (before[key] ?? '') !== (after[key] ?? ''));
}

/** Keeps the drafts of this browser, sealed by the worker, so that a reload doesn't lose what was half written. */
export interface Drafts {
  /** Brings back what was kept, and keeps what changes from now on. Never rejects. */
  start(): Promise<void>;
  /** Takes over what another tab has written. */
  take(): Promise<void>;
  /** Keeps now what would be kept soon. @throws CryptoApiError `storage` */
  keep(): Promise<void>;
  /** The same for a page that may not come back. Never throws. */
  flush(): void;
  stop(): void;
}

export function createDrafts(
  { clock, crypto, sessionEvents, store }: Pick<SessionDeps, 'clock' | 'crypto' | 'sessionEvents' | 'store'>,
  background: Background,
  tellTabs: () => void,
): Drafts {
  let kept: TextByKey = {};
  let written: Promise<unknown> = Promise.resolve();
  let timer: Timer | null = null;
  let retry: Timer | null = null;
  let unsubscribe: () => void = () => undefined;

  async function keep(): Promise<void> {
    for (const one of [timer, retry]) one?.cancel();
    timer = retry = null;
    const before = kept;
    const drafts = store.get(draftsAtom);
    const changed = changedDrafts(before, drafts);
    kept = drafts;
    if (changed.length === 0) return;
    const writes = Promise.all(
      changed.map(async (key) => {
        try {
          await crypto.writeLocal(`${entryPrefix}${key}`, drafts[key] || null);
        } catch (error) {
          // The disk may have room later.
          kept = { ...kept, [key]: before[key] ?? '' };
          retry ??= clock.after(timings.draftRetry, flush);
          throw error;
        }
      }),
    );
    written = writes.catch(() => undefined);
    await writes;
    tellTabs();
  }

  function flush(): void {
    background(keep);
  }

  async function read(): Promise<TextByKey> {
    const entries = await crypto.localEntries(entryPrefix);
    return Object.fromEntries(entries.map(({ name, text }) => [name.slice(entryPrefix.length), text]));
  }

  async function restore(): Promise<void> {
    const found = await read();
    kept = { ...found, ...kept };
    // A draft that is being written right now is newer.
    store.set(draftsAtom, (drafts) => ({ ...found, ...drafts }));
  }

  sessionEvents.on('groupForgotten', ({ groupId }) =>
    store.set(draftsAtom, ({ [groupKeyOf(groupId)]: _forgotten, ...others }) => others),
  );

  return {
    async take() {
      const before = kept;
      await written;
      const found = await read();
      const drafts = store.get(draftsAtom);
      // One that is being written here is newer.
      const news = changedDrafts(before, found).filter((key) => (drafts[key] ?? '') === (before[key] ?? ''));
      if (news.length === 0) return;
      const taken = Object.fromEntries(news.map((key) => [key, found[key] ?? '']));
      kept = { ...kept, ...taken };
      sessionEvents.emit('draftsTaken', { drafts: taken });
      store.set(draftsAtom, (all) => ({ ...all, ...taken }));
    },
    keep,
    flush,

    async start() {
      unsubscribe = store.sub(draftsAtom, () => {
        timer ??= clock.after(timings.draftKeeping, flush);
      });
      await ended(background, restore);
    },

    stop() {
      unsubscribe();
      flush();
    },
  };
}
