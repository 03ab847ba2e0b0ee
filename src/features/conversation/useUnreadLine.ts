import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { MessageView } from '../../store/chats.ts';

interface UnreadLineInput {
  messages: readonly MessageView[];
  ownId: string | undefined;
  /** Position of the last read message; undefined while it isn't known. */
  readSeq: number | undefined;
  /** Number of messages of others after `readSeq`. */
  unread: number;
  loading: boolean;
  hasOlder: boolean;
  /** True while the newest message is in sight. */
  atEnd: boolean;
  /** Returns whether the line right above a message is in sight. */
  isInSight: (index: number) => boolean;
}

/**
 * Index of the first message that was unread when the conversation was opened, or when the person came back to its
 * page; null if there was none. A message that arrives while the person watches is not unread: it takes away a line
 * that has been seen, and so does writing.
 */
export function useUnreadLine(input: UnreadLineInput): number | null {
  const { messages, ownId, readSeq, loading } = input;
  /** Position of the last message read before the line; null when all was read. */
  const [stop, setStop] = useState(input.unread > 0 ? (readSeq ?? null) : null);
  /** The value of `stop` whose line has been in sight. */
  const seen = useRef<number | null>(null);
  const first = stop === null ? null : firstUnread(messages, stop, ownId);
  // With older ones to come, the first unread message may be among them.
  const line = first === 0 && input.hasOlder ? null : first;

  const look = useEffectEvent(() => {
    if (line !== null && !document.hidden && input.isInSight(line)) seen.current = stop;
  });

  const newest = messages.at(-1);
  const known = useRef(newest?.messageId);
  const follow = useEffectEvent(() => {
    const hasCome = newest?.messageId !== known.current && known.current !== undefined && !loading;
    known.current = newest?.messageId;
    if (!hasCome) return;
    const watched = input.atEnd && !document.hidden && seen.current === stop;
    if (watched || newest?.senderId === ownId) setStop(null);
  });
  useEffect(() => {
    follow();
    look();
  });

  const left = useRef(0);
  const onVisibility = useEffectEvent(() => {
    if (document.hidden) {
      left.current = newestSeq(messages);
      return;
    }
    // Another tab, or another device, may have shown it meanwhile.
    const since = Math.max(left.current, readSeq ?? 0);
    const isUnseen = first !== null && seen.current !== stop;
    if (!isUnseen && firstUnread(messages, since, ownId) !== null) setStop(since);
    else look();
  });
  useEffect(() => {
    const listener = () => onVisibility();
    document.addEventListener('visibilitychange', listener);
    return () => document.removeEventListener('visibilitychange', listener);
  }, []);

  return line;
}

function firstUnread(
  messages: readonly MessageView[],
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

function newestSeq(messages: readonly MessageView[]): number {
  return messages.findLast(({ seq }) => seq !== null)?.seq ?? 0;
}
