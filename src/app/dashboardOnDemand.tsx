import { chunk } from '../ui/chunk.tsx';

const dashboard = chunk(async () => {
  const page = await import('../pages/dashboard/DashboardPage.tsx');
  // A service worker has the parts at hand: load them before the first drawing, while nobody waits for that yet.
  if (navigator.serviceWorker?.controller) page.loadParts();
  return page;
});

export const loadDashboard = dashboard.load;
export const DashboardPage = dashboard.component((page) => page.DashboardPage);
