import { useAtomValue } from 'jotai';
import { Search } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom, type Discoverability as Setting } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { Choice } from '../../ui/Choice.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { Switch } from '../../ui/Switch.tsx';

const ways = ['both', 'name', 'email', 'none'] as const;

/** Says in a sentence by what others find one, and lets it be chosen; the relay keeps it. */
export function Discoverability({ id }: { id: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [known, setKnown] = useState<Setting | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const explanation = useId();

  useEffect(() => {
    let current = true;
    actions.loadDiscoverability().then(
      (loaded) => current && setKnown(loaded),
      (error: unknown) => current && setFailure(errorText(error, t('profile.found.failed'))),
    );
    return () => {
      current = false;
    };
  }, [actions]);

  async function change(next: Setting) {
    const before = known;
    setKnown(next);
    setFailure(null);
    try {
      await actions.setDiscoverability(next);
    } catch (error) {
      setKnown(before);
      setFailure(errorText(error, t('profile.found.failed')));
    }
  }

  return (
    <Card title={t('profile.found.title')} icon={<Search />} id={id}>
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
        <>
          <CardRow
            title={t('profile.found.by')}
            description={<output>{t(`profile.found.by.${known.found_by}.text`)}</output>}
            control={
              <Choice
                label={t('profile.found.by')}
                options={ways.map((value) => ({ value, label: t(`profile.found.by.${value}`) }))}
                value={known.found_by}
                onValueChange={(found_by) => void change({ ...known, found_by })}
              />
            }
          />
          <CardRow
            title={t('profile.found.email')}
            description={
              <span id={explanation}>{t(`profile.found.email.${known.shows_email ? 'on' : 'off'}`)}</span>
            }
            control={
              <Switch
                label={t('profile.found.email')}
                describedBy={explanation}
                checked={known.shows_email}
                onCheckedChange={(shows_email) => void change({ ...known, shows_email })}
              />
            }
          />
        </>
      )}
    </Card>
  );
}
