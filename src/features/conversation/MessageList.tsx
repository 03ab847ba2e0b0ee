import { clsx } from 'clsx';
import { ArrowDown, LockKeyhole } from 'lucide-react';
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useMemo,
  useState,
} from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView, ReadingPlace } from '../../store/chats.ts';
import type { MessageChanges } from '../../store/useMessageChanges.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Button } from '../../ui/Button.tsx';
import { dayLabel } from '../../ui/format.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { useMediaQuery } from '../../ui/useMediaQuery.ts';
import { useNow } from '../../ui/useNow.ts';
import { abilitiesOf } from './abilities.ts';
import { type BubbleActions, MessageBubble } from './MessageBubble.tsx';
import styles from './MessageList.module.css';
import { MessagePopups, useMessagePopups } from './MessagePopups.tsx';
import type { MenuAnchor } from './menuAnchor.ts';
import type { ReceiptState } from './messageState.ts';
import { type ChatNotice, type Divider, timeline } from './timeline.ts';
import { useLeadTo } from './useLeadTo.ts';
import { type MessageAction, useMessageKeys } from './useMessageKeys.ts';
import { useMessageScroll } from './useMessageScroll.ts';
import { useOlderMessages } from './useOlderMessages.ts';
import { useReactionNews } from './useReactionNews.ts';
import { useUnreadLine } from './useUnreadLine.ts';

export interface MessageListProps {
  /** Its accessible name. */
  label: string;
  /** Ascending by time. */
  messages: readonly MessageView[];
  /** The one that was pinned last first. */
  pinned: readonly MessageView[];
  /** The next one takes the place of another. */
  isPinnedFull: boolean;
  /** Ascending by time. */
  notices?: readonly ChatNotice[];
  ownId: string | undefined;
  /** Names of others. Keep it the same from render to render. */
  nameOf: (userId: string) => string;
  /** Returns what is known of others having an own message. */
  receiptOf: (message: MessageView) => ReceiptState | null;
  /** Position of the last read message: later ones stand below a line when the conversation is opened. */
  readSeq: number | undefined;
  /** Number of messages of others after `readSeq`. */
  unread: number;
  /** Names the author of each run of messages, for conversations of more than two people. */
  showAuthors?: boolean;
  loading: boolean;
  hasOlder: boolean;
  /** Resolves to whether it succeeded; never rejects. */
  onLoadOlder: () => Promise<boolean>;
  changes: MessageChanges;
  /** False where nothing can be sent. */
  canWrite?: boolean;
  /** Own browsers alone have them. */
  isNotes?: boolean;
  /** The form's input. */
  composer: RefObject<HTMLElement | null>;
  /** Keep these three the same from render to render. */
  onRetry: (messageId: string) => void;
  onDiscard: (messageId: string) => void;
  onCopy: (text: string) => void;
  /** A message was answered that isn't on this device. */
  onOriginalMissing: () => void;
  /** Message ids of those that the person has starred. */
  starred: ReadonlySet<string>;
  /** The message to which something outside of the list leads; null for none. */
  sought: string | null;
  onSought: () => void;
  /** The reader's place when this conversation was last open; null for its newest message. */
  place: ReadingPlace | null;
  onLeave: (place: ReadingPlace | null) => void;
  /** Stands above the first message of the conversation. */
  beginning: ReactNode;
  /** Stands in the place of messages while there are none. */
  empty: ReactNode;
}

const Pinned = onDemand(async () => (await import('./PinnedBar.tsx')).PinnedBar);

/** The most reactions below a bubble. */
const mostReactions = { narrow: 3, wide: 12 } as const;

