import { UserRoundPlus } from 'lucide-react';
import { useId } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { AppActions } from '../../store/actions.ts';
import { CardRow } from '../../ui/Card.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { RelaySetting } from './RelaySetting.tsx';

const load = (actions: AppActions) => actions.updateAskedFirst();
const save = (actions: AppActions, next: boolean) => actions.updateAskedFirst(next);

/** Lets the person choose to be asked before somebody puts them into a group. */
export function AskedFirst({ id }: { id: string }) {
  const explanation = useId();
  return (
    <RelaySetting
      id={id}
      title={t('invitations.setting.title')}
      icon={<UserRoundPlus />}
      load={load}
      save={save}
    >
      {(known, change) => (
        <CardRow
          title={t('invitations.setting')}
          description={<span id={explanation}>{t(`invitations.setting.${known ? 'on' : 'off'}`)}</span>}
          control={
            <Switch
              label={t('invitations.setting')}
              describedBy={explanation}
              checked={known}
              onCheckedChange={change}
            />
          }
        />
      )}
    </RelaySetting>
  );
}
