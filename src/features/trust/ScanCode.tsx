import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { readCodes } from './readCodes.ts';
import styles from './SafetyNumberDialog.module.css';

interface ScanCodeProps {
  name: string;
  /** The content that the other screen's code must have. */
  expected: string;
  onMatch: () => void;
  onStop: () => void;
}

/** Reads the code on the other person's screen. The pictures stay in the page. */
export function ScanCode({ name, expected, onMatch, onStop }: ScanCodeProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<'looking' | 'denied' | 'differs'>('looking');
  const who = <bdi>{name}</bdi>;

  useEffect(() => {
    const element = video.current;
    if (element === null) return undefined;
    return readCodes(element, {
      onCode(text) {
        if (text === expected) onMatch();
        else setState('differs');
      },
      onDenied: () => setState('denied'),
    });
  }, [expected, onMatch]);

  return (
    <div className={styles.scan}>
      {state === 'denied' ? (
        <Alert kind="info">{t('safetyNumber.scan.denied')}</Alert>
      ) : (
        <>
          <p>
            <RichText id="safetyNumber.scan.lead" parts={{ name: who }} />
          </p>
          <video ref={video} className={styles.video} muted playsInline />
        </>
      )}
      {state === 'differs' && (
        <Alert kind="error">
          <RichText id="safetyNumber.scan.differs" parts={{ name: who }} />
        </Alert>
      )}
      <Button onClick={onStop}>{t('safetyNumber.scan.stop')}</Button>
    </div>
  );
}
