import { Menu } from '@base-ui/react/menu';
import { useAtomValue } from 'jotai';
import {
  Copy,
  Forward,
  Info,
  Pencil,
  Pin,
  Reply,
  SmilePlus,
  Star,
  StarOff,
  Trash2,
  UsersRound,
} from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useContext, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { ownOrOtherNameAtom, withMentionNames } from '../../store/mentions.ts';
import { starredIdsAtom } from '../../store/stars.ts';
import styles from '../../ui/Menu.module.css';
import { EmojiMemoryContext } from '../emoji/memory.ts';
import type { Abilities } from './abilities.ts';
import own from './MessageMenuPopup.module.css';
import type { MenuAnchor } from './menuAnchor.ts';

export interface MessageMenuActions {
  readonly onReact: (message: MessageView, emoji: string) => void;
  readonly onPick: (message: MessageView) => void;
  readonly onReactors: (message: MessageView) => void;
  readonly onReply: (message: MessageView) => void;
  readonly onEdit: (message: MessageView) => void;
  readonly onStar: (message: MessageView, isStarred: boolean) => void;
  readonly onPin: (message: MessageView, isPinned: boolean) => void;
  readonly onForward: (message: MessageView) => void;
  readonly onDelete: (message: MessageView) => void;
  readonly onDetails: (message: MessageView) => void;
  readonly onCopy: (text: string) => void;
}

interface MessageMenuProps extends MessageMenuActions {
  open: boolean;
  message: MessageView;
  ownId: string | undefined;
  abilities: Abilities;
  isPinned: boolean;
  /** The place at which it opens. */
  anchor: MenuAnchor;
  onClose: () => void;
  /** Returns the element that gets the focus when the menu closes. */
  returnFocus: () => HTMLElement | null;
}

export function MessageMenuPopup(props: MessageMenuProps) {
  const { open, message, abilities, isPinned, anchor, onClose } = props;
  const { content } = message;
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const isStarred = useAtomValue(starredIdsAtom).has(message.messageId);
  const written = 'text' in content ? content.text : '';
  const text = 'isMarkdown' in content ? withMentionNames(written, nameOf) : written;
  const item = (icon: ReactNode, label: string, onClick: () => void) => (
    <Menu.Item className={styles.item} onClick={onClick}>
      {icon}
      {label}
    </Menu.Item>
  );
  return (
    <Menu.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Menu.Portal>
        <Menu.Positioner
          className={styles.positioner}
          anchor={anchor}
          align="start"
          sideOffset={4}
          collisionPadding={8}
        >
          <Menu.Popup className={styles.popup} aria-label={t('chat.actions')} finalFocus={props.returnFocus}>
            {abilities.react && <QuickReactions {...props} />}
            {abilities.reply && item(<Reply />, t('chat.reply'), () => props.onReply(message))}
            {abilities.forward && item(<Forward />, t('forward.forward'), () => props.onForward(message))}
            {abilities.edit && item(<Pencil />, t('chat.edit'), () => props.onEdit(message))}
            {abilities.star &&
              item(isStarred ? <StarOff /> : <Star />, t(isStarred ? 'stars.unstar' : 'stars.star'), () =>
                props.onStar(message, !isStarred),
              )}
            {abilities.pin &&
              item(<Pin />, t(isPinned ? 'pinned.unpin' : 'pinned.pin'), () =>
                props.onPin(message, !isPinned),
              )}
            {text.trim() !== '' && item(<Copy />, t('chat.copyText'), () => props.onCopy(text))}
            {message.reactions !== undefined &&
              item(<UsersRound />, t('chat.reactions'), () => props.onReactors(message))}
            {item(<Info />, t('chat.detailsTitle'), () => props.onDetails(message))}
            {(abilities.deleteForEveryone || abilities.deleteHere) && (
              <Menu.Item
                className={`${styles.item} ${styles.danger}`}
                onClick={() => props.onDelete(message)}
              >
                <Trash2 />
                {t('chat.delete')}
              </Menu.Item>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

const quickCount = 6;
/** Stand in until a person has used others. */
const commonReactions = ['👍️', '❤️', '😂', '😮', '😢', '🙏'];

/** A row of the emojis used last, and the way to all others. Left and Right lead along it, Down below it. */
function QuickReactions({ message, ownId, onReact, onPick }: MessageMenuProps) {
  const { recent } = useContext(EmojiMemoryContext);
  const row = useRef<HTMLDivElement>(null);
  const quick = [...new Set([...recent, ...commonReactions])].slice(0, quickCount);
  const given = (emoji: string) =>
    ownId !== undefined &&
    message.reactions?.some((reaction) => reaction.emoji === emoji && reaction.userIds.includes(ownId)) ===
      true;

  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    const items = [...(row.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
    const at = items.indexOf(event.target as HTMLElement);
    const forwards = getComputedStyle(event.currentTarget).direction === 'rtl' ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowRight: at + forwards,
      ArrowLeft: at - forwards,
      ArrowDown: items.length,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const below = row.current?.nextElementSibling;
    const next = to === items.length && event.key === 'ArrowDown' ? below : items[to];
    if (next instanceof HTMLElement) next.focus();
  }

  return (
    <Menu.Group ref={row} className={own.quick} aria-label={t('chat.react')} onKeyDown={onKeyDown}>
      {quick.map((emoji) => (
        <Menu.CheckboxItem
          key={emoji}
          className={own.emoji}
          checked={given(emoji)}
          closeOnClick
          aria-label={t('chat.reactWith', { emoji })}
          onClick={() => onReact(message, emoji)}
        >
          {emoji}
        </Menu.CheckboxItem>
      ))}
      <Menu.Item className={own.emoji} aria-label={t('chat.moreReactions')} onClick={() => onPick(message)}>
        <SmilePlus />
      </Menu.Item>
    </Menu.Group>
  );
}
