import { useAtomValue } from 'jotai';
import { withTexts } from '../../i18n/i18n.ts';
import { otherNamesAtom } from '../../store/names.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import type { IdentityNoticeProps } from './IdentityNotice.tsx';
import { useTrust } from './useTrust.ts';

const IdentityNotice = onDemand<IdentityNoticeProps & { open: boolean }>(
  async () => (await withTexts('tabs', import('./IdentityNotice.tsx'))).IdentityNotice,
);

/** Loads what is said above a chat about the other person's identity once there is anything to say. */
export function IdentityNoticeOnDemand(props: IdentityNoticeProps) {
  const { keyOffered } = useTrust(props.userId);
  const hasOtherName = useAtomValue(otherNamesAtom).has(props.userId);
  return <IdentityNotice {...props} open={keyOffered || hasOtherName} />;
}
