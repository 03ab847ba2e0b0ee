import { useAtom, useAtomValue, useSetAtom } from 'jotai';
import { SendHorizontal } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button } from '../../ui/Button.tsx';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import { draftsAtom, openRequestsAtom } from './atoms.ts';
import styles from './Composer.module.css';
import { messageMaxBytes, messageTexts } from './texts.ts';

/** The message form. Enter sends, Shift and Enter start a new line. Give it a key by user id. */
export function Composer({ userId, name }: { userId: string; name: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);
  const [drafts, setDrafts] = useAtom(draftsAtom);
  const input = useRef<HTMLTextAreaElement>(null);
  const problemId = useId();
  const wide = useMediaQuery(wideScreen);
  const openRequests = useAtomValue(openRequestsAtom);

  const draft = drafts[userId] ?? '';
  const setDraft = (text: string) => setDrafts((all) => ({ ...all, [userId]: text }));
  const text = draft.trim();
  const tooLong = isTooLong(text);

  useLayoutEffect(() => fitHeight(input.current, draft), [draft]);
  // On a phone the keyboard would cover the conversation that was just opened.
  useEffect(() => {
    if (wide && openRequests > 0) input.current?.focus();
  }, [wide, openRequests]);

  async function send() {
    if (text === '' || tooLong) return;
    setDraft('');
    input.current?.focus();
    try {
      await actions.sendMessage(userId, text);
    } catch (error) {
      // Nothing was queued: the text goes back, unless the person has started another.
      setDrafts((all) => (all[userId] ? all : { ...all, [userId]: text }));
      showToast('error', errorText(error, messageTexts.sendFailed));
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    // While composing (Japanese, dead keys), Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  }

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {tooLong && (
        <p className={styles.problem} id={problemId} role="alert">
          {messageTexts.tooLong}
        </p>
      )}
      <textarea
        ref={input}
        className={styles.input}
        rows={1}
        dir="auto"
        placeholder={messageTexts.placeholder}
        aria-label={messageTexts.inputLabel(name)}
        aria-invalid={tooLong}
        aria-describedby={tooLong ? problemId : undefined}
        enterKeyHint="send"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.send}>
        <Button type="submit" variant="primary" disabled={text === '' || tooLong}>
          <SendHorizontal size={18} aria-hidden="true" />
          {messageTexts.send}
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
