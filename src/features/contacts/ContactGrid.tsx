import { useAtomValue } from 'jotai';
import { Ellipsis, TriangleAlert, UserRoundMinus } from 'lucide-react';
import { type RefObject, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { isOnlineAtom } from '../../store/connection.ts';
import type { Person } from '../../store/contacts.ts';
import { displayName } from '../../store/people.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Menu } from '../../ui/Menu.tsx';
import { type RowControls, VirtualList } from '../../ui/VirtualList.tsx';
import { presenceText } from '../conversation/presenceText.ts';
import { BlockDialog } from './BlockDialog.tsx';
import { cardColumns, idOf } from './cards.ts';
import { PersonRow } from './PersonRow.tsx';
import { ReportDialog } from './ReportDialog.tsx';
import { useAction } from './useAction.ts';

interface ContactGridProps {
  contacts: readonly Person[];
  onMessage: (userId: string) => void;
  /** Gets the focus when a contact has been removed, because the pressed button is gone then. */
  heading: RefObject<HTMLElement | null>;
}

/** Stays when the last contact has gone, because its dialog has yet to return the focus. */
export function ContactGrid({ contacts, onMessage, heading }: ContactGridProps) {
  const actions = useAtomValue(requiredActionsAtom);
  /** The person in the dialog; the name stays while the dialog closes. */
  const [asked, setAsked] = useState<Person | null>(null);
  const [asking, setAsking] = useState(false);
  const [blocking, setBlocking] = useState<{ person: Person; open: boolean } | null>(null);
  const [reporting, setReporting] = useState<{ person: Person; open: boolean } | null>(null);
  const { running, run } = useAction();

  async function remove(userId: string) {
    await run('remove', () => actions.removeContact(userId), { failure: t('contacts.removeFailed') });
    setAsking(false);
  }

  return (
    <>
      {contacts.length > 0 && (
        <VirtualList items={contacts} keyOf={idOf} {...cardColumns}>
          {(contact, controls) => (
            <ContactCard
              contact={contact}
              controls={controls}
              onMessage={onMessage}
              onRemove={() => {
                setAsked(contact);
                setAsking(true);
              }}
              onBlock={() => setBlocking({ person: contact, open: true })}
              onReport={() => setReporting({ person: contact, open: true })}
            />
          )}
        </VirtualList>
      )}
      {blocking !== null && (
        <BlockDialog
          person={blocking.person}
          open={blocking.open}
          onOpenChange={(open) => setBlocking({ ...blocking, open })}
          returnFocusTo={() => null}
        />
      )}
      {reporting !== null && (
        <ReportDialog
          key={reporting.person.id}
          person={reporting.person}
          open={reporting.open}
          onOpenChange={(open) => setReporting({ ...reporting, open })}
        />
      )}
      {asked !== null && (
        <ConfirmDialog
          open={asking}
          onOpenChange={setAsking}
          title={t('contacts.removeTitle')}
          confirmLabel={t('contacts.removeConfirm')}
          busy={running !== null}
          onConfirm={() => void remove(asked.id)}
          returnFocusTo={() => (contacts.some(({ id }) => id === asked.id) ? null : heading.current)}
        >
          <p>
            <RichText id="contacts.removeBody" parts={{ name: <bdi>{displayName(asked)}</bdi> }} />
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface ContactCardProps {
  contact: Person;
  controls: RowControls;
  onMessage: (userId: string) => void;
  onRemove: () => void;
  onBlock: () => void;
  onReport: () => void;
}

function ContactCard({ contact, controls, onMessage, onRemove, onBlock, onReport }: ContactCardProps) {
  const online = useAtomValue(isOnlineAtom)(contact.id);
  return (
    <PersonRow person={contact} detail={presenceText(online)} online={online}>
      <Button size="small" {...controls} onClick={() => onMessage(contact.id)}>
        {t('contacts.message')}
      </Button>
      <Menu
        label={t('contacts.more', { name: displayName(contact) })}
        icon={<Ellipsis />}
        {...controls}
        entries={[
          { label: t('blocks.block'), icon: <UserRoundMinus />, danger: true, onSelect: onBlock },
          { label: t('reports.report'), icon: <TriangleAlert />, danger: true, onSelect: onReport },
          {
            label: t('contacts.remove'),
            icon: <UserRoundMinus />,
            danger: true,
            onSelect: onRemove,
          },
        ]}
      />
    </PersonRow>
  );
}
