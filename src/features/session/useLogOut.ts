import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { signedOutPathAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';

/** Ends the session; the dashboard's guard then leads to `path`. */
export function useLogOut(path: string) {
  const actions = useAtomValue(requiredActionsAtom);
  const setSignedOutPath = useSetAtom(signedOutPathAtom);
  const showToast = useSetAtom(showToastAtom);
  const [busy, setBusy] = useState(false);

  async function logOut(options: { erase: boolean }) {
    setBusy(true);
    setSignedOutPath(path);
    try {
      await actions.logOut(options);
    } catch (error) {
      showToast('error', errorText(error, t('session.logoutFailed')));
    } finally {
      setBusy(false);
    }
  }

  return { busy, logOut };
}
