import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { type DashboardView, firstView, parseViewEntry, type ViewEntry } from './view.ts';

/**
 * The view lives in the browser's history: opening something adds an entry, so that going back closes it instead of
 * leaving the dashboard; everything else replaces the entry. A reload keeps the view.
 */
export function useDashboardView(ownerId: string) {
  const location = useLocation();
  const navigate = useNavigate();
  const entry = parseViewEntry(location.state, ownerId);
  const view = entry?.view ?? firstView;
  const closable = entry?.closable ?? 'nothing';

  /** The entry that is being left: going back takes a moment, in which a second call must do nothing. */
  const leaving = useRef<string | null>(null);
  useEffect(() => {
    if (leaving.current !== location.key) leaving.current = null;
  }, [location.key]);

  function go(next: ViewEntry, replace: boolean): void {
    void navigate(paths.dashboard, { state: next, replace });
  }

  /** Shows another view in place of this one. */
  function replace(next: DashboardView): void {
    const keeps = next.tab === view.tab && isOpen(next);
    go({ ownerId, view: next, closable: keeps ? closable : 'nothing' }, true);
  }

  /** Shows another view; going back returns to this one. `opened` names the part that only the other view shows. */
  function push(next: DashboardView, opened: ViewEntry['closable']): void {
    go({ ownerId, view: next, closable: opened }, false);
  }

  /** Closes the open part, as going back does: `closed` is the same view without it. */
  function close(opened: 'open' | 'details', closed: DashboardView): void {
    if (closable !== opened) return replace(closed);
    if (leaving.current === location.key) return;
    leaving.current = location.key;
    void navigate(-1);
  }

  return { view, replace, push, close };
}

function isOpen(view: DashboardView): boolean {
  if (view.tab === 'contacts') return view.searching;
  return view.tab !== 'profile' && view.open !== null;
}
