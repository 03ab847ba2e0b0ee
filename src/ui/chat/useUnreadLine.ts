import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ChatMessage } from './message.ts';

interface UnreadLineInput {
  messages: readonly ChatMessage[];
  ownId: string | undefined;
  /** How far this person has read; undefined while it isn't known. */
  readSeq: number | undefined;
  loading: boolean;
}

/**
 * Index of the first message that was unread when the conversation was opened, or when the person came back to its
 * page; null if there was none. It stays while the conversation is open: what arrives in sight is not new in this sense.
 */
export function useUnreadLine({ messages, ownId, readSeq, loading }: UnreadLineInput): number | null {
  const [opened] = useState(readSeq);
  /** Position in the log where reading stopped; null until messages are there, infinite when all was read. */
  const [stop, setStop] = useState<number | null>(null);

  const unreadSince = (seq: number) => firstUnread(messages, seq, ownId);

  if (stop === null && !loading && messages.length > 0) {
    setStop(opened !== undefined && unreadSince(opened) !== null ? opened : Number.POSITIVE_INFINITY);
  }

  const left = useRef(0);
  const onVisibility = useEffectEvent(() => {
    if (document.hidden) left.current = newestSeq(messages);
    else if (unreadSince(left.current) !== null) setStop(left.current);
  });
  useEffect(() => {
    const listener = () => onVisibility();
    document.addEventListener('visibilitychange', listener);
    return () => document.removeEventListener('visibilitychange', listener);
  }, []);

  return stop === null ? null : unreadSince(stop);
}

function firstUnread(
  messages: readonly ChatMessage[],
  stop: number,
  ownId: string | undefined,
): number | null {
  let first: number | null = null;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    // Own messages that wait have no position.
    if (message === undefined || (message.seq !== null && message.seq <= stop)) break;
    if (message.seq !== null && message.senderId !== ownId) first = index;
  }
  return first;
}

function newestSeq(messages: readonly ChatMessage[]): number {
  return messages.findLast(({ seq }) => seq !== null)?.seq ?? 0;
}
