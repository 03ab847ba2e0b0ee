import { ShieldAlert, ShieldCheck, ShieldQuestion } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { SafetyNumber } from './SafetyNumber.tsx';
import { useTrust } from './useTrust.ts';
import styles from './Verification.module.css';

/** Shows in a chat's header how certain the other person's identity is, and opens the comparison. */
export function Verification({ userId, name }: { userId: string; name: string }) {
  const { keyOffered, verifiedAt } = useTrust(userId);
  const [open, setOpen] = useState(false);
  const isVerified = verifiedAt !== null && !keyOffered;
  const Icon = keyOffered ? ShieldAlert : isVerified ? ShieldCheck : ShieldQuestion;
  const label = t(keyOffered ? 'trust.badge.changed' : isVerified ? 'trust.badge.verified' : 'trust.verify');
  return (
    <>
      <span className={styles.button} data-state={keyOffered ? 'changed' : isVerified ? 'verified' : 'open'}>
        <Button
          variant="quiet"
          aria-haspopup="dialog"
          title={label}
          aria-label={isVerified || keyOffered ? label : t('trust.verify.named', { name })}
          onClick={() => setOpen(true)}
        >
          <Icon size={20} aria-hidden="true" />
          <span className={styles.label}>{label}</span>
        </Button>
      </span>
      <SafetyNumber userId={userId} name={name} open={open} onOpenChange={setOpen} />
    </>
  );
}

/** The mark of a verified person beside the name in a list. */
export function VerifiedMark({ userId }: { userId: string }) {
  const { keyOffered, verifiedAt } = useTrust(userId);
  if (!keyOffered && verifiedAt === null) return null;
  const Icon = keyOffered ? ShieldAlert : ShieldCheck;
  return (
    <span className={styles.mark} data-state={keyOffered ? 'changed' : 'verified'}>
      <Icon size={16} aria-hidden="true" />
      <VisuallyHidden>{t(keyOffered ? 'trust.badge.changed' : 'trust.badge.verified')}</VisuallyHidden>
    </span>
  );
}
