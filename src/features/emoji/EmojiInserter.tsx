import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { isBehindModal } from '../../ui/modal.ts';
import type { EmojiCategory } from './data.ts';
import { EmojiButton } from './EmojiButton.tsx';
import { preloadPicker } from './usePicker.ts';

/** Milliseconds before the picker is preloaded: the chat that was opened comes first. */
const preloadDelay = 1000;

interface EmojiInserterProps {
  input: RefObject<HTMLTextAreaElement | null>;
  /** The input's text. */
  text: string;
  onTextChange: (text: string) => void;
  categories?: readonly EmojiCategory[] | undefined;
}

/** The emoji button of a text input: inserts the picked emoji at the cursor. Control and E open and close it, too. */
export function EmojiInserter({ input, text, onTextChange, categories }: EmojiInserterProps) {
  const [open, setOpen] = useState(false);
  const wasFocused = useRef(false);
  const caret = useRef<number | null>(null);

  useEffect(() => {
    const element = input.current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onFocus = () => {
      wasFocused.current = true;
      timer ??= setTimeout(preloadPicker, preloadDelay);
    };
    if (element === document.activeElement) onFocus();
    element?.addEventListener('focus', onFocus);
    return () => {
      clearTimeout(timer);
      element?.removeEventListener('focus', onFocus);
    };
  }, [input]);

  // After the text is in the input.
  useLayoutEffect(() => {
    if (caret.current !== null) input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  function insert(emoji: string) {
    const element = input.current;
    // Without ever having been there the cursor is nowhere: the end is where writing goes on.
    const known = element !== null && wasFocused.current;
    const start = known ? element.selectionStart : text.length;
    const end = known ? element.selectionEnd : text.length;
    caret.current = start + emoji.length;
    onTextChange(text.slice(0, start) + emoji + text.slice(end));
  }

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const isShortcut = event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
    if (!isShortcut || event.key.toLowerCase() !== 'e' || event.defaultPrevented) return;
    // The browser has other plans for these keys, wherever the focus is: only a dialog above the chat keeps them.
    if (isBehindModal(input.current)) return;
    event.preventDefault();
    setOpen(!open);
  });
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <EmojiButton
      open={open}
      onOpenChange={setOpen}
      onPick={insert}
      returnFocusTo={input}
      categories={categories}
    />
  );
}
