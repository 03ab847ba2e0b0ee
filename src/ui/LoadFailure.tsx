import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { t } from '../i18n/i18n.ts';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { catchLostFocus } from './focus.ts';
import styles from './LoadFailure.module.css';

interface LoadFailureProps {
  /** Says which list could not be loaded. */
  sentence: string;
  /** True if an older list is shown: a quiet line says that it is old, instead of `sentence`. */
  isOld: boolean;
  busy: boolean;
  onRetry: () => void;
  /** Gets the focus when a retry has succeeded, because the pressed button is gone then. */
  focusAfter: RefObject<HTMLElement | null>;
}

/** Says in the place of a list that it could not be loaded, and offers to try again. */
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
