import { useAtomValue } from 'jotai';
import { ArrowLeft, UserRoundSearch } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import {
  contactsAtom,
  incomingRequestsAtom,
  outgoingRequestsAtom,
  type Person,
} from '../../store/contacts.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { SearchInput } from '../../ui/SearchInput.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import styles from './ContactsTab.module.css';
import { PersonRow } from './PersonRow.tsx';
import people from './people.module.css';
import { offeredPeople } from './search.ts';
import { useAction } from './useAction.ts';
import { useUserSearch } from './useUserSearch.ts';

export function FindUsers({ onBack }: { onBack: () => void }) {
  const [input, setInput] = useState('');
  const search = useUserSearch(input);
  const hintId = useId();

  return (
    <div className={`${styles.tab} ${styles.narrow}`}>
      <div className={styles.head}>
        <h2 className={styles.title}>{t('contacts.findUsers')}</h2>
        <Button variant="quiet" onClick={onBack}>
          <ArrowLeft className={styles.back} size={18} aria-hidden="true" />
          {t('contacts.backToContacts')}
        </Button>
      </div>
      <SearchInput
        label={t('contacts.searchLabel')}
        placeholder={t('contacts.searchPlaceholder')}
        value={input}
        onValueChange={setInput}
        aria-describedby={hintId}
        autoCapitalize="none"
        focusOnMount
      />
      <p className={styles.hint} id={hintId}>
        {t('contacts.searchHint')}
      </p>
      <div aria-live="polite">
        {search.status === 'searching' && <LoadingLine text={t('contacts.searching')} />}
        {search.status === 'failed' && <Alert kind="error">{search.message}</Alert>}
        {search.status === 'found' && <Results query={search.query} results={search.results} />}
      </div>
    </div>
  );
}

function Results({ query, results }: { query: string; results: readonly Person[] }) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const contacts = useAtomValue(contactsAtom).items;
  const offered = offeredPeople(results, query, { ownId, contactIds: new Set(contacts.map(({ id }) => id)) });
  if (offered.length === 0) {
    return (
      <EmptyState icon={<UserRoundSearch />}>
        <bdi>{t('contacts.noUsers', { query })}</bdi>
      </EmptyState>
    );
  }
  return (
    <ul className={people.list}>
      {offered.map((person) => (
        <li key={person.id}>
          <PersonRow person={person} detail={person.email} stacking>
            <AddContact person={person} />
          </PersonRow>
        </li>
      ))}
    </ul>
  );
}

function AddContact({ person }: { person: Person }) {
  const actions = useAtomValue(requiredActionsAtom);
  const asked = useAtomValue(outgoingRequestsAtom).items.some(({ to_user }) => to_user.id === person.id);
  const asks = useAtomValue(incomingRequestsAtom).items.some(({ from_user }) => from_user.id === person.id);
  const { running, run } = useAction();
  const note = useRef<HTMLSpanElement>(null);
  const added = useRef(false);
  // The list of requests may show this one before the call is over, or after.
  useEffect(() => {
    if (asked && added.current) catchLostFocus(note.current);
  }, [asked]);

  async function request() {
    const { success, message } = await actions.sendContactRequest(person.id);
    if (!success) throw new AppError('request-failed', message);
  }

  function add() {
    added.current = true;
    void run('request', request, {
      success: t('contacts.requestSent'),
      failure: t('contacts.requestFailed'),
    });
  }

  if (asked || asks) {
    return (
      <span className={people.note} ref={note} tabIndex={-1}>
        {asked ? t('contacts.requestPending') : t('contacts.asksYou')}
      </span>
    );
  }
  return (
    <Button size="small" variant="primary" busy={running !== null} onClick={add}>
      {t('contacts.addContact')}
    </Button>
  );
}
