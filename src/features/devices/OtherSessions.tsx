import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { type OpenSession, requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { Button } from '../../ui/Button.tsx';
import { CardBody, CardRow } from '../../ui/Card.tsx';
import { shortMoment } from '../../ui/format.ts';
import { useNow } from '../../ui/useNow.ts';
import styles from './DevicesCard.module.css';

/** Lists log-ins that have registered no device, which no list of devices has, each with a way to end it; mostly there is none. */
export function OtherSessions() {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const now = useNow();
  const [sessions, setSessions] = useState<readonly OpenSession[]>([]);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let shown = true;
    actions.updateSessions().then(
      (loaded) => shown && setSessions(loaded),
      (error: unknown) => shown && setFailure(errorText(error, t('sessions.loadFailed'))),
    );
    return () => {
      shown = false;
    };
  }, [actions]);

  const end = (id: string) =>
    void attempt(async () => setSessions(await actions.updateSessions(id)), {
      success: t('sessions.ended'),
      failure: t('sessions.endFailed'),
    });

  if (failure !== null) {
    return (
      <CardBody>
        <p>{failure}</p>
      </CardBody>
    );
  }
  if (sessions.length === 0) return null;
  return (
    <ul className={styles.list} aria-label={t('sessions.list')}>
      {sessions.map(({ createdAt, id }) => {
        const time = shortMoment(createdAt, now);
        return (
          <li key={id}>
            <CardRow
              title={t('sessions.title')}
              description={t('sessions.since', { time })}
              control={
                <Button aria-label={t('sessions.end.named', { time })} onClick={() => end(id)}>
                  {t('sessions.end')}
                </Button>
              }
            />
          </li>
        );
      })}
    </ul>
  );
}
