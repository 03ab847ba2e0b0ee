import { Meter } from '@base-ui/react/meter';
import { useDeferredValue } from 'react';
import { t } from '../i18n/i18n.ts';
import type { PasswordRating, ratePassword } from '../lib/passwordRating.ts';
import { useOnDemand } from './onDemand.tsx';
import styles from './PasswordStrength.module.css';

type Rate = (...password: Parameters<typeof ratePassword>) => PasswordRating | null;

/** Its dictionaries weigh more than the page. Without them, offline say, there is no advice and everything else works. */
const loadRating = (): Promise<Rate> =>
  import('../lib/passwordRating.ts').then(
    (rating): Rate => rating.ratePassword,
    () => () => null,
  );

const levels = ['weak', 'fair', 'strong'] as const;

interface PasswordStrengthProps {
  password: string;
  /** The words that a guesser would try first: the person's names. */
  personal?: readonly string[];
}

/** Says how easily a new password can be guessed, and shows it; it forbids nothing. */
export function PasswordStrength({ password, personal = [] }: PasswordStrengthProps) {
  const typed = useDeferredValue(password);
  const rate = useOnDemand(loadRating, typed !== '');
  const rating = typed === '' ? null : (rate?.(typed, personal) ?? null);
  const text = rating === null ? '' : sentence(rating);
  return (
    <span className={styles.strength} data-typed={password !== '' || undefined}>
      {rating !== null && (
        <Meter.Root
          render={<span />}
          className={styles.meter}
          data-strength={rating.strength}
          aria-label={t('auth.strength.label')}
          value={levels.indexOf(rating.strength) + 1}
          max={levels.length}
          getAriaValueText={() => text}
        >
          {levels.map((level, at) => (
            <span
              key={level}
              className={styles.part}
              data-filled={at <= levels.indexOf(rating.strength) || undefined}
            />
          ))}
        </Meter.Root>
      )}
      {/* The element is there before its text, and the text changes with the answer only: it is read out, seldom. */}
      <output>{text}</output>
    </span>
  );
}

function sentence({ strength, weakness }: PasswordRating): string {
  if (strength !== 'weak' || weakness === null) return t(`auth.strength.${strength}`);
  return t(`auth.strength.weakness.${weakness}`);
}
