/** What the dashboard shows. */
export type DashboardView =
  | { readonly tab: 'messages'; readonly open: string | null }
  | { readonly tab: 'groups'; readonly open: string | null; readonly details: boolean }
  | { readonly tab: 'contacts'; readonly searching: boolean }
  | { readonly tab: 'profile' };

export type TabName = DashboardView['tab'];

/** What the history keeps of it, in the state of an entry: the dashboard has one address. */
export interface ViewEntry {
  /** Whose dashboard it was: the next person in this tab must not be led back into it. */
  readonly ownerId: string;
  readonly view: DashboardView;
  /** Whether going back closes what this entry has opened, because the same view without it is the entry before. */
  readonly closable: 'nothing' | 'open' | 'details';
}

export const firstView: DashboardView = { tab: 'messages', open: null };

/** The state of a history entry as this person's view, or null: the browser keeps it where others can write. */
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
