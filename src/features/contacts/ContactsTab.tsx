import { FindUsers } from './FindUsers.tsx';
import { ManageContacts } from './ManageContacts.tsx';

export type ContactsView = 'management' | 'search';

interface ContactsTabProps {
  view: ContactsView;
  onViewChange: (view: ContactsView) => void;
  /** Opens the chat with a contact, or with oneself. */
  onMessage: (userId: string) => void;
}

export function ContactsTab({ view, onViewChange, onMessage }: ContactsTabProps) {
  return view === 'search' ? (
    <FindUsers onBack={() => onViewChange('management')} />
  ) : (
    <ManageContacts onFindUsers={() => onViewChange('search')} onMessage={onMessage} />
  );
}
