import { AccountChangeNotice } from '../../features/accountChanges/AccountChangeNotice.tsx';
import { NewDeviceNotice } from '../../features/devices/NewDeviceNotice.tsx';
import { KeyRenewalNotice } from '../../features/keyRenewal/KeyRenewalNotice.tsx';
import { OlderStateNotice } from '../../features/keyRenewal/OlderStateNotice.tsx';
import { OlderVaultNotice } from '../../features/keyRenewal/OlderVaultNotice.tsx';

/** The banners about the person's account and devices, of which one at most is shown. */
export function AccountNotices({ onReview }: { onReview: () => void }) {
  return (
    <>
      <AccountChangeNotice onReview={onReview} />
      <OlderVaultNotice />
      <OlderStateNotice />
      <KeyRenewalNotice />
      <NewDeviceNotice onReview={onReview} />
    </>
  );
}
