import { useAtomValue } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { displayName, unknownPersonName } from '../../lib/people.ts';
import { chatsAtom } from '../../store/chats.ts';
import { contactsAtom } from '../../store/contacts.ts';
import { currentUserAtom } from '../../store/session.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { contentPreview } from './preview.ts';
import { messageTexts } from './texts.ts';

/** Tells a screen reader about each message that arrives, whichever tab or chat is open. */
export function MessageAnnouncer() {
  const chats = useAtomValue(chatsAtom);
  const contacts = useAtomValue(contactsAtom).items;
  const ownId = useAtomValue(currentUserAtom)?.id;
  const heard = useRef(new Map<string, number>());
  const [announcement, setAnnouncement] = useState('');

  useEffect(() => {
    for (const [userId, { state }] of Object.entries(chats)) {
      const message = state?.lastMessage;
      if (!message || message.seq === null) continue;
      const heardSeq = heard.current.get(userId);
      heard.current.set(userId, message.seq);
      // What was there when the chat was first seen is history, not news.
      if (heardSeq === undefined || message.seq <= heardSeq || message.senderId === ownId) continue;
      const contact = contacts.find(({ id }) => id === userId);
      const name = contact ? displayName(contact) : unknownPersonName;
      setAnnouncement(messageTexts.announcement(name, contentPreview(message.content)));
    }
  }, [chats, contacts, ownId]);

  return <VisuallyHidden as="output">{announcement}</VisuallyHidden>;
}
