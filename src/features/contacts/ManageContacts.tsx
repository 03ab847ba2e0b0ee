import { useAtomValue } from 'jotai';
import { FileText, UserRoundPlus } from 'lucide-react';
import { useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { contactsAtom, incomingRequestsAtom, outgoingRequestsAtom } from '../../store/contacts.ts';
import { currentUserAtom } from '../../store/session.ts';
import { useLoadFailure } from '../../store/useLoadFailure.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { LoadFailure } from '../../ui/LoadFailure.tsx';
import { SkeletonRows } from '../../ui/SkeletonRows.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { VirtualList } from '../../ui/VirtualList.tsx';
import { ContactGrid } from './ContactGrid.tsx';
import styles from './ContactsTab.module.css';
import { cardColumns, idOf } from './cards.ts';
import { RequestList } from './RequestList.tsx';
import { SentRequest } from './SentRequest.tsx';

interface ManageContactsProps {
  onFindUsers: () => void;
  /** Opens the chat with a contact, or with oneself. */
  onMessage: (userId: string) => void;
}

/** Incoming requests, sent requests, and contacts (spec section 2): contacts last, as there can be thousands. */
export function ManageContacts({ onFindUsers, onMessage }: ManageContactsProps) {
  const contacts = useAtomValue(contactsAtom);
  const incoming = useAtomValue(incomingRequestsAtom);
  const outgoing = useAtomValue(outgoingRequestsAtom);
  const contactsFailure = useLoadFailure(contacts);
  const incomingFailure = useLoadFailure(incoming);
  const outgoingFailure = useLoadFailure(outgoing);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const requestsHeading = useRef<HTMLHeadingElement>(null);
  const contactsHeading = useRef<HTMLHeadingElement>(null);

  return (
    <div className={styles.tab}>
      <div className={styles.head}>
        <h2 className={styles.title}>{t('contacts.title')}</h2>
        <div className={styles.ways}>
          {ownId !== undefined && (
            <Button onClick={() => onMessage(ownId)}>
              <FileText size={18} aria-hidden="true" />
              {t('notes.title')}
            </Button>
          )}
          <Button variant="primary" onClick={onFindUsers}>
            <UserRoundPlus size={18} aria-hidden="true" />
            {t('contacts.findUsers')}
          </Button>
        </div>
      </div>

      <section className={styles.section} aria-labelledby="contact-requests">
        <h3 className={styles.subtitle} id="contact-requests" ref={requestsHeading} tabIndex={-1}>
          {t('contacts.requests')} <Badge count={incoming.items.length} meaning={t('contacts.pending')} />
        </h3>
        {incomingFailure && <LoadFailure {...incomingFailure} focusAfter={requestsHeading} />}
        <RequestList requests={incoming.items} heading={requestsHeading} />
        {incoming.items.length === 0 && incoming.loading && incomingFailure === null && (
          <LoadingLine text={t('contacts.loadingRequests')} />
        )}
        {incoming.items.length === 0 && incoming.loaded && (
          <p className={styles.empty}>{t('contacts.noRequests')}</p>
        )}
      </section>

      {(outgoing.items.length > 0 || outgoingFailure !== null) && (
        <section className={styles.section} aria-labelledby="sent-requests">
          <h3 className={styles.subtitle} id="sent-requests">
            {t('contacts.sentRequests')}
          </h3>
          {outgoingFailure && <LoadFailure {...outgoingFailure} focusAfter={contactsHeading} />}
          {outgoing.items.length > 0 && (
            <VirtualList items={outgoing.items} keyOf={idOf} {...cardColumns}>
              {({ to_user }, controls) => (
                <SentRequest
                  person={to_user}
                  controls={controls}
                  onWithdrawn={() => catchLostFocus(contactsHeading.current)}
                />
              )}
            </VirtualList>
          )}
        </section>
      )}

      <section className={styles.section} aria-labelledby="my-contacts">
        <h3 className={styles.subtitle} id="my-contacts" ref={contactsHeading} tabIndex={-1}>
          {t('contacts.myContacts')}
        </h3>
        {contactsFailure && <LoadFailure {...contactsFailure} focusAfter={contactsHeading} />}
        <ContactGrid contacts={contacts.items} onMessage={onMessage} heading={contactsHeading} />
        {contacts.items.length === 0 && contacts.loading && contactsFailure === null && (
          <SkeletonRows text={t('contacts.loading')} />
        )}
        {contacts.items.length === 0 && contacts.loaded && (
          <p className={styles.empty}>{t('contacts.empty')}</p>
        )}
      </section>
    </div>
  );
}
