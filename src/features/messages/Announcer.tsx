import { useAtomValue } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { chatsAtom, groupIdOfKey } from '../../store/chats.ts';
import { groupsAtom } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import { contentPreview } from '../../ui/chat/preview.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { messageTexts } from './texts.ts';

/** Tells a screen reader about each message that arrives, whichever tab or conversation is open. */
export function MessageAnnouncer() {
  const chats = useAtomValue(chatsAtom);
  const groups = useAtomValue(groupsAtom).items;
  const nameOf = useAtomValue(nameOfAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const heard = useRef(new Map<string, number>());
  const [announcement, setAnnouncement] = useState('');

  useEffect(() => {
    for (const [key, { state }] of Object.entries(chats)) {
      const message = state?.lastMessage;
      if (!message || message.seq === null) continue;
      const heardSeq = heard.current.get(key);
      heard.current.set(key, message.seq);
      // What was there when the conversation was first seen is history, not news.
      if (heardSeq === undefined || message.seq <= heardSeq || message.senderId === ownId) continue;

      const text = contentPreview(message.content);
      const groupId = groupIdOfKey(key);
      const group = groups.find(({ id }) => id === groupId);
      const name = nameOf(message.senderId);
      setAnnouncement(
        groupId === null
          ? messageTexts.announcement(name, text)
          : messageTexts.groupAnnouncement(name, group?.name ?? messageTexts.unnamedGroup, text),
      );
    }
  }, [chats, groups, nameOf, ownId]);

  return <VisuallyHidden as="output">{announcement}</VisuallyHidden>;
}
