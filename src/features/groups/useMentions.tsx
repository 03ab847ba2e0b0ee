import { clsx } from 'clsx';
import { type KeyboardEvent, type RefObject, useId, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { Mentionable } from '../../store/mentions.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { writeInto } from '../conversation/writeInto.ts';
import styles from './useMentions.module.css';

/** People that are suggested at once. */
const most = 6;

/** The beginning of a name after an `@` that stands before the cursor. */
interface Query {
  readonly at: number;
  readonly text: string;
}

interface MentionsForm {
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly onDraftChange: (draft: string) => void;
}

function queryIn({ selectionEnd, selectionStart, value }: HTMLTextAreaElement): Query | null {
  if (selectionStart !== selectionEnd) return null;
  const found = /(?<![\p{L}\p{N}_@])@([^\n@]{0,40})$/u.exec(value.slice(0, selectionStart));
  return found === null ? null : { at: found.index, text: found[1] ?? '' };
}

const folded = (text: string) => text.normalize('NFKC').toLocaleLowerCase();

/**
 * Suggests people while a name is written after an `@`: Up and Down choose, Enter and Tab take the one that is chosen, Escape
 * goes on writing. The focus stays in the input.
 */
export function useMentions({ input, onDraftChange }: MentionsForm, people: readonly Mentionable[]) {
  const listId = useId();
  const [query, setQuery] = useState<Query | null>(null);
  const [active, setActive] = useState(0);
  /** The place of an `@` that the person wants nothing suggested for. */
  const [dismissed, setDismissed] = useState<number | null>(null);

  const isWanted = query !== null && query.at !== dismissed;
  const found = isWanted
    ? people.filter(({ name }) => folded(name).startsWith(folded(query.text))).slice(0, most)
    : [];
  const chosen = found[Math.min(active, found.length - 1)];
  const optionId = (id: string) => `${listId}-${id}`;

  /** Looks anew at what stands before the cursor. */
  function look(element: HTMLTextAreaElement): void {
    const next = queryIn(element);
    if (next?.at === query?.at && next?.text === query?.text) return;
    setQuery(next);
    setActive(0);
    if (next === null || next.at !== dismissed) setDismissed(null);
  }

  function take(person: Mentionable): void {
    const element = input.current;
    const at = element === null ? null : queryIn(element);
    if (element === null || at === null) return;
    element.focus();
    const { selectionStart, value } = element;
    const written = `${value.slice(0, at.at)}@${person.name} `;
    const text = written + value.slice(selectionStart);
    writeInto(element, onDraftChange, { text, start: written.length, end: written.length });
    setQuery(null);
  }

  /** @returns whether the key was one of the list's */
  function onKeyDown({ altKey, ctrlKey, key, metaKey, shiftKey }: KeyboardEvent): boolean {
    if (query === null || chosen === undefined || altKey || ctrlKey || metaKey || shiftKey) return false;
    const at = found.indexOf(chosen);
    if (key === 'ArrowDown') setActive((at + 1) % found.length);
    else if (key === 'ArrowUp') setActive((at + found.length - 1) % found.length);
    else if (key === 'Enter' || key === 'Tab') take(chosen);
    else if (key === 'Escape') setDismissed(query.at);
    else return false;
    return true;
  }

  return {
    look,
    leave: () => setQuery(null),
    onKeyDown,
    /** Tells a screen reader of the list and its choice. */
    aria: chosen && {
      'aria-autocomplete': 'list' as const,
      'aria-controls': listId,
      'aria-activedescendant': optionId(chosen.id),
    },
    above: (
      <>
        <VisuallyHidden as="output">
          {found.length > 0 && t('chat.mentionsFound', { count: found.length })}
        </VisuallyHidden>
        {found.length > 0 && (
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a list beside an input that keeps the focus
          <div className={styles.list} id={listId} role="listbox" aria-label={t('chat.mentions')}>
            {found.map((person) => (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the input has its keys
              <div
                key={person.id}
                id={optionId(person.id)}
                className={clsx(styles.option, person === chosen && styles.active)}
                // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- as the list
                role="option"
                tabIndex={-1}
                aria-selected={person === chosen}
                // The input keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(person)}
              >
                <Avatar name={person.name} size={24} />
                <bdi>{person.name}</bdi>
              </div>
            ))}
          </div>
        )}
      </>
    ),
  };
}
