import { useAtomValue } from 'jotai';
import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { type AppActions, requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Card, CardBody } from '../../ui/Card.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';

interface RelaySettingProps<Setting> {
  id: string;
  title: string;
  icon: ReactNode;
  /** Keep it the same from render to render. */
  load: (actions: AppActions) => Promise<Setting>;
  save: (actions: AppActions, next: Setting) => Promise<unknown>;
  /** The rows of a setting that is known. A change shows at once, and is taken back where the relay refuses it. */
  children: (known: Setting, change: (next: Setting) => void) => ReactNode;
}

/** A card of a setting that the relay keeps. */
export function RelaySetting<Setting>(props: RelaySettingProps<Setting>) {
  const { load, save } = props;
  const actions = useAtomValue(requiredActionsAtom);
  const [known, setKnown] = useState<{ setting: Setting } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let current = true;
    load(actions).then(
      (setting) => current && setKnown({ setting }),
      (error: unknown) => current && setFailure(errorText(error, t('profile.found.failed'))),
    );
    return () => {
      current = false;
    };
  }, [actions, load]);

  async function change(next: Setting) {
    const before = known;
    setKnown({ setting: next });
    setFailure(null);
    try {
      await save(actions, next);
    } catch (error) {
      setKnown(before);
      setFailure(errorText(error, t('profile.found.failed')));
    }
  }

  return (
    <Card title={props.title} icon={props.icon} id={props.id}>
      {failure !== null && (
        <CardBody>
          <Alert kind="error">{failure}</Alert>
        </CardBody>
      )}
      {known === null
        ? failure === null && (
            <CardBody>
              <LoadingLine text={t('app.loading')} />
            </CardBody>
          )
        : props.children(known.setting, (next) => void change(next))}
    </Card>
  );
}
