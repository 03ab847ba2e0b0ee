import { Tabs } from '@base-ui/react/tabs';
import { useAtomValue } from 'jotai';
import { CircleUserRound, Contact, MessageCircle, UsersRound } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { ContactsTab } from '../../features/contacts/ContactsTab.tsx';
import { GroupsTab } from '../../features/groups/GroupsTab.tsx';
import { MessageAnnouncer } from '../../features/messages/Announcer.tsx';
import { MessagesTab } from '../../features/messages/MessagesTab.tsx';
import { ProfileTab } from '../../features/profile/ProfileTab.tsx';
import { ConnectionBanner } from '../../features/session/ConnectionBanner.tsx';
import { unreadTotalAtom } from '../../store/chats.ts';
import { incomingRequestsAtom } from '../../store/contacts.ts';
import { groupUnreadTotalAtom } from '../../store/groups.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Badge } from '../../ui/Badge.tsx';
import { mainId, SkipLink } from '../../ui/SkipLink.tsx';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { DashboardHeader } from './DashboardHeader.tsx';
import styles from './DashboardPage.module.css';
import { useDashboardView } from './useDashboardView.ts';
import type { DashboardView, TabName } from './view.ts';

const tabNames: readonly TabName[] = ['messages', 'groups', 'contacts', 'profile'];

const tabLooks = {
  messages: { label: 'Messages', icon: MessageCircle, meaning: 'unread messages' },
  groups: { label: 'Groups', icon: UsersRound, meaning: 'unread group messages' },
  contacts: { label: 'Contacts', icon: Contact, meaning: 'pending contact requests' },
  profile: { label: 'Profile', icon: CircleUserRound, meaning: '' },
} as const;

export function DashboardPage() {
  const user = useAtomValue(currentUserAtom);
  return user === null ? null : <Dashboard userId={user.id} />;
}

function Dashboard({ userId }: { userId: string }) {
  const { view, replace, push, close } = useDashboardView(userId);
  const lastOpen = useLastOpen(view);
  const [focusRequest, setFocusRequest] = useState(0);
  const wide = useMediaQuery(wideScreen);
  const counts: Record<TabName, number> = {
    messages: useAtomValue(unreadTotalAtom),
    groups: useAtomValue(groupUnreadTotalAtom),
    contacts: useAtomValue(incomingRequestsAtom).items.length,
    profile: 0,
  };
  const { label } = tabLooks[view.tab];
  const unread = counts.messages + counts.groups;
  usePageTitle(unread > 0 ? `(${unread}) ${label}` : label);

  const hasOpen = (view.tab === 'messages' || view.tab === 'groups') && view.open !== null;

  function selectTab(tab: TabName) {
    setFocusRequest(0);
    replace(viewOfTab(tab, wide ? lastOpen.current : closedTabs));
  }

  /** From a list beside which it opens; from elsewhere, so that going back returns there. */
  function open(next: Extract<DashboardView, { open: string | null }>) {
    setFocusRequest((count) => count + 1);
    if (view.tab !== next.tab) push(next, 'nothing');
    else if (view.open === null) push(next, 'open');
    else if (view.open !== next.open) replace(next);
  }

  function closeSearch() {
    if (view.tab === 'contacts' && view.searching) close('open', { tab: 'contacts', searching: false });
  }

  const openChat = (id: string) => open({ tab: 'messages', open: id });

  return (
    <>
      <SkipLink />
      <Tabs.Root
        className={styles.shell}
        data-chat={hasOpen ? 'open' : 'none'}
        value={view.tab}
        onValueChange={(value: TabName) => selectTab(value)}
        orientation={wide ? 'vertical' : 'horizontal'}
      >
        <header className={styles.header}>
          <DashboardHeader
            onOpenChat={openChat}
            onOpenContacts={() => {
              if (view.tab === 'contacts') closeSearch();
              else push({ tab: 'contacts', searching: false }, 'nothing');
            }}
          />
          <div className={styles.banner}>
            <ConnectionBanner />
          </div>
        </header>
        <nav className={styles.nav} aria-label="Sections">
          <Tabs.List className={styles.tabs} activateOnFocus>
            {tabNames.map((name) => {
              const { label, icon: Icon, meaning } = tabLooks[name];
              return (
                <Tabs.Tab
                  key={name}
                  value={name}
                  className={styles.tab}
                  onClick={name === 'contacts' ? closeSearch : undefined}
                >
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
              open={view.tab === 'messages' ? view.open : null}
              focusRequest={focusRequest}
              onOpen={openChat}
              onClose={() => close('open', { tab: 'messages', open: null })}
              onFindContacts={() => push({ tab: 'contacts', searching: true }, 'nothing')}
            />
          </Tabs.Panel>
          <Tabs.Panel value="groups" className={styles.panel}>
            <GroupsTab
              open={view.tab === 'groups' ? view.open : null}
              details={view.tab === 'groups' && view.details}
              focusRequest={focusRequest}
              onOpen={(id) => open({ tab: 'groups', open: id, details: false })}
              onClose={() => close('open', { tab: 'groups', open: null, details: false })}
              onDetailsChange={(details, { asPage }) => {
                if (view.tab !== 'groups') return;
                const next = { ...view, details };
                if (!details) close('details', next);
                else if (asPage) push(next, 'details');
                else replace(next);
              }}
            />
          </Tabs.Panel>
          <Tabs.Panel value="contacts" className={styles.panel}>
            <ContactsTab
              view={view.tab === 'contacts' && view.searching ? 'search' : 'management'}
              onViewChange={(next) => {
                if (next === 'search') push({ tab: 'contacts', searching: true }, 'open');
                else closeSearch();
              }}
              onMessage={openChat}
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

interface OpenOnes {
  readonly messages: string | null;
  readonly groups: string | null;
}

const closedTabs: OpenOnes = { messages: null, groups: null };

/** What was open in each tab when it was left: on a wide screen it is there again when the person returns. */
function useLastOpen(view: DashboardView) {
  const last = useRef(closedTabs);
  useEffect(() => {
    if (view.tab === 'messages' || view.tab === 'groups') {
      last.current = { ...last.current, [view.tab]: view.open };
    }
  }, [view]);
  return last;
}

function viewOfTab(tab: TabName, open: OpenOnes): DashboardView {
  const views = {
    messages: { tab: 'messages', open: open.messages },
    groups: { tab: 'groups', open: open.groups, details: false },
    contacts: { tab: 'contacts', searching: false },
    profile: { tab: 'profile' },
  } as const satisfies Record<TabName, DashboardView>;
  return views[tab];
}
