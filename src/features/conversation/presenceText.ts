import { t } from '../../i18n/i18n.ts';

/** Returns the text of a presence; empty while it isn't known, so keep the text's place. */
export function presenceText(online: boolean | undefined): string {
  if (online === undefined) return '';
  return t(online ? 'messages.online' : 'messages.offline');
}
