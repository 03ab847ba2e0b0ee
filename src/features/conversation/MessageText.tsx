import { useAtomValue } from 'jotai';
import { type ReactNode, useMemo } from 'react';
import { t } from '../../i18n/i18n.ts';
import { clip } from '../../lib/clip.ts';
import { clipParts, linkParts } from '../../lib/links.ts';
import type { Words } from '../../store/chats.ts';
import { ownOrOtherNameAtom, withMentionNames } from '../../store/mentions.ts';
import { useOnDemand } from '../../ui/onDemand.tsx';
import { MessageLink } from './MessageLink.tsx';
import styles from './MessageText.module.css';

/** Characters after which a message is folded: one person's wall of text must not bury the conversation. */
export const foldLength = 1600;

// Raw text does where it can't be loaded.
const loadFormatted = () => import('./FormattedText.tsx').catch(() => null);

interface MessageTextProps {
  words: Words;
  unfolded: boolean;
  onUnfold: (unfolded: boolean) => void;
}

/** A message's text, folded where it is long. */
export function MessageText({ words, unfolded, onUnfold }: MessageTextProps) {
  const { text } = words;
  const long = text.length > foldLength;
  return (
    <>
      <MessageWords words={words} length={long && !unfolded ? clip(text, foldLength).length : text.length} />
      {long && (
        <button
          type="button"
          className={styles.more}
          aria-expanded={unfolded}
          onClick={() => onUnfold(!unfolded)}
        >
          {t(unfolded ? 'chat.showLess' : 'chat.showMore')}
        </button>
      )}
    </>
  );
}

interface MessageWordsProps {
  words: Words;
  /** Code units that are shown, of a folded text. */
  length?: number;
}

/** A text with its links, formatted where it is Markdown. */
export function MessageWords({ words, length = words.text.length }: MessageWordsProps) {
  const { isMarkdown = false, text } = words;
  const formatted = useOnDemand(loadFormatted, isMarkdown);
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const plain = <PlainText text={isMarkdown ? withMentionNames(text, nameOf) : text} length={length} />;
  if (!isMarkdown || formatted === null) return plain;
  return (
    <formatted.FormattedText text={text} length={length}>
      {plain}
    </formatted.FormattedText>
  );
}

interface PlainTextProps {
  text: string;
  length: number;
}

function PlainText({ text, length }: PlainTextProps): ReactNode {
  const parts = useMemo(() => linkParts(text), [text]);
  return (
    <p className={styles.text} dir="auto">
      {clipParts(parts, length).map((part, index) =>
        part.link === undefined ? (
          part.text
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- parts of one text never change places
          <MessageLink key={index} link={part.link}>
            {part.text}
          </MessageLink>
        ),
      )}
      {length < text.length && '…'}
    </p>
  );
}
