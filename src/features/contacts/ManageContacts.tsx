import { useAtomValue } from 'jotai';
import { UserRoundPlus } from 'lucide-react';
import {
  contactsAtom,
  contactsErrorAtom,
  incomingRequestsAtom,
  outgoingRequestsAtom,
} from '../../store/contacts.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { ContactGrid } from './ContactGrid.tsx';
import styles from './ContactsTab.module.css';
import { PersonRow } from './PersonRow.tsx';
import people from './people.module.css';
import { RequestList } from './RequestList.tsx';
import { contactTexts } from './texts.ts';

interface ManageContactsProps {
  onFindUsers: () => void;
  onMessage: (userId: string) => void;
}

export function ManageContacts({ onFindUsers, onMessage }: ManageContactsProps) {
  const contacts = useAtomValue(contactsAtom);
  const incoming = useAtomValue(incomingRequestsAtom);
  const outgoing = useAtomValue(outgoingRequestsAtom);
  const error = useAtomValue(contactsErrorAtom);

  return (
    <div className={styles.tab}>
      <div className={styles.head}>
        <h2 className={styles.title}>{contactTexts.title}</h2>
        <Button variant="primary" onClick={onFindUsers}>
          <UserRoundPlus size={18} aria-hidden="true" />
          {contactTexts.findUsers}
        </Button>
      </div>

      {error !== null && <Alert kind="error">{error}</Alert>}

      <section className={styles.section} aria-labelledby="contact-requests">
        <h3 className={styles.subtitle} id="contact-requests">
          {contactTexts.requests} <Badge count={incoming.items.length} meaning="pending" />
        </h3>
        {incoming.items.length > 0 ? (
          <RequestList requests={incoming.items} />
        ) : (
          <p className={styles.empty}>{contactTexts.noRequests}</p>
        )}
      </section>

      <section className={styles.section} aria-labelledby="my-contacts">
        <h3 className={styles.subtitle} id="my-contacts">
          {contactTexts.contacts}
        </h3>
        {contacts.items.length > 0 ? (
          <ContactGrid contacts={contacts.items} onMessage={onMessage} />
        ) : contacts.loading ? (
          <LoadingLine text={contactTexts.loading} />
        ) : (
          <p className={styles.empty}>{contactTexts.noContacts}</p>
        )}
      </section>

      {outgoing.items.length > 0 && (
        <section className={styles.section} aria-labelledby="sent-requests">
          <h3 className={styles.subtitle} id="sent-requests">
            {contactTexts.sentRequests}
          </h3>
          <ul className={people.grid}>
            {outgoing.items.map((request) => (
              <li key={request.id}>
                <PersonRow person={request.to_user} detail={contactTexts.waiting} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
