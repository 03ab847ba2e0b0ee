import type { KeyboardEvent } from 'react';
import { writeInto } from './writeInto.ts';

/** The marks that keys set around what is selected, by key; with Shift those of capital letters. */
const marks: Readonly<Record<string, string>> = { b: '**', i: '_', X: '~~', M: '`' };

/**
 * Sets marks around the selection of an input, or takes away those that are there: Control (on a Mac also Command) with B, I, and
 * with Shift X and M. @returns whether the key was one of these
 */
export function formatByKey(
  { altKey, ctrlKey, currentTarget, key, metaKey, shiftKey }: FormatKey,
  onTextChange: (text: string) => void,
): boolean {
  const mark = marks[shiftKey ? key.toUpperCase() : key.toLowerCase()];
  if (altKey || ctrlKey === metaKey || mark === undefined) return false;
  const { selectionEnd: end, selectionStart: start, value } = currentTarget;
  const { length } = mark;
  const [before, selected, after] = [value.slice(0, start), value.slice(start, end), value.slice(end)];
  const isMarked = before.endsWith(mark) && after.startsWith(mark);
  const text = isMarked
    ? before.slice(0, -length) + selected + after.slice(length)
    : before + mark + selected + mark + after;
  const at = isMarked ? start - length : start + length;
  writeInto(currentTarget, onTextChange, { text, start: at, end: at + selected.length });
  return true;
}

type FormatKey = Pick<
  KeyboardEvent<HTMLTextAreaElement>,
  'altKey' | 'ctrlKey' | 'currentTarget' | 'key' | 'metaKey' | 'shiftKey'
>;
