import { Tabs } from '@base-ui/react/tabs';
import { useAtomValue } from 'jotai';
import { MessageCircle, CircleUserRound, Contact, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { ContactsTab, type ContactsView } from '../../features/contacts/ContactsTab.tsx';
import { GroupsTab } from '../../features/groups/GroupsTab.tsx';
import { MessageAnnouncer } from '../../features/messages/Announcer.tsx';
import { MessagesTab } from '../../features/messages/MessagesTab.tsx';
import { ProfileTab } from '../../features/profile/ProfileTab.tsx';
import { ConnectionBanner } from '../../features/session/ConnectionBanner.tsx';
import { activeChatAtom, unreadTotalAtom } from '../../store/chats.ts';
import { incomingRequestsAtom } from '../../store/contacts.ts';
import { Badge } from '../../ui/Badge.tsx';
import { mainId, SkipLink } from '../../ui/SkipLink.tsx';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { DashboardHeader } from './DashboardHeader.tsx';
import styles from './DashboardPage.module.css';

type TabName = 'messages' | 'groups' | 'contacts' | 'profile';

const tabNames: readonly TabName[] = ['messages', 'groups', 'contacts', 'profile'];

const tabLooks = {
  messages: { label: 'Messages', icon: MessageCircle, meaning: 'unread messages' },
  groups: { label: 'Groups', icon: UsersRound, meaning: '' },
  contacts: { label: 'Contacts', icon: Contact, meaning: 'pending contact requests' },
  profile: { label: 'Profile', icon: CircleUserRound, meaning: '' },
} as const;

export function DashboardPage() {
  const [tab, setTab] = useState<TabName>('messages');
  const [contactsView, setContactsView] = useState<ContactsView>('management');
  const [requestedChat, setRequestedChat] = useState<string | null>(null);
  const unread = useAtomValue(unreadTotalAtom);
  const pending = useAtomValue(incomingRequestsAtom).items.length;
  const chatOpen = useAtomValue(activeChatAtom) !== null && tab === 'messages';
  const wide = useMediaQuery(wideScreen);
  usePageTitle(unread > 0 ? `(${unread}) ${tabLooks[tab].label}` : tabLooks[tab].label);

  const counts: Record<TabName, number> = { messages: unread, groups: 0, contacts: pending, profile: 0 };

  function show(next: TabName) {
    setRequestedChat(null);
    setTab(next);
  }

  return (
    <>
      <SkipLink />
      <Tabs.Root
        className={styles.shell}
        data-chat={chatOpen ? 'open' : 'none'}
        value={tab}
        onValueChange={(value: TabName) => show(value)}
        orientation={wide ? 'vertical' : 'horizontal'}
      >
        <header className={styles.header}>
          <DashboardHeader />
          <div className={styles.banner}>
            <ConnectionBanner />
          </div>
        </header>
        <nav className={styles.nav} aria-label="Sections">
          <Tabs.List className={styles.tabs} activateOnFocus>
            {tabNames.map((name) => {
              const { label, icon: Icon, meaning } = tabLooks[name];
              return (
                <Tabs.Tab key={name} value={name} className={styles.tab}>
                  <Icon aria-hidden="true" />
                  {label}
                  <span className={styles.count}>
                    <Badge count={counts[name]} meaning={meaning} />
                  </span>
                </Tabs.Tab>
              );
            })}
          </Tabs.List>
        </nav>
        <main className={styles.main} id={mainId} tabIndex={-1}>
          <VisuallyHidden as="h1">Sinetti</VisuallyHidden>
          <Tabs.Panel value="messages" className={styles.panel}>
            <MessagesTab
              initialChat={requestedChat}
              onFindContacts={() => {
                setContactsView('search');
                show('contacts');
              }}
            />
          </Tabs.Panel>
          <Tabs.Panel value="groups" className={styles.panel}>
            <GroupsTab />
          </Tabs.Panel>
          <Tabs.Panel value="contacts" className={styles.panel}>
            <ContactsTab
              view={contactsView}
              onViewChange={setContactsView}
              onMessage={(userId) => {
                setTab('messages');
                setRequestedChat(userId);
              }}
            />
          </Tabs.Panel>
          <Tabs.Panel value="profile" className={styles.panel}>
            <ProfileTab />
          </Tabs.Panel>
        </main>
      </Tabs.Root>
      <MessageAnnouncer />
    </>
  );
}
