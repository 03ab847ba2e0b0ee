import { useAtomValue } from 'jotai';
import { ArrowLeft, UserRoundSearch } from 'lucide-react';
import { useId, useState } from 'react';
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
import { SearchInput } from '../../ui/SearchInput.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import styles from './ContactsTab.module.css';
import { PersonRow } from './PersonRow.tsx';
import people from './people.module.css';
import { offeredPeople } from './search.ts';
import { contactTexts } from './texts.ts';
import { useAction } from './useAction.ts';
import { useUserSearch } from './useUserSearch.ts';

export function FindUsers({ onBack }: { onBack: () => void }) {
  const [input, setInput] = useState('');
  const search = useUserSearch(input);
  const hintId = useId();

  return (
    <div className={`${styles.tab} ${styles.narrow}`}>
      <div className={styles.head}>
        <h2 className={styles.title}>{contactTexts.findUsers}</h2>
        <Button variant="quiet" onClick={onBack}>
          <ArrowLeft size={18} aria-hidden="true" />
          {contactTexts.backToContacts}
        </Button>
      </div>
      <SearchInput
        label={contactTexts.searchLabel}
        placeholder={contactTexts.searchPlaceholder}
        value={input}
        onValueChange={setInput}
        aria-describedby={hintId}
        autoCapitalize="none"
        focusOnMount
      />
      <p className={styles.hint} id={hintId}>
        {contactTexts.searchHint}
      </p>
      <div aria-live="polite">
        {search.status === 'searching' && <LoadingLine text={contactTexts.searching} />}
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
        <bdi>{contactTexts.noUsers(query)}</bdi>
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

  async function send() {
    const { success, message } = await actions.sendContactRequest(person.id);
    if (!success) throw new AppError('request-failed', message);
  }

  if (asked) return <span className={people.note}>{contactTexts.requestPending}</span>;
  if (asks) return <span className={people.note}>{contactTexts.requestReceived}</span>;
  return (
    <Button
      size="small"
      variant="primary"
      busy={running !== null}
      onClick={() =>
        void run('request', send, { success: contactTexts.requestSent, failure: contactTexts.requestFailed })
      }
    >
      {contactTexts.addContact}
    </Button>
  );
}
