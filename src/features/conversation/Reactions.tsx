import { clsx } from 'clsx';
import { SmilePlus } from 'lucide-react';
import { formatLocale, t } from '../../i18n/i18n.ts';
import type { MessageView, Reaction } from '../../store/chats.ts';
import type { MenuAnchor } from './menuAnchor.ts';
import styles from './Reactions.module.css';
import { useHold } from './useHold.ts';

export interface ReactionActions {
  readonly onReact: (message: MessageView, emoji: string) => void;
  /** Opens the picker of emojis. */
  readonly onPick: (message: MessageView, anchor: MenuAnchor) => void;
  /** Shows who has reacted. */
  readonly onReactors: (message: MessageView, anchor: MenuAnchor) => void;
}

interface ReactionsProps {
  message: MessageView;
  own: boolean;
  ownId: string | undefined;
  /** Says "You" of the person. */
  nameOf: (userId: string) => string;
  /** The most emojis that have room. */
  most: number;
  /** True if the Tab key reaches them. */
  reachable: boolean;
  canReact: boolean;
  actions: ReactionActions;
}

/** The emojis that people have reacted with: pressing one gives or takes back one's own. The newest keep their place. */
export function Reactions(props: ReactionsProps) {
  const { message, own, most, reachable, canReact, actions } = props;
  const reactions = message.reactions ?? [];
  const hidden = Math.max(reactions.length - most, 0);
  const tabIndex = reachable ? 0 : -1;
  const add = canReact && (
    <li className={styles.add}>
      <button
        type="button"
        className={styles.chip}
        tabIndex={tabIndex}
        aria-haspopup="dialog"
        aria-label={t('chat.addReaction')}
        title={t('chat.addReaction')}
        onClick={(event) => actions.onPick(message, event.currentTarget)}
      >
        <SmilePlus aria-hidden="true" />
      </button>
    </li>
  );
  return (
    <ul className={clsx(styles.reactions, own && styles.own)} aria-label={t('chat.reactions')}>
      {own && add}
      {hidden > 0 && (
        <li>
          <button
            type="button"
            className={styles.chip}
            tabIndex={tabIndex}
            aria-haspopup="dialog"
            aria-label={t('chat.reactionsMore', { count: hidden })}
            onClick={(event) => actions.onReactors(message, event.currentTarget)}
          >
            +{hidden}
          </button>
        </li>
      )}
      {reactions.slice(hidden).map((reaction) => (
        <li key={reaction.emoji}>
          <Chip {...props} reaction={reaction} tabIndex={tabIndex} />
        </li>
      ))}
      {!own && add}
    </ul>
  );
}

interface ChipProps extends ReactionsProps {
  reaction: Reaction;
  tabIndex: 0 | -1;
}

function Chip({ message, ownId, nameOf, canReact, actions, reaction, tabIndex }: ChipProps) {
  const { emoji, userIds } = reaction;
  const names = new Intl.ListFormat(formatLocale()).format(userIds.map(nameOf));
  const hold = useHold((_point, target) => {
    if (target instanceof Element) actions.onReactors(message, target);
  });
  return (
    <button
      type="button"
      className={styles.chip}
      tabIndex={tabIndex}
      aria-pressed={ownId !== undefined && userIds.includes(ownId)}
      aria-label={`${emoji} ${names}`}
      title={names}
      {...hold}
      onContextMenu={(event) => {
        event.preventDefault();
        actions.onReactors(message, event.currentTarget);
      }}
      onClick={(event) => {
        if (canReact) actions.onReact(message, emoji);
        else actions.onReactors(message, event.currentTarget);
      }}
    >
      <span className={styles.emoji}>{emoji}</span>
      {userIds.length}
    </button>
  );
}
