import { onDemand } from '../../ui/onDemand.tsx';

const AskedFirst = onDemand<{ id: string; open: boolean }>(
  async () => (await import('./AskedFirst.tsx')).AskedFirst,
);

/** The card on being put into groups. Its code comes with the Profile tab, not with the dashboard. */
export function AskedFirstCard({ id }: { id: string }) {
  return <AskedFirst id={id} open />;
}
