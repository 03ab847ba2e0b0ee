import { clsx } from 'clsx';
import { Check, CheckCheck, ChevronDown, CircleAlert, Clock3, Forward, Pin, Star, Timer } from 'lucide-react';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { isSingleEmoji } from './emoji.ts';
import styles from './MessageBubble.module.css';
import { MessageContent } from './MessageContent.tsx';
import { MessageMoment } from './MessageMoment.tsx';
import { type MenuAnchor, type Point, pointAnchor } from './menuAnchor.ts';
import { type MessageState, messageState, type ReceiptState, stateText } from './messageState.ts';
import { NotSent } from './NotSent.tsx';
import { QuoteBlock } from './Quote.tsx';
import { type ReactionActions, Reactions } from './Reactions.tsx';
import { timerText } from './timerText.ts';
import { useHold } from './useHold.ts';

export interface BubbleActions extends ReactionActions {
  readonly onRetry: (messageId: string) => void;
  readonly onDiscard: (messageId: string) => void;
  readonly onMenu: (message: MessageView, anchor: MenuAnchor) => void;
  readonly onUnfold: (messageId: string, unfolded: boolean) => void;
  /** Leads to another message. */
  readonly onLead: (messageId: string) => void;
  /** Shows how it was before its edits. */
  readonly onVersions: (message: MessageView) => void;
}

/** Keep functions and objects the same from render to render, so that bubbles in sight are not drawn anew. */
interface MessageBubbleProps {
  message: MessageView;
  own: boolean;
  /** Name of the sender, for screen readers. */
  author: string;
  ownId: string | undefined;
  /** Says "You" of the person. */
  nameOf: (userId: string) => string;
  /** Null where it isn't known that others have it. */
  receipt: ReceiptState | null;
  /** Its place in a run of messages by the same person. */
  first: boolean;
  last: boolean;
  unfolded: boolean;
  /** True if the Tab key reaches its controls. */
  reachable: boolean;
  canReact: boolean;
  isStarred: boolean;
  isPinned: boolean;
  /** The most reactions that have room. */
  mostReactions: number;
  actions: BubbleActions;
}

export const MessageBubble = memo(function MessageBubble(props: MessageBubbleProps) {
  const { message, own, author, first, last, reachable, actions } = props;
  const { content, isEdited, reactions, unsentChanges = [] } = message;
  // As it is now; null where it isn't here, undefined where this answers none.
  const quoted = message.quote?.message;
  const state = messageState(message, { own, receipt: props.receipt });
  const large = content.kind === 'text' && isSingleEmoji(content.text.trim()) && quoted === undefined;

  function menuAt(target: EventTarget, point: Point): boolean {
    // The browser's own menu serves links and selected text better.
    const onLink = target instanceof Element && target.closest('a') !== null;
    if (onLink || getSelection()?.isCollapsed === false) return false;
    actions.onMenu(message, pointAnchor(point));
    return true;
  }
  const hold = useHold((point, target) => menuAt(target, point));

  function onContextMenu(event: MouseEvent) {
    if (menuAt(event.target, event)) event.preventDefault();
  }

  return (
    <article
      className={clsx(
        styles.item,
        own && styles.own,
        first && styles.first,
        last && styles.last,
        state === 'failed' && styles.failed,
        large && styles.large,
      )}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- a shortcut to the button in it */}
      <div className={styles.bubble} onContextMenu={onContextMenu} {...hold}>
        <VisuallyHidden>{author}: </VisuallyHidden>
        {quoted !== undefined && (
          <QuoteBlock
            message={quoted}
            hasDisappeared={message.quote?.hasDisappeared === true}
            own={quoted?.senderId === props.ownId}
            author={quoted === null ? '' : props.nameOf(quoted.senderId)}
            reachable={reachable}
            onLead={actions.onLead}
          />
        )}
        {message.isForwarded === true && content.kind !== 'deleted' && (
          <p className={styles.forwarded}>
            <Forward aria-hidden="true" /> {t('forward.mark')}
          </p>
        )}
        <MessageContent
          message={message}
          own={own}
          large={large}
          unfolded={props.unfolded}
          reachable={reachable}
          onUnfold={actions.onUnfold}
        />
        <div className={styles.meta}>
          {isEdited === true && content.kind === 'text' && (
            <button
              type="button"
              className={styles.edited}
              tabIndex={reachable ? 0 : -1}
              aria-label={t('chat.editedVersions')}
              aria-haspopup="dialog"
              onClick={() => actions.onVersions(message)}
            >
              {t('chat.edited')}
            </button>
          )}
          {props.isPinned && <Mark text={t('pinned.mark')} icon={<Pin fill="currentColor" />} />}
          {props.isStarred && <Mark text={t('stars.mark')} icon={<Star fill="currentColor" />} />}
          {message.timer !== undefined && (
            <Mark text={t('timer.mark', { timer: timerText(message.timer) })} icon={<Timer />} />
          )}
          <MessageMoment message={message} author={own ? null : author} />
          {own && <Mark text={stateText(state)} icon={stateIcons[state]} />}
        </div>
        <button
          type="button"
          className={styles.more}
          tabIndex={reachable ? 0 : -1}
          aria-label={t('chat.actions')}
          aria-haspopup="menu"
          onClick={(event) => actions.onMenu(message, event.currentTarget)}
        >
          <ChevronDown aria-hidden="true" />
        </button>
      </div>
      {reactions !== undefined && reactions.length > 0 && (
        <Reactions
          message={message}
          own={own}
          ownId={props.ownId}
          nameOf={props.nameOf}
          most={props.mostReactions}
          reachable={reachable}
          canReact={props.canReact}
          actions={actions}
        />
      )}
      {state === 'failed' && (
        <NotSent
          text={t('chat.notSent')}
          messageId={message.messageId}
          onRetry={actions.onRetry}
          onDiscard={actions.onDiscard}
        />
      )}
      {unsentChanges.map(({ messageId, status }) => {
        if (status === 'sending') return null;
        const { onRetry, onDiscard } = actions;
        const text = t('chat.changeNotSent');
        return <NotSent key={messageId} {...{ text, messageId, onRetry, onDiscard }} />;
      })}
    </article>
  );
});

const stateIcons: Record<MessageState, ReactNode> = {
  sending: <Clock3 />,
  failed: <CircleAlert />,
  delivered: <CheckCheck />,
  read: <CheckCheck className={styles.read} />,
  sent: <Check />,
  received: null,
};

/** A picture beside the time of a message, and its words for who doesn't see it. */
function Mark({ icon, text }: { icon: ReactNode; text: string }) {
  return (
    <span title={text}>
      {icon}
      <VisuallyHidden>{text}</VisuallyHidden>
    </span>
  );
}
