import { Search } from 'lucide-react';
import { useId } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { AppActions, Discoverability as Setting } from '../../store/actions.ts';
import { CardRow } from '../../ui/Card.tsx';
import { Choice } from '../../ui/Choice.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { RelaySetting } from './RelaySetting.tsx';

const ways = ['both', 'name', 'email', 'none'] as const;

const load = (actions: AppActions) => actions.loadDiscoverability();
const save = (actions: AppActions, next: Setting) => actions.setDiscoverability(next);

/** Says in a sentence by what others find one, and lets it be chosen. */
export function Discoverability({ id }: { id: string }) {
  const explanation = useId();
  return (
    <RelaySetting id={id} title={t('profile.found.title')} icon={<Search />} load={load} save={save}>
      {(known, change) => (
        <>
          <CardRow
            title={t('profile.found.by')}
            description={<output>{t(`profile.found.by.${known.found_by}.text`)}</output>}
            control={
              <Choice
                label={t('profile.found.by')}
                options={ways.map((value) => ({ value, label: t(`profile.found.by.${value}`) }))}
                value={known.found_by}
                onValueChange={(found_by) => change({ ...known, found_by })}
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
                onCheckedChange={(shows_email) => change({ ...known, shows_email })}
              />
            }
          />
        </>
      )}
    </RelaySetting>
  );
}
