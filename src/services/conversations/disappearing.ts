import type { MessageView } from '../../crypto/client.ts';
import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { announcementAtom } from '../../store/announcement.ts';
import { chatsAtom } from '../../store/chats.ts';
import { composeAtom, composingAtom } from '../../store/composing.ts';
import { forgetInGalleryAtom, galleryMessagesAtom } from '../../store/gallery.ts';
import { forgetStarAtom, starsAtom } from '../../store/stars.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import type { Chats } from './chats.ts';

/** Takes messages off the screen, and has the worker erase them, when their time is over. */
export interface Disappearing {
  /** Erases what was over while this browser was closed. */
  start(): void;
  stop(): void;
}

/** All that is to be known of a message on screen. */
type Shown = Pick<MessageView, 'conversationId' | 'messageId' | 'timer'>;

export interface DisappearingOptions {
  readonly deps: SessionDeps;
  readonly chats: Pick<Chats, 'removeMessage' | 'setStates'>;
  readonly background: Background;
}

export function createDisappearing({ background, chats, deps }: DisappearingOptions): Disappearing {
  const { clock, crypto, sessionEvents, store } = deps;
  let timer: Timer | null = null;
  let isStopped = false;

  /** Messages that anything on screen shows: in a chat, above it where it is pinned, as the last one in the list, in answers, above an input, among the stars, or in a gallery. */
  function shownOnes(): readonly Shown[] {
    const all = Object.values(store.get(chatsAtom)).flatMap(({ messages, state }): Shown[] => [
      ...messages,
      ...messages.flatMap(({ conversationId, quote }) =>
        quote?.message ? { conversationId, ...quote.message } : [],
      ),
      ...(state?.lastMessage ? [state.lastMessage] : []),
      ...(state?.pinned ?? []),
    ]);
    for (const { edit, replyTo } of Object.values(store.get(composingAtom)))
      all.push(...(edit ? [edit.message] : []), ...(replyTo ? [replyTo] : []));
    all.push(
      ...(store.get(starsAtom) ?? []).map(({ message }) => message),
      ...store.get(galleryMessagesAtom),
    );
    return all.filter(({ timer }) => timer !== undefined);
  }

  function forget(messageId: string): void {
    chats.removeMessage(messageId, 'disappeared');
    store.set(forgetStarAtom, messageId);
    store.set(forgetInGalleryAtom, messageId);
    for (const [key, { edit, replyTo }] of Object.entries(store.get(composingAtom))) {
      if (replyTo?.messageId === messageId) store.set(composeAtom, key, () => ({ replyTo: null }));
      if (edit?.message.messageId === messageId) store.set(composeAtom, key, () => ({ edit: null }));
    }
  }

  const sweep = coalesce(async () => {
    const shown = shownOnes();
    const ids = new Set(shown.map(({ messageId }) => messageId));
    const { gone, nextIn } = await crypto.expireMessages([...ids]);
    for (const messageId of gone) forget(messageId);
    // It may be the last one that a screen reader was told.
    if (gone.length > 0) store.set(announcementAtom, '');
    const isGone = ({ messageId }: Shown) => gone.includes(messageId);
    const changed = new Set(shown.filter(isGone).map(({ conversationId }) => conversationId));
    if (changed.size > 0)
      chats.setStates(await Promise.all([...changed].map((id) => crypto.conversation(id))));
    timer?.cancel();
    timer = null;
    if (isStopped) return;
    // Another tab may have begun to read what this one shows.
    const soonest = ids.size > gone.length ? timings.disappearingCheck : timings.disappearingRest;
    const wait = Math.min(nextIn ?? soonest, soonest);
    if (nextIn !== null || ids.size > gone.length) timer = clock.after(wait, () => background(sweep));
  });

  sessionEvents.on('clocksStarted', () => background(sweep));

  return {
    start: () => background(sweep),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
