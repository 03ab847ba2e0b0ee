import { useAtom, useStore } from 'jotai';
import { useEffect } from 'react';
import { t } from '../../i18n/i18n.ts';
import { announcementAtom } from '../../store/announcement.ts';
import { type Arrival, createArrivals } from '../../store/arrivals.ts';
import { activeConversationAtom, chatsAtom, groupIdOfKey } from '../../store/chats.ts';
import { groupsAtom } from '../../store/groups.ts';
import { isQuietAtom, mentionsMeAtom, ownOrOtherNameAtom } from '../../store/mentions.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { contentPreview } from '../conversation/preview.ts';

/** Tells a screen reader about each message that arrives, whichever tab or conversation is open. */
export function MessageAnnouncer() {
  const store = useStore();
  const [announcement, setAnnouncement] = useAtom(announcementAtom);

  useEffect(() => {
    const arrivalsIn = createArrivals(Date.now());
    let announced: Arrival | null = null;
    const arrivals = () => arrivalsIn(store.get(chatsAtom), store.get(currentUserAtom)?.id);

    async function wording({ key, message }: Arrival): Promise<string> {
      const name = store.get(nameOfAtom)(message.senderId);
      const text = contentPreview(message.content, { nameOf: store.get(ownOrOtherNameAtom) });
      const groupId = groupIdOfKey(key);
      if (groupId === null) return t('messages.announcement', { name, text });
      const group = store.get(groupsAtom).items.find(({ id }) => id === groupId);
      const isForMe = await store.get(mentionsMeAtom)(message.content);
      return t(isForMe ? 'messages.mentionAnnouncement' : 'messages.groupAnnouncement', {
        name,
        group: group?.name ?? t('messages.unnamedGroup'),
        text,
      });
    }

    async function announce(arrival: Arrival): Promise<void> {
      const { key, message } = arrival;
      const isOpen = key === store.get(activeConversationAtom);
      if (!isOpen && (await store.get(isQuietAtom)(key, message.content))) return;
      setAnnouncement(await wording(arrival));
      announced = arrival;
    }

    /** Its sentence would be there until the next one, for whoever reads the page with a screen reader. */
    function withdrawDeleted(): void {
      if (announced === null) return;
      const { key, message } = announced;
      const chats = store.get(chatsAtom);
      const now = chats[key]?.messages.find(({ messageId }) => messageId === message.messageId);
      if (now?.content.kind !== 'deleted') return;
      announced = null;
      setAnnouncement('');
    }

    arrivals();
    return store.sub(chatsAtom, () => {
      withdrawDeleted();
      for (const arrival of arrivals()) void announce(arrival);
    });
  }, [setAnnouncement, store]);

  return <VisuallyHidden as="output">{announcement}</VisuallyHidden>;
}
