import type { useStore } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { followOpenedChats, showDesktopNotification } from '../../lib/desktopNotifications.ts';
import { claimAmongTabs } from '../../lib/tabClaim.ts';
import { type Arrival, createArrivals } from '../../store/arrivals.ts';
import {
  activeConversationAtom,
  type ConversationKey,
  chatsAtom,
  groupIdOfKey,
  type MessageView,
} from '../../store/chats.ts';
import { groupsAtom } from '../../store/groups.ts';
import { isQuietAtom, mentionsMeAtom, ownOrOtherNameAtom } from '../../store/mentions.ts';
import { nameOfAtom } from '../../store/names.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { currentUserAtom } from '../../store/session.ts';
import { contentPreview } from '../conversation/preview.ts';
import { playChime } from './chime.ts';

type Store = ReturnType<typeof useStore>;

/**
 * Milliseconds that a tab waits before it claims a message: the one that shows it comes first and keeps the others
 * quiet, then one in sight.
 */
const waits = { reading: 0, visible: 150, hidden: 400 } as const;
const claimHold = 15_000;
/** Milliseconds between two sounds: many messages at once are one occasion. */
const soundPause = 2000;

/**
 * From now on sounds, and shows a desktop notification, for each message that the person isn't reading in any of their
 * tabs. @returns a function that ends it
 */
export function startAlerts(store: Store, onOpen: (key: ConversationKey) => void): () => void {
  const arrivalsIn = createArrivals(Date.now());
  /** The notification of each chat: its message, and how to take it away. */
  const shown = new Map<ConversationKey, { readonly message: MessageView; readonly close: () => void }>();
  let lastSound = Number.NEGATIVE_INFINITY;
  let ended = false;

  function isReading(key: ConversationKey): boolean {
    return document.visibilityState === 'visible' && key === store.get(activeConversationAtom);
  }

  /** Returns whether the person has read all of the chat, or a message was deleted: it is its newest one. */
  function isOver(key: ConversationKey, { messageId, seq }: MessageView): boolean {
    const { lastMessage = null, unread = 0 } = store.get(chatsAtom)[key]?.state ?? {};
    if (lastMessage === null || unread === 0) return true;
    if (lastMessage.messageId === messageId) return lastMessage.content.kind === 'deleted';
    // An older one is the newest, since it was deleted in this browser.
    return lastMessage.seq !== null && seq !== null && lastMessage.seq < seq;
  }

  async function alert(arrival: Arrival): Promise<void> {
    const { key, message } = arrival;
    if (await store.get(isQuietAtom)(key, message.content)) return;
    const reading = isReading(key);
    const wait = waits[reading ? 'reading' : document.visibilityState];
    await new Promise((resolve) => setTimeout(resolve, wait));
    const claimed = await claimAmongTabs(`sinetti-alert:${message.messageId}`, claimHold);
    // The person has read it meanwhile, here or in another browser, or its author has deleted it.
    if (ended || !claimed || reading || isReading(key) || isOver(key, message)) return;

    const { sound, desktopNotifications, showMessageText } = store.get(preferencesAtom);
    if (sound && Date.now() - lastSound >= soundPause) {
      lastSound = Date.now();
      playChime();
    }
    const ownerId = store.get(currentUserAtom)?.id;
    if (!desktopNotifications || document.hasFocus() || ownerId === undefined) return;
    const close = await showDesktopNotification({
      ...(await wording(arrival, showMessageText)),
      tag: `sinetti-${key}`,
      chat: { ownerId, key },
      onClick: () => onOpen(key),
    });
    if (close === null) return;
    if (ended || isOver(key, message)) close();
    else shown.set(key, { message, close });
  }

  async function wording(
    { key, message }: Arrival,
    withText: boolean,
  ): Promise<{ title: string; body: string }> {
    const name = store.get(nameOfAtom)(message.senderId);
    const body = withText ? contentPreview(message.content, { nameOf: store.get(ownOrOtherNameAtom) }) : '';
    const groupId = groupIdOfKey(key);
    if (groupId === null) return { title: withText ? name : t('attention.messageFrom', { name }), body };
    const known = store.get(groupsAtom).items.find(({ id }) => id === groupId);
    const group = known?.name ?? t('messages.unnamedGroup');
    if (await store.get(mentionsMeAtom)(message.content))
      return { title: t('attention.mentionedIn', { name, group }), body };
    return { title: t(withText ? 'attention.personInGroup' : 'attention.messageIn', { name, group }), body };
  }

  function closeWhere(isDue: (key: ConversationKey, message: MessageView) => boolean): void {
    for (const [key, { close, message }] of shown) {
      if (!isDue(key, message)) continue;
      close();
      shown.delete(key);
    }
  }

  function follow(): void {
    for (const arrival of arrivalsIn(store.get(chatsAtom), store.get(currentUserAtom)?.id))
      void alert(arrival);
    closeWhere(isOver);
  }

  follow();
  const unsubscribe = store.sub(chatsAtom, follow);
  const unfollow = followOpenedChats(({ ownerId, key }) => {
    if (ownerId === store.get(currentUserAtom)?.id) onOpen(key);
  });
  return () => {
    ended = true;
    unsubscribe();
    unfollow();
    // Signing out takes the names away.
    closeWhere(() => true);
  };
}
