import { useAtomValue } from 'jotai';
import { withTexts } from '../../i18n/i18n.ts';
import { type Banner, bannerAtom } from '../../store/banners.ts';
import { onDemand } from '../../ui/onDemand.tsx';

const banners: ReadonlySet<Banner | null> = new Set<Banner>([
  'account-change',
  'older-vault',
  'older-state',
  'keys-renewed',
  'new-device',
]);

const AccountNotices = onDemand<{ open: boolean; onReview: () => void }>(
  async () => (await withTexts('tabs', import('./AccountNotices.tsx'))).AccountNotices,
);

/** Loads the banners about the account once there is one to show: most sessions show none. */
export function AccountNoticesOnDemand({ onReview }: { onReview: () => void }) {
  return <AccountNotices open={banners.has(useAtomValue(bannerAtom))} onReview={onReview} />;
}
