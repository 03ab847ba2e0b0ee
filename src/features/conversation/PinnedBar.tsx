import { useAtomValue } from 'jotai';
import { Ellipsis, Pin } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { Menu } from '../../ui/Menu.tsx';
import styles from './PinnedBar.module.css';
import { contentPreview } from './preview.ts';

interface PinnedBarProps {
  open: boolean;
  /** The one that was pinned last first. */
  pinned: readonly MessageView[];
  ownId: string | undefined;
  /** Says "You" of the person. */
  nameOf: (userId: string) => string;
  canUnpin: boolean;
  onLead: (messageId: string) => void;
  onUnpin: (message: MessageView) => void;
}

/** Shows above the messages which one is pinned. It leads there, and from one press to the next through those pinned before it. */
export function PinnedBar({ open, pinned, ownId, nameOf, canUnpin, onLead, onUnpin }: PinnedBarProps) {
  const mentioned = useAtomValue(ownOrOtherNameAtom);
  const newest = pinned[0]?.messageId;
  // Begins anew with what is pinned last.
  const [next, setNext] = useState({ newest, messageId: newest });
  const found = pinned.findIndex(({ messageId }) => messageId === next.messageId);
  const at = next.newest === newest ? Math.max(found, 0) : 0;
  const message = pinned[at];
  if (!open || message === undefined) return null;
  const { content, messageId, senderId } = message;
  const name = nameOf(senderId);
  const text = contentPreview(content, { own: senderId === ownId, nameOf: mentioned });

  function lead() {
    onLead(messageId);
    setNext({ newest, messageId: pinned[(at + 1) % pinned.length]?.messageId });
  }

  return (
    <section className={styles.bar} aria-label={t('pinned.label')}>
      <button
        type="button"
        className={styles.lead}
        aria-label={t('pinned.goTo', { at: at + 1, count: pinned.length, name, text })}
        onClick={lead}
      >
        <Pin aria-hidden="true" />
        <span className={styles.words}>
          <bdi className={styles.name}>{name}</bdi>
          <bdi className={styles.text}>{text}</bdi>
        </span>
        {pinned.length > 1 && (
          <span className={styles.count}>
            {at + 1}/{pinned.length}
          </span>
        )}
      </button>
      {canUnpin && (
        <Menu
          label={t('pinned.menu')}
          icon={<Ellipsis />}
          entries={[{ label: t('pinned.unpin'), icon: <Pin />, onSelect: () => onUnpin(message) }]}
        />
      )}
    </section>
  );
}
