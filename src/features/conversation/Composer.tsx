import { Check, SendHorizontal } from 'lucide-react';
import {
  type AriaAttributes,
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { t } from '../../i18n/i18n.ts';
import type { ComposerContext } from '../../store/useComposer.ts';
import { Button } from '../../ui/Button.tsx';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import type { EmojiCategory } from '../emoji/data.ts';
import { EmojiInserter } from '../emoji/EmojiInserter.tsx';
import type { FormFiles } from '../files/useFiles.tsx';
import styles from './Composer.module.css';
import { ComposerContextBar } from './ComposerContextBar.tsx';
import { formatByKey } from './formatKeys.ts';

/** Bytes of UTF-8. The ciphertext of a longer text would exceed the relay's limit. */
const messageMaxBytes = 64 * 1024;
/** Bytes of remaining room below which the form shows them. */
const littleRoom = messageMaxBytes / 10;
/** Characters from which the input is as tall as it gets: measuring more at every key would be felt. */
const tallText = 4000;

/** Suggestions of people, as the form shows them. */
interface FormMentions {
  readonly above: ReactNode;
  readonly aria: AriaAttributes | undefined;
  readonly look: (input: HTMLTextAreaElement) => void;
  readonly leave: () => void;
  /** Returns whether it has taken the key. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean;
}

interface ComposerProps {
  /** Name of the recipient, for the input's accessible name. */
  name: string;
  /** In place of that name and of the placeholder, where nobody receives what is written. */
  label?: string | undefined;
  input: RefObject<HTMLTextAreaElement | null>;
  /** The message that is answered, or whose text is edited here. */
  context: ComposerContext | null;
  ownId: string | undefined;
  /** Names of others. */
  nameOf: (userId: string) => string;
  draft: string;
  onDraftChange: (draft: string) => void;
  /** They go with the text, or without one. */
  files?: FormFiles;
  /** They are suggested while a name is written. */
  mentions?: FormMentions;
  /** Called with text that is not blank, but for files, and not too long, as it was written. */
  onSend: () => void;
  /** Ends the answer, or the edit. */
  onCancel: () => void;
  /** Edits the person's last message, if there is one. */
  onEditLast: () => void;
  /** Each new positive number moves the focus here; on a phone the keyboard would cover the chat. */
  focusRequest: number;
  /** Categories of the emoji picker; all when absent. */
  emojiCategories?: readonly EmojiCategory[];
}

/**
 * The message form. Enter sends, Shift and Enter start a new line, Escape ends an answer or an edit, and Up in an empty
 * input edits the last message. Give it a key by conversation.
 */
export function Composer(props: ComposerProps) {
  const { name, label, input, context, draft, onDraftChange, onSend, focusRequest, emojiCategories } = props;
  const hintId = useId();
  const wide = useMediaQuery(wideScreen);

  const text = draft.trim();
  const room = roomLeft(text);
  const tooLong = room < 0;
  const [pasteRefused, setPasteRefused] = useState(false);
  const problem = pasteRefused ? t('chat.pasteTooLong') : tooLong ? t('chat.tooLong') : null;
  const hint = room < littleRoom ? t('chat.roomLeft', { count: room }) : null;

  useLayoutEffect(() => fitHeight(input.current, draft), [input, draft]);
  useEffect(() => {
    if (wide && focusRequest > 0) input.current?.focus();
  }, [wide, focusRequest, input]);

  const editing = context?.kind === 'edit';
  // An edit is of a text: the files wait for the next message.
  const files = editing ? undefined : props.files;
  const isReady = files?.isReady ?? null;
  const isEmpty = isReady === null ? text === '' : !isReady;

  const isRecording = (files?.recorder ?? null) !== null;
  const wasRecording = useRef(false);
  useEffect(() => {
    if (wasRecording.current && !isRecording) input.current?.focus();
    wasRecording.current = isRecording;
  }, [isRecording, input]);
  const voice = !editing && draft === '' && isReady === null ? files?.voice : null;

  function send() {
    if (isEmpty || tooLong) return;
    input.current?.focus();
    onSend();
  }

  function change(next: string) {
    setPasteRefused(false);
    onDraftChange(next);
  }

  /** Refuses a paste of megabytes: it would bring the page to a halt, and no message could carry it. */
  function onPaste(event: ClipboardEvent) {
    const refused = event.clipboardData.getData('text').length > messageMaxBytes;
    if (refused) event.preventDefault();
    setPasteRefused(refused);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    // While composing (Japanese, dead keys), these keys belong to the input method.
    if (event.nativeEvent.isComposing) return;
    if (props.mentions?.onKeyDown(event) || formatByKey(event, change)) return event.preventDefault();
    if (event.shiftKey) return;
    if (event.key === 'Enter') send();
    else if (event.key === 'Escape' && context !== null) props.onCancel();
    else if (event.key === 'ArrowUp' && draft === '' && !isModified(event)) props.onEditLast();
    else return;
    event.preventDefault();
  }

  const inputLabel = editing ? t('chat.editLabel') : (label ?? t('chat.inputLabel', { name }));

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {context !== null && (
        <ComposerContextBar
          context={context}
          ownId={props.ownId}
          nameOf={props.nameOf}
          onCancel={() => {
            props.onCancel();
            input.current?.focus();
          }}
        />
      )}
      {files?.above}
      {props.mentions?.above}
      {problem !== null && (
        <p className={styles.problem} id={hintId} role="alert">
          {problem}
        </p>
      )}
      {problem === null && hint !== null && (
        <p className={styles.hint} id={hintId}>
          {hint}
        </p>
      )}
      {files?.recorder ?? (
        <>
          <div className={styles.emoji}>
            {files?.button}
            <EmojiInserter
              input={input}
              text={draft}
              onTextChange={onDraftChange}
              categories={emojiCategories}
            />
          </div>
          <textarea
            ref={input}
            className={styles.input}
            rows={1}
            dir="auto"
            placeholder={label ?? t('chat.placeholder')}
            aria-label={inputLabel}
            aria-invalid={tooLong}
            aria-describedby={problem === null && hint === null ? undefined : hintId}
            // The browser would write it in plain text into its session file, to have it again after a restart.
            autoComplete="off"
            enterKeyHint="send"
            value={draft}
            {...props.mentions?.aria}
            onChange={(event) => {
              change(event.target.value);
              props.mentions?.look(event.target);
            }}
            onSelect={(event) => props.mentions?.look(event.currentTarget)}
            onBlur={props.mentions?.leave}
            onPaste={onPaste}
            onKeyDown={onKeyDown}
          />
          <div className={styles.send}>
            {voice ?? (
              <Button type="submit" variant="primary" disabled={isEmpty || tooLong}>
                {editing ? (
                  <Check size={18} aria-hidden="true" />
                ) : (
                  <SendHorizontal size={18} aria-hidden="true" />
                )}
                <span className={styles.word}>{t(editing ? 'chat.save' : 'chat.send')}</span>
              </Button>
            )}
          </div>
        </>
      )}
    </form>
  );
}

function isModified({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return altKey || ctrlKey || metaKey;
}

/** Bytes that still fit; less than none for a text that is too long. */
function roomLeft(text: string): number {
  // A character is at most three bytes, so most texts need no encoding to know that there is room.
  const most = messageMaxBytes - text.length * 3;
  return most >= littleRoom ? most : messageMaxBytes - new TextEncoder().encode(text).length;
}

/** Makes the input as tall as its text; the style sheet bounds it. */
function fitHeight(element: HTMLTextAreaElement | null, text: string) {
  if (element === null) return;
  element.style.height = text.length > tallText ? '100dvh' : '';
  if (text !== '' && text.length <= tallText) element.style.height = `${element.scrollHeight + 2}px`;
}
