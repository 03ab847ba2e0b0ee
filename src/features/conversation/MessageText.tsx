import { useMemo } from 'react';
import { t } from '../../i18n/i18n.ts';
import { clip } from '../../lib/clip.ts';
import { clipParts, linkParts, type TextPart } from './links.ts';
import styles from './MessageText.module.css';

/** Characters after which a message is folded: one person's wall of text must not bury the conversation. */
export const foldLength = 1600;

interface MessageTextProps {
  text: string;
  unfolded: boolean;
  onUnfold: (unfolded: boolean) => void;
}

/** A message's text with its links. */
export function MessageText({ text, unfolded, onUnfold }: MessageTextProps) {
  const parts = useMemo(() => linkParts(text), [text]);
  const long = text.length > foldLength;
  const shown = long && !unfolded ? clipParts(parts, clip(text, foldLength).length) : parts;
  return (
    <>
      <p className={styles.text} dir="auto">
        {shown.map((part, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- parts of one text never change places
          <Part key={index} part={part} />
        ))}
        {long && !unfolded && '…'}
      </p>
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

function Part({ part: { text, link } }: { part: TextPart }) {
  if (link === undefined) return text;
  return (
    <>
      <a
        href={link.href}
        title={link.href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        referrerPolicy="no-referrer"
      >
        <bdi dir="ltr">{text}</bdi>
      </a>
      {link.hiddenHost !== null && (
        <span className={styles.host}>
          {' '}
          <bdi>{t('chat.linkHost', { host: link.hiddenHost })}</bdi>
        </span>
      )}
    </>
  );
}
