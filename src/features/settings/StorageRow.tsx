import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { activeLocale, t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { buttonClass } from '../../ui/Button.tsx';
import { CardRow } from '../../ui/Card.tsx';

/**
 * Says that the browser keeps the keys and messages, or leads to the page at the origin of the keys that asks it to: no frame
 * is granted that.
 */
export function StorageRow() {
  const isKept = useIsStorageKept();
  const { theme } = useAtomValue(preferencesAtom);
  if (isKept === true) {
    return <CardRow title={t('settings.storage')} description={t('settings.storage.kept')} />;
  }
  const look = new URLSearchParams({ language: activeLocale(), theme });
  return (
    <CardRow
      title={t('settings.storage')}
      description={t('settings.storage.description')}
      control={
        isKept === false && (
          <a className={buttonClass({})} href={`/storage#${look}`} target="_blank" rel="noreferrer">
            {t('settings.storage.keep')}
          </a>
        )
      }
    />
  );
}

/** Null until it is known. Asks again whenever the person comes back, perhaps from that page. */
function useIsStorageKept(): boolean | null {
  const actions = useAtomValue(requiredActionsAtom);
  const [isKept, setIsKept] = useState<boolean | null>(null);

  useEffect(() => {
    let current = true;
    const ask = () =>
      actions.isStorageKept().then(
        (kept) => current && setIsKept(kept),
        // The page asks anew.
        () => current && setIsKept(false),
      );
    const askAgain = () => void ask();
    askAgain();
    window.addEventListener('focus', askAgain);
    return () => {
      current = false;
      window.removeEventListener('focus', askAgain);
    };
  }, [actions]);

  return isKept;
}
