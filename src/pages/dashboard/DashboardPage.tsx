import { Tabs } from '@base-ui/react/tabs';
import { useAtomValue } from 'jotai';
import { CircleUserRound, Contact, MessageCircle, UsersRound } from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Attention } from '../../features/attention/Attention.tsx';
import { EmojiMemoryProvider } from '../../features/emoji/EmojiMemoryProvider.tsx';
import { MessageAnnouncer } from '../../features/messages/Announcer.tsx';
import { chatChunk } from '../../features/messages/chatChunk.ts';
import { MessagesTab } from '../../features/messages/MessagesTab.tsx';
import { RecoveryOffer } from '../../features/recovery/RecoveryOffer.tsx';
import { ConnectionBanner } from '../../features/session/ConnectionBanner.tsx';
import { UpdateBar } from '../../features/session/UpdateBar.tsx';
import { ariaKeys, isMac } from '../../features/shortcuts/keys.ts';
import { ShortcutsHelpOnDemand } from '../../features/shortcuts/ShortcutsHelpOnDemand.tsx';
import { VerifiedMark } from '../../features/trust/Verification.tsx';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t, withTexts } from '../../i18n/i18n.ts';
import { operator } from '../../operator/index.ts';
import { groupIdOfKey, unreadTotalAtom } from '../../store/chats.ts';
import { incomingRequestsAtom } from '../../store/contacts.ts';
import { groupUnreadTotalAtom } from '../../store/groups.ts';
import { currentUserAtom } from '../../store/session.ts';
import { afterPaint } from '../../ui/afterPaint.ts';
import { Badge } from '../../ui/Badge.tsx';
import { chunk } from '../../ui/chunk.tsx';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import { mainId, SkipLink } from '../../ui/SkipLink.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { AccountNoticesOnDemand } from './AccountNoticesOnDemand.tsx';
import { DashboardHeader } from './DashboardHeader.tsx';
import styles from './DashboardPage.module.css';
import { groupNotices } from './GroupIdentityNotices.tsx';
import { useChatVerification } from './useChatVerification.tsx';
import { useDashboardShortcuts } from './useDashboardShortcuts.ts';
import { useDashboardView } from './useDashboardView.ts';
import type { DashboardView, TabName } from './view.ts';

const tabNames: readonly TabName[] = ['messages', 'groups', 'contacts', 'profile'];

const tabLooks = {
  messages: { label: 'dashboard.messages', icon: MessageCircle, counted: 'dashboard.unreadMessages' },
  groups: { label: 'dashboard.groups', icon: UsersRound, counted: 'dashboard.unreadGroupMessages' },
  contacts: { label: 'dashboard.contacts', icon: Contact, counted: 'dashboard.pendingRequests' },
  profile: { label: 'dashboard.profile', icon: CircleUserRound, counted: null },
} as const satisfies Record<TabName, { label: MessageId; icon: unknown; counted: MessageId | null }>;

// The first tab comes with the page; the other parts follow as soon as the page is there.
const tabs = chunk(() => withTexts('tabs', import('./tabs.ts')));
const GroupsTab = tabs.component(({ GroupsTab }) => GroupsTab);
const ContactsTab = tabs.component(({ ContactsTab }) => ContactsTab);
const ProfilePanel = tabs.component(({ ProfilePanel }) => ProfilePanel);

/** Loads the other parts of the dashboard. Drops failures: a part that is opened asks for its chunk again. */
export function loadParts(): void {
  for (const { load } of [chatChunk, tabs]) load().catch(() => undefined);
}

