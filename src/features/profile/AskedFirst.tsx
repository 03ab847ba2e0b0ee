import { useAtomValue } from 'jotai';
import { UserRoundPlus } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { Switch } from '../../ui/Switch.tsx';

/** Lets the person choose to be asked before somebody puts them into a group; the relay keeps it. */
export function AskedFirst({ id }: { id: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [known, setKnown] = useState<boolean | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const explanation = useId();

  useEffect(() => {
    let current = true;
    actions.updateAskedFirst().then(
      (loaded) => current && setKnown(loaded),
      (error: unknown) => current && setFailure(errorText(error, t('profile.found.failed'))),
    );
    return () => {
      current = false;
    };
  }, [actions]);

  async function change(next: boolean) {
    const before = known;
    setKnown(next);
    setFailure(null);
    try {
      await actions.updateAskedFirst(next);
    } catch (error) {
      setKnown(before);
      setFailure(errorText(error, t('profile.found.failed')));
    }
  }

  return (
    <Card title={t('invitations.setting.title')} icon={<UserRoundPlus />} id={id}>
      {failure !== null && (
        <CardBody>
          <Alert kind="error">{failure}</Alert>
        </CardBody>
      )}
      {known === null ? (
        failure === null && (
          <CardBody>
            <LoadingLine text={t('app.loading')} />
          </CardBody>
        )
      ) : (
        <CardRow
          title={t('invitations.setting')}
          description={<span id={explanation}>{t(`invitations.setting.${known ? 'on' : 'off'}`)}</span>}
          control={
            <Switch
              label={t('invitations.setting')}
              describedBy={explanation}
              checked={known}
              onCheckedChange={(next) => void change(next)}
            />
          }
        />
      )}
    </Card>
  );
}
