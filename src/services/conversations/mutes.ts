import type { Timer } from '../../lib/clock.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { type Mute, mutesAtom } from '../../store/mutes.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { oncePerSession } from '../core/oncePerSession.ts';
import { timings } from '../core/timings.ts';

/** The conversations that make no noise for a while, on all of the person's devices (PROTOCOL section 2). */
export interface Mutes {
  /** Shows which are muted now, and has each end by itself. */
  refresh(): Promise<void>;
  set(key: ConversationKey, mute: Mute): Promise<void>;
}

export interface MutesOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly background: Background;
}

/** Returns what is muted in a session. */
export const mutesOf = oncePerSession(createMutes);

function createMutes({ background, deps, ownUserId }: MutesOptions): Mutes {
  const { clock, crypto, sessionEvents, store } = deps;
  let timer: Timer | null = null;

  async function refresh(): Promise<void> {
    const mutes = await crypto.mutes();
    timer?.cancel();
    const nextEnd = Math.min(...mutes.map(({ until }) => until - clock.now()));
    // Timers count no further than some weeks, and a machine may sleep.
    const rest = Math.min(Math.max(nextEnd, 0), timings.mutesCheck);
    timer = mutes.length === 0 ? null : clock.after(rest, () => background(refresh));
    const entries = mutes.flatMap(({ conversationId, mentions, until }) => {
      const key = keyOf(conversationId, ownUserId);
      return key === null ? [] : [[key, { mentions, until }] as const];
    });
    store.set(mutesAtom, () => Object.fromEntries(entries));
  }

  return {
    refresh,
    async set(key, mute) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      await crypto.setMute({ conversationId, ...mute });
      sessionEvents.emit('mutesChanged', { isHere: true });
      await refresh();
    },
  };
}
