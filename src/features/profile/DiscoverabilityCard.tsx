import { onDemand } from '../../ui/onDemand.tsx';

const Discoverability = onDemand<{ id: string; open: boolean }>(
  async () => (await import('./Discoverability.tsx')).Discoverability,
);

/** The card on what others can find of one. Its code comes with the Profile tab, not with the dashboard. */
export function DiscoverabilityCard({ id }: { id: string }) {
  return <Discoverability id={id} open />;
}
