import { ended, installAgreed } from '../../src/lib/agreedVersion.ts';
import { beforeFirstLook, createVerdicts, isOfStranger } from '../../src/lib/askVerdict.ts';
import { askWorker } from '../../src/lib/askWorker.ts';
import { isTakenOver } from '../../src/lib/releaseAgreement.ts';
import { activateMessage, isWorkerMessage, releaseAgreementKey } from '../../src/serviceWorker/messages.ts';
import type {
  AgreeMessage,
  ReleaseMessage,
  ReleaseVerdict,
} from '../../src/serviceWorker/releaseMessages.ts';
import { isOfType, type RoomNotice, type RoomRefusal } from '../api/frameMessages.ts';

let page: MessagePort | null = null;
let lock = () => {};
/** Said before the page has connected. */
const unheard: RoomNotice[] = [];
/** The last look found this; one that found nobody to ask changes nothing. */
let refusal: RoomRefusal | null = null;
/** A page that holds on to releases asks about them. */
let isPagePinned = false;

/**
 * Notices from the frame's first script on when a service worker takes over that nobody has agreed to, and hears what one says as it
 * is installed.
 * @param onStranger ends the session
 */
export function guard(onStranger: () => void): void {
  lock = onStranger;
  navigator.serviceWorker?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isWorkerMessage(data, 'refused')) tell({ type: 'not-installed', code: 'hash-mismatch' });
    if (isWorkerMessage(data, 'release')) hearFirst(data as ReleaseMessage);
  });
  // The first version takes nothing over.
  if (!navigator.serviceWorker?.controller) return;
  const wasHeld = localStorage.getItem(releaseAgreementKey) !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    // Where the browser's storage was deleted as a whole nothing has taken over.
    const isThere = navigator.serviceWorker.controller !== null;
    if (isTakenOver(localStorage, Date.now(), wasHeld && isThere)) refuse();
  });
}

/** Where a version is in use, that one is asked; nothing else speaks for the first one, which was not installed. */
function hearFirst({ refusal: found }: ReleaseMessage): void {
  if (found === undefined || navigator.serviceWorker.controller !== null) return;
  refusal = { code: found.code, reason: found.reason, isFirst: true };
  tell({ type: 'verdict', refusal });
}

/** Gives the page a port on which it says what the person agrees to, and is told of what nobody has agreed to. */
export function connectPage(port: MessagePort): void {
  page = port;
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    isPagePinned = true;
    if (isOfType(data, 'look')) void look();
    if (!isOfType(data, 'agree') || !('release' in data) || typeof data.release !== 'string') return;
    void agree(data.release)
      .catch(() => false)
      .then((done) => tell({ type: 'agreed', done }));
  });
  port.start();
  for (const notice of unheard.splice(0)) tell(notice);
}

/** Looks at what the relay has for this origin, soon after a start and whenever another version comes. */
export function watch(registration: ServiceWorkerRegistration): void {
  const firstLook = setTimeout(() => void look(), beforeFirstLook);
  async function follow(found: ServiceWorker | null): Promise<void> {
    clearTimeout(firstLook);
    await look();
    if (found === null || (await ended(found)) !== 'redundant') return;
    const verdict = await look();
    // The browser drops a version that waits for the person's word, too, and a refusal is told as such.
    if (verdict?.state === 'newer' || verdict?.state === 'refused') return;
    tell({ type: 'not-installed', code: 'not-installed' });
  }
  registration.addEventListener('updatefound', () => void follow(registration.installing));
}

/** Asks the version in use what it makes of the relay, and tells the page. */
async function look(): Promise<ReleaseVerdict | null> {
  const registration = await navigator.serviceWorker?.getRegistration();
  const { isOvertaken, verdict } = await verdictOf(registration ?? { active: null });
  if (isOvertaken) return verdict;
  if (isOfStranger(verdict)) refuse();
  const isHeld = verdict !== null && ['current', 'newer'].includes(verdict.state);
  if (isHeld && localStorage.getItem(releaseAgreementKey) === null)
    localStorage.setItem(releaseAgreementKey, '0');
  if (verdict?.state === 'refused') refusal = { code: verdict.code, reason: verdict.reason, isFirst: false };
  else if (verdict?.state === 'unsigned') {
    // The relay has a chain for the page and none for the keys, of which nothing is held on to here.
    if (isPagePinned) refusal = { code: 'unsigned', reason: noChainHere, isFirst: true };
  } else if (verdict !== null && verdict.state !== 'unreachable') refusal = null;
  tell({ type: 'verdict', refusal });
  return verdict;
}

const noChainHere = 'There is no chain of releases at the origin of the keys.';

const wait = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });

const verdictOf = createVerdicts(wait);

function refuse(): void {
  lock();
  tell({ type: 'unknown-worker' });
}

function tell(notice: RoomNotice): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  if (page !== null) page.postMessage(notice);
  else unheard.push(notice);
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
  // A page that was closed meanwhile may have left it waiting.
  const next = await installAgreed(registration, wait);
  if (next === 'same' || next === 'failed') return next === 'same';
  // Not before: the time is short, and a page that asks again for the release in use gains none of it (`installAgreed`).
  localStorage.setItem(releaseAgreementKey, String(Date.now()));
  // A frame that runs needs nothing more of its files, and the next page wants the frame of its release.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  next.postMessage(activateMessage);
  return (await ended(next, 'activated')) === 'activated';
}
