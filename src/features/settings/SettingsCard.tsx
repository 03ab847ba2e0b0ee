import { useAtom, useSetAtom } from 'jotai';
import { Keyboard, SlidersHorizontal } from 'lucide-react';
import { activeLocale, t } from '../../i18n/i18n.ts';
import { type AnyLocale, localeNames, localeStorageKey, locales } from '../../i18n/locales.ts';
import { preferencesAtom, themes } from '../../store/preferences.ts';
import { shortcutsHelpOpenAtom } from '../../store/shortcutsHelp.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardRow } from '../../ui/Card.tsx';
import { Choice } from '../../ui/Choice.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { DesktopNotificationRows } from './DesktopNotificationRows.tsx';
import { StorageRow } from './StorageRow.tsx';

/** Settings of this browser: language, theme, and alerts for messages. */
export function SettingsCard({ id }: { id?: string }) {
  const [preferences, setPreferences] = useAtom(preferencesAtom);
  const openShortcuts = useSetAtom(shortcutsHelpOpenAtom);
  return (
    <Card
      title={t('settings.title')}
      icon={<SlidersHorizontal />}
      description={t('settings.description')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('settings.language')}
        control={
          <Choice<AnyLocale>
            label={t('settings.language')}
            options={locales.map((value) => ({ value, label: localeNames[value], lang: value }))}
            value={activeLocale()}
            onValueChange={changeLanguage}
          />
        }
      />
      <CardRow
        title={t('settings.theme')}
        control={
          <Choice
            label={t('settings.theme')}
            options={themes.map((value) => ({ value, label: t(`settings.theme.${value}`) }))}
            value={preferences.theme}
            onValueChange={(theme) => setPreferences({ theme })}
          />
        }
      />
      <CardRow
        title={t('settings.sound')}
        description={<span id="settings-sound">{t('settings.sound.description')}</span>}
        control={
          <Switch
            label={t('settings.sound')}
            describedBy="settings-sound"
            checked={preferences.sound}
            onCheckedChange={(sound) => setPreferences({ sound })}
          />
        }
      />
      <DesktopNotificationRows />
      <CardRow
        title={t('settings.readReceipts')}
        description={<span id="settings-read-receipts">{t('settings.readReceipts.description')}</span>}
        control={
          <Switch
            label={t('settings.readReceipts')}
            describedBy="settings-read-receipts"
            checked={preferences.readReceipts}
            onCheckedChange={(readReceipts) => setPreferences({ readReceipts })}
          />
        }
      />
      <CardRow
        title={t('settings.typing')}
        description={<span id="settings-typing">{t('settings.typing.description')}</span>}
        control={
          <Switch
            label={t('settings.typing')}
            describedBy="settings-typing"
            checked={preferences.typing}
            onCheckedChange={(typing) => setPreferences({ typing })}
          />
        }
      />
      <StorageRow />
      <CardRow
        title={t('settings.shortcuts')}
        description={t('settings.shortcuts.description')}
        control={
          <Button onClick={() => openShortcuts(true)} aria-haspopup="dialog">
            <Keyboard size={18} aria-hidden="true" />
            {t('settings.shortcuts.show')}
          </Button>
        }
      />
    </Card>
  );
}

/** Stores the language and reloads the page, because every text on screen has been formatted already. */
function changeLanguage(locale: AnyLocale): void {
  localStorage.setItem(localeStorageKey, locale);
  window.location.reload();
}
