import { useSetAtom, useStore } from 'jotai';
import { askForContactSearchAtom, conversationRowsAtom } from '../../features/messages/atoms.ts';
import { useShortcuts } from '../../features/shortcuts/useShortcuts.ts';
import { groupsAtom } from '../../store/groups.ts';
import type { DashboardView, TabName } from './view.ts';

interface DashboardShortcuts {
  readonly view: DashboardView;
  readonly onTab: (tab: TabName) => void;
  readonly onOpenChat: (userId: string) => void;
  readonly onOpenGroup: (groupId: string) => void;
  /** Shows the list of the Messages tab. */
  readonly onShowConversations: () => void;
}

/** Keys that lead to a tab, to the chats above and below the open one, and to the search in contacts. */
export function useDashboardShortcuts(options: DashboardShortcuts): void {
  const store = useStore();
  const askForContactSearch = useSetAtom(askForContactSearchAtom);

  function openNeighbour(step: 1 | -1) {
    const { view } = options;
    if (view.tab === 'messages') {
      const rows = store.get(conversationRowsAtom).filter(({ notes }) => notes !== 'unused');
      const ids = rows.map(({ userId }) => userId);
      const id = neighbourOf(view.open, ids, step);
      if (id !== null) options.onOpenChat(id);
    } else if (view.tab === 'groups') {
      const ids = store.get(groupsAtom).items.map((group) => group.id);
      const id = neighbourOf(view.open, ids, step);
      if (id !== null) options.onOpenGroup(id);
    }
  }

  useShortcuts({
    messages: () => options.onTab('messages'),
    groups: () => options.onTab('groups'),
    contacts: () => options.onTab('contacts'),
    profile: () => options.onTab('profile'),
    previous: () => openNeighbour(-1),
    next: () => openNeighbour(1),
    search() {
      options.onShowConversations();
      askForContactSearch();
    },
  });
}

/** The id next to one in a list, or at the end from which one enters; null beyond the ends. */
function neighbourOf(id: string | null, ids: readonly string[], step: 1 | -1): string | null {
  const at = id === null ? -1 : ids.indexOf(id);
  if (at === -1) return ids.at(step === 1 ? 0 : -1) ?? null;
  return ids[at + step] ?? null;
}
