import { useAtomValue } from 'jotai';
import { activeLocale, t } from '../../i18n/i18n.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { buttonClass } from '../../ui/Button.tsx';
import { CardRow } from '../../ui/Card.tsx';

/**
 * The way to the page at the origin of the keys that asks the browser to keep the keys and messages, and says if it does:
 * no frame is granted that.
 */
export function StorageRow() {
  const { theme } = useAtomValue(preferencesAtom);
  const look = new URLSearchParams({ language: activeLocale(), theme });
  return (
    <CardRow
      title={t('settings.storage')}
      description={t('settings.storage.description')}
      control={
        <a className={buttonClass({})} href={`/storage#${look}`} target="_blank" rel="noreferrer">
          {t('settings.storage.keep')}
        </a>
      }
    />
  );
}
