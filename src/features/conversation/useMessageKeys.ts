import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react';
import type { MessageView } from '../../store/chats.ts';

interface MessageKeysInput {
  messages: readonly MessageView[];
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>;
  scroller: RefObject<HTMLElement | null>;
  /** Id of the message that was last reached. */
  active: string | null;
  onActive: (messageId: string) => void;
  /** A key was pressed on a message. Returns whether that message allows it. */
  onAction: (action: MessageAction, message: MessageView, row: Element) => boolean;
}

/** Done by a key with the message that has the focus. */
export type MessageAction = 'reply' | 'edit' | 'delete' | 'react';

const actionKeys: Readonly<Record<string, MessageAction>> = {
  r: 'reply',
  e: 'edit',
  Delete: 'delete',
  // The key for it on a Mac.
  Backspace: 'delete',
  '+': 'react',
  ':': 'react',
};

/**
 * Moves the focus between messages by Up, Down, Home and End, from the newest; Tab goes into the focused one, and letters
 * reply to it, edit it, delete it and react.
 */
export function useMessageKeys(input: MessageKeysInput) {
  const { messages, virtualizer, scroller, active, onActive } = input;
  const wanted = useRef<number | null>(null);

  function rowAt(row: number): HTMLElement | null {
    return scroller.current?.querySelector<HTMLElement>(`li[data-index="${row}"]`) ?? null;
  }

  function focusWanted() {
    const element = wanted.current === null ? null : rowAt(wanted.current);
    if (element === null) return;
    wanted.current = null;
    element.focus({ preventScroll: true });
  }
  useLayoutEffect(focusWanted);

  function focus(row: number, align: 'auto' | 'center' = 'auto') {
    const message = messages[row - 1];
    if (message === undefined) return;
    wanted.current = row;
    onActive(message.messageId);
    virtualizer.scrollToIndex(row, { align });
    focusWanted();
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const { target, currentTarget } = event;
    const modified = event.ctrlKey || event.altKey || event.metaKey;
    if (modified || !(target instanceof Element) || !currentTarget.contains(target)) return;
    const element = target.closest('[data-index]');
    const row = Number(element?.getAttribute('data-index') ?? messages.length + 1);
    const message = messages[row - 1];
    // Some keyboards write these signs with Shift.
    const action = actionKeys[event.key];
    if (action !== undefined && element !== null && message !== undefined) {
      if (input.onAction(action, message, element)) event.preventDefault();
      return;
    }
    if (event.shiftKey) return;
    const to = destination(event.key, row, messages.length);
    if (to === null) return;
    event.preventDefault();
    focus(to);
  }

  /** The button of the message that was last reached, else the scrolling element. */
  function activeButton(): HTMLElement | null {
    const row = messages.findLastIndex(({ messageId }) => messageId === active) + 1;
    return rowAt(row)?.querySelector<HTMLElement>('[aria-haspopup="menu"]') ?? scroller.current;
  }

  return { onKeyDown, activeButton, focus };
}

function destination(key: string, row: number, last: number): number | null {
  if (last === 0) return null;
  if (key === 'ArrowUp') return Math.max(row - 1, 1);
  if (key === 'ArrowDown') return Math.min(row + 1, last);
  if (key === 'Home') return 1;
  return key === 'End' ? last : null;
}
