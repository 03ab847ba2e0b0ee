import { chunk } from '../ui/chunk.tsx';

const dashboard = chunk(async () => {
  const page = await import('../pages/dashboard/DashboardPage.tsx');
  // What the browser keeps need not wait for the first drawing, in which it would be read: nobody waits for it yet.
  if (navigator.serviceWorker?.controller) page.loadParts();
  return page;
});

export const loadDashboard = dashboard.load;
export const DashboardPage = dashboard.component((page) => page.DashboardPage);
