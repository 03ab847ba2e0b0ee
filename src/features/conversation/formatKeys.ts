import type { KeyboardEvent } from 'react';

/** The marks that keys set around what is selected, by key; with Shift those of capital letters. */
const marks: Readonly<Record<string, string>> = { b: '**', i: '_', X: '~~', M: '`' };

/**
 * Sets marks around the selection of an input, or takes away those that are there: Control (on a Mac also Command) with B, I, and
 * with Shift X and M. @returns whether the key was one of these
 */
export function formatByKey({ altKey, ctrlKey, currentTarget, key, metaKey, shiftKey }: FormatKey): boolean {
  const mark = marks[shiftKey ? key.toUpperCase() : key.toLowerCase()];
  if (altKey || ctrlKey === metaKey || mark === undefined) return false;
  const { selectionEnd: end, selectionStart: start, value } = currentTarget;
  const { length } = mark;
  const isMarked = value.slice(start - length, start) === mark && value.slice(end, end + length) === mark;
  const [from, to] = isMarked ? [start - length, end + length] : [start, end];
  const selected = value.slice(start, end);
  currentTarget.setRangeText(isMarked ? selected : mark + selected + mark, Math.max(from, 0), to);
  const at = isMarked ? from : start + length;
  currentTarget.setSelectionRange(at, at + selected.length);
  currentTarget.dispatchEvent(new Event('input', { bubbles: true }));
  return true;
}

type FormatKey = Pick<
  KeyboardEvent<HTMLTextAreaElement>,
  'altKey' | 'ctrlKey' | 'currentTarget' | 'key' | 'metaKey' | 'shiftKey'
>;
