import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { t } from '../i18n/i18n.ts';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { catchLostFocus } from './focus.ts';
import styles from './LoadFailure.module.css';

interface LoadFailureProps {
  /** What could not be loaded. */
  sentence: string;
  /** What is shown all the same is from before: that is said instead, and quietly. */
  isOld: boolean;
  busy: boolean;
  onRetry: () => void;
  /** Where the focus goes when another try has succeeded, and with it what was pressed is gone. */
  focusAfter: RefObject<HTMLElement | null>;
}

/** A list could not be loaded: said where it stands, with another try. */
export function LoadFailure({ sentence, isOld, busy, onRetry, focusAfter }: LoadFailureProps) {
  const button = useRef<HTMLButtonElement>(null);
  const pressed = useRef(false);

  const settle = useEffectEvent((to: HTMLElement | null) => {
    if (pressed.current) catchLostFocus(to);
    pressed.current = false;
  });
  useEffect(() => {
    if (!busy) settle(button.current);
  }, [busy]);
  useEffect(() => () => settle(focusAfter.current), [focusAfter]);

  const retry = (
    <Button
      ref={button}
      size="small"
      variant={isOld ? 'quiet' : 'secondary'}
      busy={busy}
      onClick={() => {
        pressed.current = true;
        onRetry();
      }}
    >
      {t('app.tryAgain')}
    </Button>
  );
  return isOld ? (
    <div className={styles.old}>
      <output className={styles.text}>{t('app.oldList')}</output>
      {retry}
    </div>
  ) : (
    <Alert kind="error" action={retry}>
      {sentence}
    </Alert>
  );
}
