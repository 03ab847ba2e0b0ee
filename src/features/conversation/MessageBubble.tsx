import { clsx } from 'clsx';
import { Check, CheckCheck, ChevronDown, CircleAlert, Clock3, LockKeyhole } from 'lucide-react';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import { undecryptableTexts } from '../../i18n/undecryptable.ts';
import type { MessageView, UndecryptableReason } from '../../store/chats.ts';
import { Button } from '../../ui/Button.tsx';
import { Disclosure } from '../../ui/Disclosure.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { isSingleEmoji } from './emoji.ts';
import styles from './MessageBubble.module.css';
import { MessageMoment } from './MessageMoment.tsx';
import { MessageText } from './MessageText.tsx';
import { type MessageState, messageState, type ReceiptState, stateText } from './messageState.ts';

/** The place at which a menu opens: a control, or the pointer. */
export type MenuAnchor = Element | { getBoundingClientRect(): DOMRect };

export interface BubbleActions {
  readonly onRetry: (messageId: string) => void;
  readonly onDiscard: (messageId: string) => void;
  readonly onMenu: (message: MessageView, anchor: MenuAnchor) => void;
  readonly onUnfold: (messageId: string, unfolded: boolean) => void;
}

/** Keep functions and objects the same from render to render, so that bubbles in sight are not drawn anew. */
interface MessageBubbleProps {
  message: MessageView;
  own: boolean;
  /** Name of the sender, for screen readers. */
  author: string;
  /** Null where it isn't known that others have it. */
  receipt: ReceiptState | null;
  /** Its place in a run of messages by the same person. */
  first: boolean;
  last: boolean;
  unfolded: boolean;
  /** True if the Tab key reaches its controls. */
  reachable: boolean;
  actions: BubbleActions;
}

export const MessageBubble = memo(function MessageBubble(props: MessageBubbleProps) {
  const { message, own, author, first, last, actions } = props;
  const state = messageState(message, { own, receipt: props.receipt });
  const large = message.content.kind === 'text' && isSingleEmoji(message.content.text.trim());

  function onContextMenu(event: MouseEvent) {
    // The browser's own menu serves links and selected text better.
    const onLink = event.target instanceof Element && event.target.closest('a') !== null;
    if (onLink || getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    actions.onMenu(message, pointAnchor(event));
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
      <div className={styles.bubble} onContextMenu={onContextMenu}>
        <VisuallyHidden>{author}: </VisuallyHidden>
        <Content message={message} large={large} unfolded={props.unfolded} onUnfold={actions.onUnfold} />
        <div className={styles.meta}>
          <MessageMoment message={message} author={own ? null : author} />
          {own && <StateMark state={state} />}
        </div>
        <button
          type="button"
          className={styles.more}
          tabIndex={props.reachable ? 0 : -1}
          aria-label={t('chat.actions')}
          aria-haspopup="menu"
          onClick={(event) => actions.onMenu(message, event.currentTarget)}
        >
          <ChevronDown aria-hidden="true" />
        </button>
      </div>
      {state === 'failed' && (
        <div className={styles.failure}>
          <span>{t('chat.notSent')}</span>
          <Button size="small" variant="quiet" onClick={() => actions.onRetry(message.messageId)}>
            {t('chat.retry')}
          </Button>
          <Button size="small" variant="quiet" onClick={() => actions.onDiscard(message.messageId)}>
            {t('chat.discard')}
          </Button>
        </div>
      )}
    </article>
  );
});

function pointAnchor({ clientX, clientY }: MouseEvent): MenuAnchor {
  return { getBoundingClientRect: () => new DOMRect(clientX, clientY, 0, 0) };
}

interface ContentProps {
  message: MessageView;
  large: boolean;
  unfolded: boolean;
  onUnfold: BubbleActions['onUnfold'];
}

function Content({ message: { content, messageId }, large, unfolded, onUnfold }: ContentProps) {
  if (content.kind === 'undecryptable') return <Undecryptable reason={content.reason} />;
  if (content.kind === 'unknown') return <p className={styles.muted}>{t('messages.unknownKind')}</p>;
  if (content.text.trim() === '') return <p className={styles.muted}>{t('messages.noContent')}</p>;
  if (large) return <p className={styles.emoji}>{content.text.trim()}</p>;
  return (
    <MessageText text={content.text} unfolded={unfolded} onUnfold={(unfold) => onUnfold(messageId, unfold)} />
  );
}

function Undecryptable({ reason }: { reason: UndecryptableReason }) {
  return (
    <div className={styles.notice}>
      <LockKeyhole aria-hidden="true" />
      <span>{t('messages.undecryptable')}</span>
      <div className={styles.details}>
        <Disclosure summary={t('chat.why')}>
          <p>{t(undecryptableTexts[reason])}</p>
          <p>{t(`${undecryptableTexts[reason]}Todo`)}</p>
        </Disclosure>
      </div>
    </div>
  );
}

const stateIcons: Record<MessageState, ReactNode> = {
  sending: <Clock3 />,
  failed: <CircleAlert />,
  delivered: <CheckCheck />,
  read: <CheckCheck className={styles.read} />,
  sent: <Check />,
  received: null,
};

function StateMark({ state }: { state: MessageState }) {
  return (
    <span title={stateText(state)}>
      {stateIcons[state]}
      <VisuallyHidden>{stateText(state)}</VisuallyHidden>
    </span>
  );
}
