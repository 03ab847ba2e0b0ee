import { useAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import {
  askForDesktopNotifications,
  type DesktopNotificationPermission,
  desktopNotificationPermission,
} from '../../lib/desktopNotifications.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { CardRow } from '../../ui/Card.tsx';
import { Switch } from '../../ui/Switch.tsx';

/** Desktop notifications need two yeses: the preference, and the browser's permission, asked for with the first. */
export function DesktopNotificationRows() {
  const [preferences, setPreferences] = useAtom(preferencesAtom);
  const [permission, setPermission] = useState(desktopNotificationPermission);
  const on = preferences.desktopNotifications && permission === 'granted';

  async function change(wanted: boolean) {
    const answer = wanted ? await askForDesktopNotifications() : permission;
    setPermission(answer);
    setPreferences({ desktopNotifications: wanted && answer === 'granted' });
  }

  return (
    <>
      <CardRow
        title={t('settings.desktop')}
        description={<output id="settings-desktop">{explanation(permission)}</output>}
        control={
          <Switch
            label={t('settings.desktop')}
            describedBy="settings-desktop"
            checked={on}
            onCheckedChange={(wanted) => void change(wanted)}
            disabled={permission === 'unsupported' || permission === 'denied'}
          />
        }
      />
      <CardRow
        title={t('settings.messageText')}
        description={<span id="settings-message-text">{t('settings.messageText.description')}</span>}
        control={
          <Switch
            label={t('settings.messageText')}
            describedBy="settings-message-text"
            checked={on && preferences.showMessageText}
            onCheckedChange={(showMessageText) => setPreferences({ showMessageText })}
            disabled={!on}
          />
        }
      />
    </>
  );
}

function explanation(permission: DesktopNotificationPermission): string {
  if (permission === 'denied') return t('settings.desktop.denied');
  if (permission === 'unsupported') return t('settings.desktop.unsupported');
  return t('settings.desktop.description');
}
