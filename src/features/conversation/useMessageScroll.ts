import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import type { MessageView, ReadingPlace } from '../../store/chats.ts';
import { foldLength } from './MessageText.tsx';

/** Pixels from the end that still count as being there. */
const endReach = 80;
/** Messages above the upper edge, below which older ones are asked for. */
const fewAbove = 15;
/** Milliseconds in which rows find their heights again after the window has changed. */
const settlingMs = 300;
/** Events by which the reader scrolls. */
const readersOwn = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
/** Messages drawn beyond either edge. */
const overscan = 8;

interface MessageScrollInput {
  messages: readonly MessageView[];
  ownId: string | undefined;
  /** The place to begin at; null for the newest message. */
  place: ReadingPlace | null;
  /** Called once, with null for a reader at the newest message. */
  onLeave: (place: ReadingPlace | null) => void;
  /** Key of a row that stays drawn wherever it is. */
  keep: string | null;
  /** Called while the reader is near the oldest message there is. */
  onNearTop: () => void;
}

/** The row above the messages. */
const headKey = 'head';

/**
 * Draws the rows of a conversation that are in sight, and keeps it at its newest message unless the reader has scrolled
 * up: then the place stays, `unseen` counts new messages, and older messages that are put above don't move the text.
 * Row 0 is the head above the messages; message i is row i + 1.
 */
export function useMessageScroll(input: MessageScrollInput) {
  const { messages, ownId, place, keep } = input;
  const scroller = useRef<HTMLElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const newest = messages.at(-1);
  /** The newest message when the end was left. */
  const [seen, setSeen] = useState(newest?.messageId);
  const keptRow = keep === null ? -1 : messages.findLastIndex(({ messageId }) => messageId === keep) + 1;

  // oxlint-disable-next-line react/incompatible-library -- what it returns goes to no memoized component
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: messages.length + 1,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback(
      (row: number) => (row === 0 ? headKey : (messages[row - 1]?.messageId ?? row)),
      [messages],
    ),
    estimateSize: (row) => estimatedHeight(messages[row - 1]),
    overscan,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endReach,
    initialOffset: () => messages.reduce((height, message) => height + estimatedHeight(message), 0),
    initialMeasurementsCache: measurements(place),
    rangeExtractor: (range) => {
      const rows = defaultRangeExtractor(range);
      return keptRow < 1 || rows.includes(keptRow) ? rows : [...rows, keptRow].sort((a, b) => a - b);
    },
  });

  // A row above changes its height when older messages come, because its day and author may move to those. The reader
  // must not notice, in either direction of scrolling.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = ({ key, start, end }, _delta, instance) => {
    const edge = instance.scrollOffset ?? 0;
    return instance.itemSizeCache.has(key) ? end <= edge : start < edge;
  };

  const begin = useEffectEvent(() => {
    const row = place === null ? 0 : messages.findIndex(({ messageId }) => messageId === place.messageId) + 1;
    const [top] = virtualizer.getOffsetForIndex(row, 'start') ?? [0];
    if (place !== null && row > 0) virtualizer.scrollToOffset(top + place.offset);
    else virtualizer.scrollToEnd();
  });
  const leave = useEffectEvent(() => {
    const edge = virtualizer.scrollOffset ?? 0;
    const top = atEnd ? undefined : virtualizer.getVirtualItemForOffset(edge);
    const messageId = top === undefined ? undefined : messages[Math.max(top.index, 1) - 1]?.messageId;
    input.onLeave(
      top === undefined || messageId === undefined
        ? null
        : { messageId, offset: edge - top.start, heights: virtualizer.itemSizeCache },
    );
  });
  useLayoutEffect(() => {
    begin();
    return () => leave();
  }, []);

  const latest = useRef(newest?.messageId);
  const followOwn = useEffectEvent(() => {
    if (newest?.messageId === latest.current) return;
    latest.current = newest?.messageId;
    if (newest?.senderId === ownId) virtualizer.scrollToEnd();
  });
  useLayoutEffect(() => followOwn(), [newest?.messageId]);

  /** Animation frame of the settling: until then the layout, not the reader, causes a distance from the end. */
  const settling = useRef<number | null>(null);
  const settle = useEffectEvent((until: number) => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = element.scrollHeight;
    settling.current = performance.now() < until ? requestAnimationFrame(() => settle(until)) : null;
  });
  const stopSettling = useCallback(() => {
    cancelAnimationFrame(settling.current ?? 0);
    settling.current = null;
  }, []);
  // The window, the on-screen keyboard or a growing input change what fits.
  const follow = useEffectEvent(() => {
    if (!atEnd) return;
    stopSettling();
    settle(performance.now() + settlingMs);
  });
  useEffect(() => {
    if (scroller.current === null) return undefined;
    // The first call is for the size it has already.
    let isFirst = true;
    const observer = new ResizeObserver(() => {
      if (isFirst) isFirst = false;
      else follow();
    });
    const element = scroller.current;
    observer.observe(element);
    // The reader's own scrolling wins.
    for (const type of readersOwn) element.addEventListener(type, stopSettling, { passive: true });
    return () => {
      observer.disconnect();
      for (const type of readersOwn) element.removeEventListener(type, stopSettling);
      stopSettling();
    };
  }, [stopSettling]);

  const lookAbove = useEffectEvent(() => {
    if (virtualizer.range !== null && virtualizer.range.startIndex < fewAbove) input.onNearTop();
  });
  useEffect(() => lookAbove());

  return {
    scroller,
    virtualizer,
    atEnd,
    /** Messages of others that came since the reader left the end. */
    unseen: atEnd ? 0 : receivedAfter(messages, seen, ownId),
    /** Returns whether the upper edge of a message's row is within the view. */
    isInSight: (index: number) => {
      const row = virtualizer.getVirtualItems().find((item) => item.index === index + 1);
      const element = scroller.current;
      if (row === undefined || element === null) return false;
      return row.start >= element.scrollTop && row.start < element.scrollTop + element.clientHeight;
    },
    onScroll: () => {
      const element = scroller.current;
      if (element === null) return;
      const end = element.scrollHeight - element.scrollTop - element.clientHeight <= endReach;
      if (settling.current !== null && !end) return;
      if (atEnd && !end) setSeen(newest?.messageId);
      setAtEnd(end);
    },
    toEnd: () => virtualizer.scrollToEnd(),
  };
}

/** Pixels: a first guess, which drawing the row corrects. */
function estimatedHeight(message: MessageView | undefined): number {
  if (message?.content.kind !== 'text') return 72;
  return 44 + 22 * Math.floor(Math.min(message.content.text.length, foldLength) / 56);
}

function measurements(place: ReadingPlace | null) {
  if (place === null) return [];
  return Array.from(place.heights, ([key, size]) => ({ key, size, index: 0, start: 0, end: size, lane: 0 }));
}

function receivedAfter(
  messages: readonly MessageView[],
  seen: string | undefined,
  ownId: string | undefined,
): number {
  const since = messages.slice(messages.findLastIndex(({ messageId }) => messageId === seen) + 1);
  return since.filter(({ senderId }) => senderId !== ownId).length;
}
