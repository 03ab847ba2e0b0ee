import { type ComponentType, lazy, useState } from 'react';

let loaded: ComponentType | null = null;

export async function loadDashboard(): Promise<ComponentType> {
  const { DashboardPage, loadParts } = await import('../pages/dashboard/DashboardPage.tsx');
  // What the browser keeps need not wait for the first drawing, in which it would be read: nobody waits for it yet.
  if (navigator.serviceWorker?.controller) loadParts();
  loaded = DashboardPage;
  return DashboardPage;
}

const LoadedNow = lazy(async () => ({ default: await loadDashboard() }));

/**
 * The dashboard, a chunk of its own. Once that is there it is drawn at once: lazy() would show the fallback of its
 * boundary for a moment all the same, and React keeps one that it has shown for 300 ms.
 */
export function DashboardPage() {
  const [Page] = useState(() => loaded ?? LoadedNow);
  return <Page />;
}
