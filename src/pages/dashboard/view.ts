/** A state of the dashboard: its tab, and the part that is open in it. */
export type DashboardView =
  | { readonly tab: 'messages'; readonly open: string | null }
  | { readonly tab: 'groups'; readonly open: string | null; readonly details: boolean }
  | { readonly tab: 'contacts'; readonly searching: boolean }
  | { readonly tab: 'profile' };

export type TabName = DashboardView['tab'];

/** The state of an entry in the browser's history: the dashboard has one address for all its views. */
export interface ViewEntry {
  /** User id of the dashboard's owner: the next person in this tab must not be led back into it. */
  readonly ownerId: string;
  readonly view: DashboardView;
  /** The part that going back closes, because the entry before is the same view without it. */
  readonly closable: 'nothing' | 'open' | 'details';
}

export const firstView: DashboardView = { tab: 'messages', open: null };

/** Parses the state of a history entry. Returns null for another person's or a malformed one: scripts can write it. */
export function parseViewEntry(state: unknown, ownerId: string): ViewEntry | null {
  if (!isRecord(state) || state.ownerId !== ownerId || !isRecord(state.view)) return null;
  const view = parseView(state.view);
  const { closable } = state;
  if (view === null || (closable !== 'nothing' && closable !== 'open' && closable !== 'details')) return null;
  return { ownerId, view, closable };
}

function parseView({ tab, open, details, searching }: Record<string, unknown>): DashboardView | null {
  const id = typeof open === 'string' && open !== '' ? open : null;
  switch (tab) {
    case 'messages':
      return { tab, open: id };
    case 'groups':
      return { tab, open: id, details: id !== null && details === true };
    case 'contacts':
      return { tab, searching: searching === true };
    case 'profile':
      return { tab };
    default:
      return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
