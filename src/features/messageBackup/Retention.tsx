import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { type Retention as Kept, requiredActionsAtom } from '../../store/actions.ts';
import { CardRow } from '../../ui/Card.tsx';

/** Says for how long the relay keeps messages and copies of them: its operator has set that. */
export function Retention() {
  const actions = useAtomValue(requiredActionsAtom);
  const [kept, setKept] = useState<Kept | null>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let current = true;
    actions.loadRetention().then(
      (loaded) => current && setKept(loaded),
      (error: unknown) => current && setFailure(errorText(error, t('retention.failed'))),
    );
    return () => {
      current = false;
    };
  }, [actions]);

  if (kept === null)
    return failure !== null && <CardRow title={t('retention.title')} description={failure} />;
  const texts = [t('retention.messages', { days: kept.entryDays })];
  if (kept.fewestEntryDays < kept.entryDays)
    texts.push(t('retention.lately', { days: kept.fewestEntryDays }));
  if (kept.historyDays !== null) texts.push(t('retention.copies', { days: kept.historyDays }));
  return <CardRow title={t('retention.title')} description={texts.join(' ')} />;
}
