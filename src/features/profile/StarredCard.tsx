import { onDemand } from '../../ui/onDemand.tsx';
import type { StarredProps } from './Starred.tsx';

const Starred = onDemand<StarredProps & { open: boolean }>(
  async () => (await import('./Starred.tsx')).Starred,
);

/** The card of starred messages. Its code comes with the Profile tab, not with the dashboard. */
export function StarredCard(props: StarredProps) {
  return <Starred {...props} open />;
}
