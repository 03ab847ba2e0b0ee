import { clsx } from 'clsx';
import { useAtomValue } from 'jotai';
import { Search, UserRoundPlus, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { activeChatAtom } from '../../store/chats.ts';
import { contactsAtom, contactsErrorAtom } from '../../store/contacts.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Avatar } from '../../ui/Avatar.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, IconButton } from '../../ui/Button.tsx';
import { contentPreview } from '../../ui/chat/preview.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { shortMoment } from '../../ui/format.ts';
import { presenceText } from '../../ui/Presence.tsx';
import { SearchInput } from '../../ui/SearchInput.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { useNow } from '../../ui/useNow.ts';
import { type ConversationRow, conversationRowsAtom } from './atoms.ts';
import styles from './ConversationList.module.css';
import { contactsLoadingCap, messageTexts } from './texts.ts';

interface ConversationListProps {
  onOpen: (userId: string) => void;
  onFindContacts: () => void;
}

export function ConversationList({ onOpen, onFindContacts }: ConversationListProps) {
  const rows = useAtomValue(conversationRowsAtom);
  const loading = useContactsLoading();
  const error = useAtomValue(contactsErrorAtom);
  const now = useNow();
  const [searching, setSearching] = useState(false);
  const [query, setQuery] = useState('');

  const wanted = query.trim().toLocaleLowerCase();
  const shown = searching ? rows.filter(({ name }) => name.toLocaleLowerCase().includes(wanted)) : rows;

  return (
    <section className={styles.pane} aria-label="Conversations">
      <div className={styles.head}>
        <h2 className={styles.title}>{messageTexts.title}</h2>
        <IconButton
          label={messageTexts.searchToggle}
          icon={searching ? <X /> : <Search />}
          aria-pressed={searching}
          onClick={() => {
            setSearching(!searching);
            setQuery('');
          }}
        />
      </div>
      {searching && (
        <div className={styles.search}>
          <SearchInput
            label={messageTexts.searchToggle}
            placeholder={messageTexts.searchPlaceholder}
            value={query}
            onValueChange={setQuery}
            focusOnMount
          />
        </div>
      )}
      <div className={styles.list}>
        {error !== null && <Alert kind="error">{error}</Alert>}
        {rows.length === 0 && loading && <LoadingLine text={messageTexts.loadingContacts} />}
        {rows.length === 0 && !loading && (
          <EmptyState
            icon={<UserRoundPlus />}
            title={messageTexts.noContacts}
            action={
              <Button variant="primary" onClick={onFindContacts}>
                {messageTexts.findContacts}
              </Button>
            }
          >
            {messageTexts.noContactsHint}
          </EmptyState>
        )}
        {rows.length > 0 && shown.length === 0 && (
          <EmptyState icon={<Search />}>{messageTexts.noMatches(query.trim())}</EmptyState>
        )}
        <ul>
          {shown.map((row) => (
            <li key={row.userId}>
              <Row row={row} now={now} onOpen={onOpen} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

interface RowProps {
  row: ConversationRow;
  now: Date;
  onOpen: (userId: string) => void;
}

function Row({ row, now, onOpen }: RowProps) {
  const active = useAtomValue(activeChatAtom) === row.userId;
  const ownId = useAtomValue(currentUserAtom)?.id;
  const { lastMessage } = row;
  return (
    <button
      type="button"
      className={clsx(styles.row, row.unread > 0 && styles.unread)}
      aria-current={active ? 'true' : undefined}
      onClick={() => onOpen(row.userId)}
    >
      <Avatar name={row.name} size={44} online={row.online} />
      <span className={styles.body}>
        <span className={styles.line}>
          <bdi className={styles.name}>{row.name}</bdi>
          <span className={styles.meta}>{presenceText(row.online)}</span>
        </span>
        <span className={styles.line}>
          <span className={styles.preview}>
            {lastMessage === null ? (
              messageTexts.noPreview
            ) : (
              <>
                {lastMessage.senderId === ownId && 'You: '}
                <bdi>{contentPreview(lastMessage.content)}</bdi>
              </>
            )}
          </span>
          {row.unread > 0 ? (
            <Badge count={row.unread} meaning="unread" />
          ) : (
            lastMessage !== null && (
              <time className={styles.meta} dateTime={lastMessage.timestamp}>
                {shortMoment(lastMessage.timestamp, now)}
              </time>
            )
          )}
        </span>
      </span>
    </button>
  );
}

/** True until the contacts have arrived, but not for longer than the cap. */
function useContactsLoading(): boolean {
  const { loaded } = useAtomValue(contactsAtom);
  const [capPassed, setCapPassed] = useState(false);
  useEffect(() => {
    if (loaded) return undefined;
    const timer = setTimeout(() => setCapPassed(true), contactsLoadingCap);
    return () => clearTimeout(timer);
  }, [loaded]);
  return !loaded && !capPassed;
}
