import { SendHorizontal } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { Button } from '../Button.tsx';
import { useMediaQuery, wideScreen } from '../useMediaQuery.ts';
import styles from './Composer.module.css';
import { chatTexts, messageMaxBytes } from './texts.ts';

interface ComposerProps {
  /** Who gets it: the input's accessible name. */
  name: string;
  draft: string;
  onDraftChange: (draft: string) => void;
  /** Called with text that is not blank and not too long, as it was written. */
  onSend: () => void;
  /** Each new positive number moves the focus here; on a phone the keyboard would cover what was just opened. */
  focusRequest: number;
}

/** The message form. Enter sends, Shift and Enter start a new line. Give it a key by conversation. */
export function Composer({ name, draft, onDraftChange, onSend, focusRequest }: ComposerProps) {
  const input = useRef<HTMLTextAreaElement>(null);
  const problemId = useId();
  const wide = useMediaQuery(wideScreen);

  const text = draft.trim();
  const tooLong = isTooLong(text);

  useLayoutEffect(() => fitHeight(input.current, draft), [draft]);
  useEffect(() => {
    if (wide && focusRequest > 0) input.current?.focus();
  }, [wide, focusRequest]);

  function send() {
    if (text === '' || tooLong) return;
    input.current?.focus();
    onSend();
  }

  function onKeyDown(event: KeyboardEvent) {
    // While composing (Japanese, dead keys), Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {tooLong && (
        <p className={styles.problem} id={problemId} role="alert">
          {chatTexts.tooLong}
        </p>
      )}
      <textarea
        ref={input}
        className={styles.input}
        rows={1}
        dir="auto"
        placeholder={chatTexts.placeholder}
        aria-label={chatTexts.inputLabel(name)}
        aria-invalid={tooLong}
        aria-describedby={tooLong ? problemId : undefined}
        enterKeyHint="send"
        value={draft}
        onChange={(event) => onDraftChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.send}>
        <Button type="submit" variant="primary" disabled={text === '' || tooLong}>
          <SendHorizontal size={18} aria-hidden="true" />
          {chatTexts.send}
        </Button>
      </div>
    </form>
  );
}

function isTooLong(text: string): boolean {
  // A character is at most three bytes, so most texts need no encoding to know.
  return text.length * 3 > messageMaxBytes && new TextEncoder().encode(text).length > messageMaxBytes;
}

/** As tall as its text; the style sheet bounds it. */
function fitHeight(element: HTMLTextAreaElement | null, text: string) {
  if (element === null) return;
  element.style.height = '';
  if (text !== '') element.style.height = `${element.scrollHeight + 2}px`;
}
