import { useLayoutEffect, useRef, useState } from 'react';
import type { ChatMessage } from './message.ts';

/** Pixels from an edge that still count as being there. */
const bottomReach = 80;
const topReach = 160;

interface ChatScrollInput {
  messages: readonly ChatMessage[];
  ownId: string | undefined;
  /** Called while the reader is near the oldest message shown. */
  onNearTop: () => void;
}

/**
 * Keeps a chat at its newest message, unless the reader has scrolled up: then the place stays, `unseenBelow` tells that
 * something came, and older messages that are put above don't move what is read.
 */
export function useChatScroll({ messages, ownId, onNearTop }: ChatScrollInput) {
  const scroller = useRef<HTMLElement>(null);
  const atBottom = useRef(true);
  const before = useRef<{ height: number; first: string | undefined; last: string | undefined }>({
    height: 0,
    first: undefined,
    last: undefined,
  });
  const [unseenBelow, setUnseenBelow] = useState(false);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const newest = messages.at(-1);
    const first = messages[0]?.messageId;
    const previous = before.current;
    before.current = { height: element.scrollHeight, first, last: newest?.messageId };

    const arrived = newest?.messageId !== previous.last;
    if (atBottom.current || (arrived && newest?.senderId === ownId)) {
      element.scrollTop = element.scrollHeight;
      atBottom.current = true;
      setUnseenBelow(false);
      return;
    }
    if (first !== previous.first) element.scrollTop += element.scrollHeight - previous.height;
    if (arrived) setUnseenBelow(true);
  }, [messages, ownId]);

  // The window, the on-screen keyboard or a growing input change what fits.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (atBottom.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return {
    scroller,
    unseenBelow,
    onScroll: () => {
      const element = scroller.current;
      if (element === null) return;
      atBottom.current = element.scrollHeight - element.scrollTop - element.clientHeight <= bottomReach;
      if (atBottom.current) setUnseenBelow(false);
      if (element.scrollTop <= topReach && element.scrollHeight > element.clientHeight) onNearTop();
    },
    toBottom: () => {
      const element = scroller.current;
      if (element === null) return;
      element.scrollTop = element.scrollHeight;
      atBottom.current = true;
      setUnseenBelow(false);
    },
  };
}