export function DashboardPage() {
  const user = useAtomValue(currentUserAtom);
  return user === null ? null : (
    <EmojiMemoryProvider>
      <Dashboard userId={user.id} />
    </EmojiMemoryProvider>
  );
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
  const label = t(tabLooks[view.tab].label);
  const unread = counts.messages + counts.groups;
  usePageTitle(unread > 0 ? `(${unread}) ${label}` : label);

  useEffect(() => afterPaint(loadParts), []);

  const peer = view.tab === 'messages' && view.open !== userId ? view.open : null;
  const verification = useChatVerification(peer);
  const hasOpen = (view.tab === 'messages' || view.tab === 'groups') && view.open !== null;

  function selectTab(tab: TabName) {
    setFocusRequest(0);
    replace(viewOfTab(tab, wide ? lastOpen.current : closedTabs));
  }

  /** Opens a conversation. Going back closes it, or returns to the tab from which it was opened. */
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
  const openGroup = (id: string) => open({ tab: 'groups', open: id, details: false });

  useDashboardShortcuts({
    view,
    onTab(tab) {
      selectTab(tab);
      // The element that had the focus goes with its panel.
      document.getElementById(tabId(tab))?.focus();
    },
    onOpenChat: openChat,
    onOpenGroup: openGroup,
    onShowConversations() {
      if (view.tab !== 'messages') selectTab('messages');
      else if (!wide && view.open !== null) close('open', { tab: 'messages', open: null });
    },
  });

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
            <UpdateBar />
            <PartBoundary part="account notices">
              <AccountNoticesOnDemand onReview={() => selectTab('profile')} />
            </PartBoundary>
            <RecoveryOffer />
          </div>
        </header>
        <nav className={styles.nav} aria-label={t('dashboard.sections')}>
          <Tabs.List className={styles.tabs} activateOnFocus>
            {tabNames.map((name) => {
              const { label, icon: Icon, counted } = tabLooks[name];
              const count = counts[name];
              return (
                <Tabs.Tab
                  key={name}
                  id={tabId(name)}
                  value={name}
                  className={styles.tab}
                  aria-keyshortcuts={ariaKeys(name, isMac())}
                  onClick={name === 'contacts' ? closeSearch : undefined}
                >
                  <Icon aria-hidden="true" />
                  {t(label)}
                  <span className={styles.count}>
                    {counted !== null && <Badge count={count} meaning={t(counted, { count })} />}
                  </span>
                </Tabs.Tab>
              );
            })}
          </Tabs.List>
        </nav>
        <main className={styles.main} id={mainId} tabIndex={-1}>
          <VisuallyHidden as="h1">{operator.productName}</VisuallyHidden>
          <Panel tab="messages" part="messages-tab">
            <MessagesTab
              open={view.tab === 'messages' ? view.open : null}
              focusRequest={focusRequest}
              onOpen={openChat}
              onClose={() => close('open', { tab: 'messages', open: null })}
              onFindContacts={() => push({ tab: 'contacts', searching: true }, 'nothing')}
              verification={verification}
              markOf={markOf}
            />
          </Panel>
          <Panel tab="groups" part="groups-tab">
            <GroupsTab
              open={view.tab === 'groups' ? view.open : null}
              details={view.tab === 'groups' && view.details}
              focusRequest={focusRequest}
              noticeOf={groupNotices}
              onOpen={openGroup}
              onClose={() => close('open', { tab: 'groups', open: null, details: false })}
              onDetailsChange={(details, { asPage }) => {
                if (view.tab !== 'groups') return;
                const next = { ...view, details };
                if (!details) close('details', next);
                else if (asPage) push(next, 'details');
                else replace(next);
              }}
            />
          </Panel>
          <Panel tab="contacts" part="contacts-tab">
            <ContactsTab
              view={view.tab === 'contacts' && view.searching ? 'search' : 'management'}
              onViewChange={(next) => {
                if (next === 'search') push({ tab: 'contacts', searching: true }, 'open');
                else closeSearch();
              }}
              onMessage={openChat}
            />
          </Panel>
          <Panel tab="profile" part="profile-tab">
            <ProfilePanel
              onOpenConversation={(key) => {
                const groupId = groupIdOfKey(key);
                if (groupId === null) openChat(key);
                else openGroup(groupId);
              }}
            />
          </Panel>
        </main>
      </Tabs.Root>
      <MessageAnnouncer />
      <Attention onOpenChat={openChat} onOpenGroup={openGroup} />
      <ShortcutsHelpOnDemand />
    </>
  );
}

function Panel({ tab, part, children }: { tab: TabName; part: string; children: ReactNode }) {
  return (
    <Tabs.Panel value={tab} className={styles.panel}>
      <PartBoundary part={part}>
        <Suspense fallback={<LoadingLine text={t('app.loading')} />}>{children}</Suspense>
      </PartBoundary>
    </Tabs.Panel>
  );
}

function tabId(tab: TabName): string {
  return `tab-${tab}`;
}

function markOf(userId: string) {
  return <VerifiedMark userId={userId} />;
}

interface OpenOnes {
  readonly messages: string | null;
  readonly groups: string | null;
}

const closedTabs: OpenOnes = { messages: null, groups: null };

/** Remembers what was open in each tab when it was left: a wide screen shows it again when the person returns. */
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
