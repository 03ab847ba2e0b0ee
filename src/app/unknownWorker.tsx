import { createRoot } from 'react-dom/client';
import { keysFrame } from '../crypto/keysFrame.ts';
import { t } from '../i18n/i18n.ts';
import { Alert } from '../ui/Alert.tsx';

let isLocked = false;

/**
 * Locks the keys and says so on a whole page: a service worker that belongs to no release has come, or is about to. The browser lets
 * nobody keep it out, and once this page is loaded again it is that one's.
 * @param texts resolves when the texts are there
 */
export async function lockForUnknownWorker(texts: Promise<unknown>): Promise<void> {
  if (isLocked) return;
  isLocked = true;
  // The other tabs lock by themselves. One that would load again as the session ends here would load a stranger's page.
  window.addEventListener('storage', (event) => event.stopImmediatePropagation(), true);
  const locked = keysFrame().lock();
  document.getElementById('root')?.remove();
  const place = document.createElement('div');
  document.body.append(place);
  await texts.catch(() => undefined);
  createRoot(place).render(<UnknownWorker />);
  await locked.catch(() => undefined);
  document.getElementById('keys-layer')?.remove();
}

function UnknownWorker() {
  return (
    <main>
      <Alert kind="error">
        <h1>{t('releases.lock.title')}</h1>
        <p>{t('releases.lock.body')}</p>
        <p>{t('releases.lock.next')}</p>
      </Alert>
    </main>
  );
}
