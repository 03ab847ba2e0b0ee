import { useAtomValue } from 'jotai';
import { Ellipsis, UserRoundMinus } from 'lucide-react';
import { useState } from 'react';
import { displayName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { presenceAtom } from '../../store/connection.ts';
import type { Person } from '../../store/contacts.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Menu } from '../../ui/Menu.tsx';
import { presenceText } from '../../ui/Presence.tsx';
import { PersonRow } from './PersonRow.tsx';
import styles from './people.module.css';
import { contactTexts } from './texts.ts';
import { useAction } from './useAction.ts';

interface ContactGridProps {
  contacts: readonly Person[];
  onMessage: (userId: string) => void;
}

export function ContactGrid({ contacts, onMessage }: ContactGridProps) {
  return (
    <ul className={styles.grid}>
      {contacts.map((contact) => (
        <li key={contact.id}>
          <ContactCard contact={contact} onMessage={onMessage} />
        </li>
      ))}
    </ul>
  );
}

function ContactCard({ contact, onMessage }: { contact: Person; onMessage: (userId: string) => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const online = useAtomValue(presenceAtom)[contact.id] === true;
  const [asking, setAsking] = useState(false);
  const { running, run } = useAction();
  const name = displayName(contact);

  async function remove() {
    await run('remove', () => actions.removeContact(contact.id), { failure: contactTexts.removeFailed });
    setAsking(false);
  }

  return (
    <PersonRow person={contact} detail={presenceText(online)} online={online}>
      <Button size="small" onClick={() => onMessage(contact.id)}>
        {contactTexts.message}
      </Button>
      <Menu
        label={contactTexts.more(name)}
        icon={<Ellipsis />}
        entries={[
          {
            label: contactTexts.remove,
            icon: <UserRoundMinus />,
            danger: true,
            onSelect: () => setAsking(true),
          },
        ]}
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={contactTexts.removeTitle}
        confirmLabel={contactTexts.removeConfirm}
        busy={running !== null}
        onConfirm={() => void remove()}
      >
        <p>
          You and <bdi>{name}</bdi> will no longer be able to write to each other. Messages already here stay
          in this browser.
        </p>
      </ConfirmDialog>
    </PersonRow>
  );
}