/** Messages of one conversation. Give it a key by conversation, which its place, menu and unfolded texts belong to. */
export function MessageList(props: MessageListProps) {
  const { messages, notices, ownId, hasOlder, loading, nameOf, receiptOf, onRetry, onDiscard } = props;
  const { changes, canWrite = true, pinned, isNotes = false } = props;
  const older = useOlderMessages(hasOlder, props.onLoadOlder);
  const [active, setActive] = useState<string | null>(null);
  const { scroller, virtualizer, atEnd, unseen, isInSight, onScroll, toEnd } = useMessageScroll({
    messages,
    ownId,
    place: props.place,
    onLeave: props.onLeave,
    keep: active,
    onNearTop: older.approach,
  });
  const { readSeq, unread } = props;
  const unreadFrom = useUnreadLine({
    messages,
    ownId,
    readSeq,
    unread,
    loading,
    hasOlder,
    atEnd,
    isInSight,
  });
  const popups = useMessagePopups();
  const { show } = popups;
  const keys = useMessageKeys({ messages, virtualizer, scroller, active, onActive: setActive, onAction });
  const lead = useLeadTo({
    messages,
    hasOlder,
    older,
    reach: (row) => keys.focus(row, 'center'),
    onMissing: props.onOriginalMissing,
  });
  const line = useMemo(
    () => timeline({ messages, hasOlder, unreadFrom, ...(notices && { notices }) }),
    [messages, notices, hasOlder, unreadFrom],
  );
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const now = useNow();
  const narrow = useMediaQuery('(max-width: 30rem)');

  const onUnfold = useCallback((messageId: string, unfold: boolean) => {
    setUnfolded(
      (before) => new Set(unfold ? [...before, messageId] : [...before].filter((id) => id !== messageId)),
    );
  }, []);
  const { leadTo } = lead;
  const { sought, onSought } = props;
  const isThere = messages.length > 0 && !loading;
  const seek = useEffectEvent((messageId: string) => {
    leadTo(messageId);
    onSought();
  });
  useEffect(() => {
    if (sought !== null && isThere) seek(sought);
  }, [sought, isThere]);
  const actions: BubbleActions = useMemo(() => {
    const opens = (kind: Parameters<typeof show>[0]) => (message: MessageView, anchor?: MenuAnchor) => {
      setActive(message.messageId);
      show(kind, message, anchor);
    };
    return {
      onRetry,
      onDiscard,
      onUnfold,
      onLead: leadTo,
      onMenu: opens('menu'),
      onVersions: opens('versions'),
      onPick: opens('picker'),
      onReactors: opens('reactors'),
      onReact: changes.react,
    };
  }, [changes, leadTo, onRetry, onDiscard, onUnfold, show]);
  const personOf = useCallback(
    (userId: string) => (userId === ownId ? t('chat.you') : nameOf(userId)),
    [nameOf, ownId],
  );
  useReactionNews(messages, ownId, nameOf);

  function onAction(action: MessageAction, message: MessageView, row: Element): boolean {
    const can = abilitiesOf(message, { own: message.senderId === ownId, canWrite, isNotes });
    if (action === 'delete') {
      if (can.deleteForEveryone || can.deleteHere) show('deletion', message);
    } else if (!can[action]) return false;
    else if (action === 'react') {
      show('picker', message, row.querySelector('[aria-haspopup="menu"]') ?? row);
    } else {
      changes[action](message);
      props.composer.current?.focus();
    }
    return true;
  }

  function row(index: number) {
    const message = messages[index];
    if (message === undefined) return null;
    const own = message.senderId === ownId;
    const { above, first, last } = line.placeOf(index);
    const bubble = (
      <MessageBubble
        message={message}
        own={own}
        author={personOf(message.senderId)}
        ownId={ownId}
        nameOf={personOf}
        receipt={own ? receiptOf(message) : null}
        first={first}
        last={last}
        unfolded={unfolded.has(message.messageId)}
        reachable={message.messageId === (active ?? messages.at(-1)?.messageId)}
        canReact={canWrite}
        isStarred={props.starred.has(message.messageId)}
        isPinned={pinned.some(({ messageId }) => messageId === message.messageId)}
        mostReactions={narrow ? mostReactions.narrow : mostReactions.wide}
        actions={actions}
      />
    );
    return (
      <>
        <Dividers dividers={above} now={now} />
        {own || props.showAuthors !== true ? (
          bubble
        ) : (
          <Authored name={nameOf(message.senderId)} first={first}>
            {bubble}
          </Authored>
        )}
        {index === messages.length - 1 && <Dividers dividers={line.below} now={now} />}
      </>
    );
  }

  return (
    <>
      <Pinned
        open={pinned.length > 0}
        {...{ pinned, ownId }}
        nameOf={personOf}
        canUnpin={canWrite}
        onLead={leadTo}
        onUnpin={(message) => changes.pin(message, false)}
      />
      <div className={styles.frame}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it scrolls, and its keys with it */}
        <section
          className={styles.scroller}
          ref={scroller}
          onScroll={onScroll}
          onKeyDown={keys.onKeyDown}
          aria-label={props.label}
          aria-busy={loading || older.loading}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be scrollable by keyboard
          tabIndex={0}
        >
          {messages.length === 0 && (
            <>
              {loading ? (
                <div className={styles.loading}>
                  <LoadingLine text={t('chat.loadingMessages')} />
                </div>
              ) : (
                props.empty
              )}
              <Dividers dividers={line.below} now={now} />
            </>
          )}
          {messages.length > 0 && (
            <ol className={styles.list} style={{ height: virtualizer.getTotalSize() }}>
              {virtualizer.getVirtualItems().map(({ index, key, start }) => (
                // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys lead to it
                <li
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  className={clsx(
                    styles.row,
                    index > 0 && line.placeOf(index - 1).first && styles.first,
                    key === lead.marked && styles.marked,
                  )}
                  onAnimationEnd={lead.unmark}
                  style={{ transform: `translateY(${start}px)` }}
                  tabIndex={index === 0 ? undefined : -1}
                  onFocus={() => setActive(messages[index - 1]?.messageId ?? null)}
                  {...(index > 0 && {
                    'aria-posinset': index,
                    'aria-setsize': hasOlder ? -1 : messages.length,
                  })}
                >
                  {index > 0 ? (
                    row(index - 1)
                  ) : (
                    <Head hasOlder={hasOlder} older={older} beginning={props.beginning} />
                  )}
                </li>
              ))}
            </ol>
          )}
        </section>
        {(!atEnd || unseen > 0) && messages.length > 0 && (
          <div className={styles.jump}>
            <Button size="small" aria-label={unseen > 0 ? undefined : t('chat.toNewest')} onClick={toEnd}>
              <ArrowDown size={16} aria-hidden="true" />
              {unseen > 0 && t('chat.newMessages', { count: unseen })}
            </Button>
          </div>
        )}
        {lead.seeking && (
          <div className={styles.seeking}>
            <LoadingLine text={t('chat.originalSought')} />
          </div>
        )}
        <MessagePopups
          {...popups}
          messages={messages}
          pinned={pinned}
          isPinnedFull={props.isPinnedFull}
          ownId={ownId}
          nameOf={personOf}
          receiptOf={receiptOf}
          changes={changes}
          canWrite={canWrite}
          isNotes={isNotes}
          onCopy={props.onCopy}
          returnFocus={keys.activeButton}
          toInput={() => props.composer.current}
        />
      </div>
    </>
  );
}

