import type { Timer } from '../../lib/clock.ts';
import { type ConversationKey, groupKeyOf } from '../../store/chats.ts';
import { draftsAtom } from '../../store/drafts.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, ended } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

/** The start of the name of a draft's local entry, before the key of its conversation. */
const entryPrefix = 'draft:';

/** Keeps the drafts of this browser, sealed by the worker, so that a reload doesn't lose what was half written. */
export interface Drafts {
  /** Brings back what was kept, and keeps what changes from now on. Never rejects. */
  start(): Promise<void>;
  /** Keeps now what would be kept soon: the page may not come back. */
  flush(): void;
  stop(): void;
}

export function createDrafts(
  { clock, crypto, sessionEvents, store }: Pick<SessionDeps, 'clock' | 'crypto' | 'sessionEvents' | 'store'>,
  background: Background,
): Drafts {
  let kept: Readonly<Record<ConversationKey, string>> = {};
  let timer: Timer | null = null;
  let unsubscribe: () => void = () => undefined;

  function flush(): void {
    timer?.cancel();
    timer = null;
    const drafts = store.get(draftsAtom);
    for (const key of new Set([...Object.keys(kept), ...Object.keys(drafts)])) {
      const text = drafts[key] ?? '';
      if (text === (kept[key] ?? '')) continue;
      background(() => crypto.writeLocal(`${entryPrefix}${key}`, text === '' ? null : text));
    }
    kept = drafts;
  }

  async function restore(): Promise<void> {
    const entries = await crypto.localEntries(entryPrefix);
    const found = Object.fromEntries(entries.map(({ name, text }) => [name.slice(entryPrefix.length), text]));
    kept = { ...found, ...kept };
    // A draft that is being written right now is newer.
    store.set(draftsAtom, (drafts) => ({ ...found, ...drafts }));
  }

  sessionEvents.on('groupForgotten', ({ groupId }) =>
    store.set(draftsAtom, ({ [groupKeyOf(groupId)]: _forgotten, ...others }) => others),
  );

  return {
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
