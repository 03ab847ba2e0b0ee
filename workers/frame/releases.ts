import { askVerdict, isOfStranger } from '../../src/lib/askVerdict.ts';
import { askWorker } from '../../src/lib/askWorker.ts';
import { isTakenOver } from '../../src/lib/releaseAgreement.ts';
import { activateMessage, releaseAgreementKey } from '../../src/serviceWorker/messages.ts';
import type { AgreeMessage } from '../../src/serviceWorker/releaseMessages.ts';
import { isOfType, type RoomNotice } from '../api/frameMessages.ts';

let page: MessagePort | null = null;
let lock = () => {};
let isStrange = false;

/**
 * Notices from the frame's first script on when a service worker takes over that nobody has agreed to.
 * @param onStranger ends the session
 */
export function guard(onStranger: () => void): void {
  lock = onStranger;
  // The first version takes nothing over.
  if (!navigator.serviceWorker?.controller) return;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (isTakenOver(localStorage, Date.now())) refuse();
  });
}

/** Gives the page a port on which it says what the person agrees to, and is told of what nobody has agreed to. */
export function connectPage(port: MessagePort): void {
  page = port;
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!isOfType(data, 'agree') || !('release' in data) || typeof data.release !== 'string') return;
    void agree(data.release)
      .catch(() => false)
      .then((done) => tell({ type: 'agreed', done }));
  });
  port.start();
  if (isStrange) tell({ type: 'unknown-worker' });
}

/** Looks at what the relay has for this origin, now and whenever another version comes. */
export function watch(registration: ServiceWorkerRegistration): void {
  async function look(): Promise<void> {
    const verdict = await askVerdict(registration, wait);
    if (isOfStranger(verdict)) refuse();
    const isHeld = verdict !== null && ['current', 'newer'].includes(verdict.state);
    if (isHeld && localStorage.getItem(releaseAgreementKey) === null)
      localStorage.setItem(releaseAgreementKey, '0');
  }
  registration.addEventListener('updatefound', () => void look());
  void look();
}

const wait = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });

function refuse(): void {
  isStrange = true;
  lock();
  tell({ type: 'unknown-worker' });
}

function tell(notice: RoomNotice): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  page?.postMessage(notice);
}

/** @returns whether this origin uses the release now, or has nothing of its own to change for it */
async function agree(release: string): Promise<boolean> {
  const registration = await navigator.serviceWorker?.getRegistration();
  const active = registration?.active;
  // The browser forbids service workers here, or has evicted this one: the frame comes from the network.
  if (registration === undefined || !active) return true;
  // It may not have been looked for since the app has found it.
  await registration.update();
  await ended(registration.installing);
  if (!(await askWorker<boolean>(active, { type: 'release-agreed', release } satisfies AgreeMessage)))
    return false;
  await registration.update();
  // A page that was closed meanwhile may have left it waiting.
  const next = registration.installing ?? registration.waiting;
  if (next === null) return true;
  if ((await ended(next)) !== 'installed') return false;
  // Not before: the time is short, and a page that asks again for the release in use gains none of it.
  localStorage.setItem(releaseAgreementKey, String(Date.now()));
  // A frame that runs needs nothing more of its files, and the next page wants the frame of its release.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  next.postMessage(activateMessage);
  return (await ended(next, 'activated')) === 'activated';
}

/** Resolves with the state in which a version is once it is installed, or as far as it is to come, or will never be. */
function ended(
  worker: ServiceWorker | null,
  state: ServiceWorkerState = 'installed',
): Promise<ServiceWorkerState | null> {
  return new Promise((resolve) => {
    const look = () => {
      if (worker !== null && worker.state !== state && worker.state !== 'redundant') return;
      worker?.removeEventListener('statechange', look);
      resolve(worker?.state ?? null);
    };
    worker?.addEventListener('statechange', look);
    look();
  });
}
