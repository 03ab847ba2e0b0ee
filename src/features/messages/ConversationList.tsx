import { useAtom, useAtomValue } from 'jotai';
import { FileText, Search, UserRoundPlus, X } from 'lucide-react';
import { type ReactNode, type Ref, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { activeChatAtom } from '../../store/chats.ts';
import { contactsAtom } from '../../store/contacts.ts';
import { draftsAtom } from '../../store/drafts.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { messageTime } from '../../store/messageTime.ts';
import { mutesAtom } from '../../store/mutes.ts';
import { currentUserAtom } from '../../store/session.ts';
import { useLoadFailure } from '../../store/useLoadFailure.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { shortMoment } from '../../ui/format.ts';
import { LoadFailure } from '../../ui/LoadFailure.tsx';
import { SearchInput } from '../../ui/SearchInput.tsx';
import { SkeletonRows } from '../../ui/SkeletonRows.tsx';
import { useNow } from '../../ui/useNow.ts';
import { type RowControls, VirtualList, type VirtualListHandle } from '../../ui/VirtualList.tsx';
import { ListPane } from '../conversation/ListPane.tsx';
import { ListRow, listRowHeight } from '../conversation/ListRow.tsx';
import { OrTyping } from '../conversation/OrTyping.tsx';
import { presenceText } from '../conversation/presenceText.ts';
import { contentPreview, linePreview } from '../conversation/preview.ts';
import { type ConversationRow, contactSearchAtom, conversationRowsAtom } from './atoms.ts';
import styles from './ConversationList.module.css';

/** Milliseconds after which the list stops saying that contacts load (spec section 9). */
const contactsLoadingCap = 5000;

interface ConversationListProps {
  /** Leads the focus to a person's row. */
  handle: Ref<VirtualListHandle>;
  onOpen: (userId: string) => void;
  onFindContacts: () => void;
  /** Returns the mark right after a person's name. */
  markOf?: ((userId: string) => ReactNode) | undefined;
}

export function ConversationList({ handle, onOpen, onFindContacts, markOf }: ConversationListProps) {
  const rows = useAtomValue(conversationRowsAtom);
  const active = useAtomValue(activeChatAtom);
  const contacts = useAtomValue(contactsAtom);
  const failure = useLoadFailure(contacts);
  const title = useRef<HTMLHeadingElement>(null);
  const now = useNow();
  const [search, setSearch] = useAtom(contactSearchAtom);
  const searching = search !== 'closed';
  const [query, setQuery] = useState('');

  const hasPeople = rows.some(({ notes }) => notes === undefined);
  const wanted = searching ? query.trim().toLocaleLowerCase() : '';
  const shown = useMemo(
    () =>
      rows.filter(({ name, notes }) =>
        wanted === '' ? notes !== 'unused' : name.toLocaleLowerCase().includes(wanted),
      ),
    [rows, wanted],
  );

  return (
    <ListPane
      label={t('messages.conversations')}
      title={t('messages.title')}
      titleRef={title}
      notice={failure && <LoadFailure {...failure} focusAfter={title} />}
      action={
        <IconButton
          label={t('messages.searchToggle')}
          icon={searching ? <X /> : <Search />}
          aria-pressed={searching}
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => {
            setSearch(() => (searching ? 'closed' : 'asked'));
            setQuery('');
          }}
        />
      }
      tools={
        searching && (
          <div className={styles.search}>
            <SearchInput
              label={t('messages.searchToggle')}
              placeholder={t('messages.searchPlaceholder')}
              value={query}
              onValueChange={setQuery}
              focusOnMount={search === 'asked'}
              onFocus={() => setSearch(() => 'open')}
            />
          </div>
        )
      }
    >
      <VirtualList ref={handle} items={shown} keyOf={idOf} estimatedHeight={listRowHeight} current={active}>
        {(row, controls) => (
          <Row
            row={row}
            current={row.userId === active}
            now={now}
            markOf={markOf}
            onOpen={onOpen}
            {...controls}
          />
        )}
      </VirtualList>
      {!hasPeople && !contacts.loaded && contacts.error === null && <ContactsLoading focusAfter={title} />}
      {!hasPeople && contacts.loaded && wanted === '' && (
        <EmptyState
          icon={<UserRoundPlus />}
          title={t('messages.noContacts')}
          action={
            <Button variant="primary" onClick={onFindContacts}>
              {t('messages.findContacts')}
            </Button>
          }
        >
          {t('messages.noContactsHint')}
        </EmptyState>
      )}
      {wanted !== '' && shown.length === 0 && (
        <EmptyState icon={<Search />}>{t('messages.noMatches', { query: query.trim() })}</EmptyState>
      )}
    </ListPane>
  );
}

function idOf({ userId }: ConversationRow): string {
  return userId;
}

interface RowProps extends RowControls, Pick<ConversationListProps, 'markOf'> {
  row: ConversationRow;
  current: boolean;
  now: Date;
  onOpen: (userId: string) => void;
}

function Row({ row, current, now, markOf, onOpen, tabIndex }: RowProps) {
  const { lastMessage, userId } = row;
  const muted = userId in useAtomValue(mutesAtom);
  const shown = lastMessage === null ? null : messageTime(lastMessage).shown;
  return (
    <ListRow
      name={row.name}
      icon={row.notes && <FileText size={20} />}
      mark={markOf?.(userId)}
      online={row.online}
      aside={presenceText(row.online)}
      detail={
        <OrTyping conversationKey={userId}>
          <Preview row={row} current={current} />
        </OrTyping>
      }
      time={shown !== null && <time dateTime={shown}>{shortMoment(shown, now)}</time>}
      unread={row.unread}
      muted={muted}
      current={current}
      onOpen={() => onOpen(userId)}
      tabIndex={tabIndex}
    />
  );
}

/** The draft, else the last message. */
function Preview({ row: { userId, lastMessage, notes }, current }: Pick<RowProps, 'row' | 'current'>) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const draft = linePreview(useAtomValue(draftsAtom)[userId] ?? '');
  if (draft !== '' && !current) {
    return (
      <>
        <span className={styles.draft}>{t('messages.draft')}</span> <bdi>{draft}</bdi>
      </>
    );
  }
  if (lastMessage === null) return t(notes ? 'notes.none' : 'messages.noPreview');
  const { content, senderId } = lastMessage;
  const own = senderId === ownId;
  return (
    <>
      {own && !notes && content.kind !== 'deleted' && `${t('messages.yourMessage')} `}
      <bdi>{contentPreview(content, { own, nameOf })}</bdi>
    </>
  );
}

/** Says that contacts load, up to the cap; after that it says that it takes long, and offers to try again. */
function ContactsLoading({ focusAfter }: { focusAfter: RefObject<HTMLElement | null> }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [tries, setTries] = useState(1);
  const [triesTooLong, setTriesTooLong] = useState(0);
  useEffect(() => {
    if (tries > 1) catchLostFocus(focusAfter.current);
    const timer = setTimeout(() => setTriesTooLong(tries), contactsLoadingCap);
    return () => clearTimeout(timer);
  }, [focusAfter, tries]);

  if (triesTooLong < tries) return <SkeletonRows text={t('messages.loadingContacts')} />;

  function retry() {
    setTries(tries + 1);
    void actions.retryLists().catch(() => undefined);
  }
  return (
    <SkeletonRows
      text={t('messages.stillLoading')}
      action={
        <Button size="small" onClick={retry}>
          {t('app.tryAgain')}
        </Button>
      }
    />
  );
}