interface HeadProps {
  hasOlder: boolean;
  older: ReturnType<typeof useOlderMessages>;
  beginning: ReactNode;
}

/** The row above the oldest loaded message. */
function Head({ hasOlder, older, beginning }: HeadProps) {
  if (!hasOlder) return beginning;
  return (
    <div className={styles.older}>
      {older.failed ? (
        <Button size="small" variant="quiet" onClick={() => void older.load()}>
          {t('chat.loadOlder')}
        </Button>
      ) : (
        <LoadingLine text={t('chat.loadingOlder')} />
      )}
    </div>
  );
}

function Authored({ name, first, children }: { name: string; first: boolean; children: ReactNode }) {
  return (
    <div className={styles.authored}>
      {first && (
        // Each bubble names its author to screen readers.
        <div className={styles.author} aria-hidden="true">
          <Avatar name={name} size={30} />
          <bdi>{name}</bdi>
        </div>
      )}
      {children}
    </div>
  );
}

function Dividers({ dividers, now }: { dividers: readonly Divider[]; now: Date }) {
  return dividers.map((divider) => {
    if (divider.kind === 'day') {
      return (
        <h3 key={divider.timestamp} className={styles.day}>
          {dayLabel(divider.timestamp, now)}
        </h3>
      );
    }
    if (divider.kind === 'notice') {
      return (
        <div key={divider.notice.id} className={styles.notice}>
          {divider.notice.text}
        </div>
      );
    }
    return (
      <p key="unread" className={styles.unread}>
        {t('chat.newMessagesLine')}
      </p>
    );
  });
}

/** The line at a conversation's beginning that names who can read it. */
export function SealLine({ children }: { children: ReactNode }) {
  return (
    <p className={styles.seal}>
      <LockKeyhole aria-hidden="true" />
      <span>{children}</span>
    </p>
  );
}
