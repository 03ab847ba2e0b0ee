import { flushSync } from 'react-dom';

/** Gives an input another text, and selects a part of it once it is there. */
export function writeInto(
  input: HTMLTextAreaElement,
  onTextChange: (text: string) => void,
  { end, start, text }: { readonly text: string; readonly start: number; readonly end: number },
): void {
  flushSync(() => onTextChange(text));
  input.setSelectionRange(start, end);
}
