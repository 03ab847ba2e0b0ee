import { useSetAtom } from 'jotai';
import { useEffect, useEffectEvent, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { announcementAtom } from '../../store/announcement.ts';
import type { MessageView } from '../../store/chats.ts';

/** Messages from the newest in which reactions are noticed: somebody who reacts to an older one is seldom waited for. */
const watched = 200;

/** Tells a screen reader of each reaction of somebody else to an own message of the open conversation. */
export function useReactionNews(
  messages: readonly MessageView[],
  ownId: string | undefined,
  nameOf: (userId: string) => string,
): void {
  const announce = useSetAtom(announcementAtom);
  const before = useRef<ReadonlyMap<string, MessageView>>(new Map());
  const compare = useEffectEvent((now: readonly MessageView[]) => {
    const own = now.slice(-watched).filter(({ senderId }) => senderId === ownId);
    for (const message of own) {
      const known = before.current.get(message.messageId);
      // A message that has just been loaded was reacted to before.
      if (known === undefined || known === message) continue;
      for (const { emoji, userIds } of message.reactions ?? []) {
        const given = known.reactions?.find((reaction) => reaction.emoji === emoji)?.userIds ?? [];
        const fresh = userIds.findLast((userId) => userId !== ownId && !given.includes(userId));
        if (fresh !== undefined) announce(t('chat.reacted', { name: nameOf(fresh), emoji }));
      }
    }
    before.current = new Map(own.map((message) => [message.messageId, message]));
  });
  useEffect(() => compare(messages), [messages]);
}
