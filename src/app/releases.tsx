import type { createStore } from 'jotai';
import { keysFrame } from '../crypto/keysFrame.ts';
import { openReleaseRoom } from '../crypto/releaseRoom.ts';
import { ReleaseBar, type ReleaseNews } from '../features/session/ReleaseBar.tsx';
import { addTexts } from '../i18n/i18n.ts';
import { installAgreed } from '../lib/agreedVersion.ts';
import { beforeFirstLook, createVerdicts } from '../lib/askVerdict.ts';
import { askWorker } from '../lib/askWorker.ts';
import { type Clock, delay } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { isTakenOver } from '../lib/releaseAgreement.ts';
import { tokenStorageKey } from '../services/session/token.ts';
import { releaseAgreementKey } from '../serviceWorker/messages.ts';
import type {
  AgreeMessage,
  ReleaseMessage,
  ReleaseRefusal,
  ReleaseVerdict,
} from '../serviceWorker/releaseMessages.ts';
import { type ReadyUpdate, readyUpdateAtom } from '../store/update.ts';
import { type Findings, keyOf, newsOf, nothingFound, type Refused } from './releaseNews.ts';
import { lockForUnknownWorker } from './unknownWorker.tsx';

/** At hand before they are needed: whatever takes the app's place answers for what is asked for after that. */
const texts = addTexts('tabs').catch(() => undefined);
const lock = () => lockForUnknownWorker(texts);

/** Where a release is held on to: loads this tab again for a version that the person has agreed to; one that takes over by nobody's leave locks the keys. */
export function onTakeover(): void {
  if (isTakenOver(localStorage, Date.now(), true)) void lock();
  else window.location.reload();
}

type Store = ReturnType<typeof createStore>;

export interface ReleasesOptions {
  readonly clock: Clock;
  readonly container: ServiceWorkerContainer;
  readonly registration: ServiceWorkerRegistration;
  readonly store: Store;
  readonly log: Log;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly takeOver: (waiting: ServiceWorker) => void;
}

/** Milliseconds in which the frame is to have looked: a relay may keep it waiting, and one of an earlier version knows no such question. */
const roomPatienceMs = 10_000;
/** How often the relay is asked for its chain by a tab that stays open. */
const lookIntervalMs = 60 * 60 * 1000;

/**
 * Asks the service worker in use, which the person has agreed to, what it makes of the relay's newest release: a newer one is
 * agreed to here, and a script that belongs to no release locks the keys.
 */
export function followReleases(options: ReleasesOptions): void {
  const { clock, container, log, registration, storage, store, takeOver } = options;
  /** From the person's word on, unless it has come to nothing. */
  let isAgreeing = false;
  const wait = (ms: number) => delay(clock, ms);
  let findings = nothingFound;
  /** The newest version that waits. */
  let ready: ServiceWorker | null = null;
  const verdictOf = createVerdicts(wait);
  let shown = JSON.stringify(null);
  const room = openReleaseRoom(keysFrame(), {
    onStranger: () => void lock(),
    onNotInstalled: (code) => log.warn('update-failed', { code }),
    onVerdict(refusal) {
      if (refusal !== null) log.warn('release-refused', { code: refusal.code });
      note({ room: refusal && refusedBy('keys', refusal) });
    },
  });

  /** Shows what follows from all that is known now: a sentence that isn't true any more goes from the screen by itself. */
  function note(found: Partial<Findings>): void {
    findings = { ...findings, ...found };
    // Where it comes again after it was gone it is news.
    const held = [findings.app, findings.room].flatMap((each) => (each === null ? [] : keyOf(each)));
    findings = { ...findings, read: new Set([...findings.read].filter((key) => held.includes(key))) };
    const news = newsOf(findings);
    const text = JSON.stringify(news);
    if (text !== shown) void show(news, text);
    shown = text;
  }

  async function show(news: ReturnType<typeof newsOf>, text: string): Promise<void> {
    await texts;
    if (shown === text) store.set(readyUpdateAtom, updateOf(news));
  }

  function updateOf(news: ReturnType<typeof newsOf>): ReadyUpdate | null {
    if (news === null) return null;
    // Another one may be ready by the time that the person answers.
    if (news === 'ready') return { apply: () => ready && takeOver(ready) };
    return barOf(news, () => {
      if (!('problem' in news)) void agree(news.release);
      else if (news.problem === 'incomplete') note({ incomplete: null });
      else note({ read: new Set([...findings.read, ...news.keys]) });
    });
  }

  async function verdict(): Promise<ReleaseVerdict | null> {
    const { isOvertaken, verdict: found } = await verdictOf(registration);
    if (isOvertaken) return found;
    if (found?.state === 'newer') {
      const { state: _, ...offered } = found;
      note({ app: null, offered });
    }
    if (found?.state === 'refused') {
      log.warn('release-refused', { code: found.code });
      if (found.isKnownScript) note({ app: refusedBy('app', found), offered: null });
      else await lock();
    }
    // The bar of what was agreed to stays until that has come.
    if (found?.state === 'current') note({ app: null, ...(isAgreeing ? {} : { offered: null }) });
    // There is nothing to agree to, as where another tab has, or the operator's settings have changed. A version whose release the relay
    // doesn't tell waits until it does.
    const isPlain = found?.state === 'current' || found?.state === 'unsigned';
    if (isPlain && ready !== null && !isAgreeing) note({ isReady: true });
    return found;
  }

  async function agree(release: string): Promise<void> {
    const { active } = registration;
    if (isAgreeing) return;
    isAgreeing = true;
    // The room comes first: the app's next page asks it for what the former one doesn't know.
    const isDone =
      active !== null &&
      (await room.agree(release)) &&
      (await askWorker<boolean>(active, { type: 'release-agreed', release } satisfies AgreeMessage));
    if (!isDone) {
      isAgreeing = false;
      // A person who has agreed once more reads once more why nothing has come of it.
      findings = { ...findings, read: new Set() };
      const [found] = await Promise.all([verdict(), Promise.race([room.look(), wait(roomPatienceMs)])]);
      const isRefused = findings.app !== null || findings.room !== null;
      // A download that has broken off, mostly. The question comes again once that is read.
      if (!isRefused && found?.state !== 'current') note({ incomplete: release });
      return;
    }
    storage.setItem(releaseAgreementKey, String(Date.now()));
    // A new installation finds all that it needs here.
    const next = await installAgreed(registration, wait);
    // Where the room alone has changed, this page is the same.
    if (next === 'same') return window.location.reload();
    if (next !== 'failed') return takeOver(next);
    isAgreeing = false;
    log.warn('update-failed', { code: 'not-installed' });
    note({ incomplete: release, offered: null });
    return undefined;
  }

  async function hasForeign(): Promise<boolean> {
    const registrations = await container.getRegistrations();
    return registrations.some((each) => each.scope !== registration.scope);
  }

  /** The browser knows this without asking anybody. @returns whether it is so */
  async function lockIfForeign(): Promise<boolean> {
    const found = await hasForeign();
    if (found) {
      firstLook.cancel();
      await lock();
    }
    return found;
  }

  async function look(): Promise<void> {
    if (!(await lockIfForeign())) await verdict();
  }

  // Nothing on the first screen depends on it. Where somebody is signed in the frame looks by itself then.
  const firstLook = clock.after(beforeFirstLook, () => {
    if (storage.getItem(tokenStorageKey) === null) lookAtBoth();
    else void look();
  });

  function lookAtBoth(): void {
    firstLook.cancel();
    void look();
    void room.look();
  }

  /** Says what came of a version that was downloaded: it waits, or was not installed. */
  async function consider(found: ServiceWorker): Promise<void> {
    if (found.state === 'installed') ready = found;
    const { state } = (await verdict()) ?? {};
    if (found.state !== 'installed' && state !== 'newer' && state !== 'refused')
      log.warn('update-failed', { code: 'not-installed' });
  }

  function follow(installing: ServiceWorker | null): void {
    if (installing === null) return;
    let isComplete = false;
    installing.addEventListener('statechange', () => {
      if (!isComplete) void consider(installing);
      isComplete = true;
    });
  }

  if (registration.waiting !== null) void consider(registration.waiting);
  follow(registration.installing);
  registration.addEventListener('updatefound', () => {
    follow(registration.installing);
    // It may take over before it is asked about.
    lookAtBoth();
  });
  clock.every(lookIntervalMs, lookAtBoth);
  void lockIfForeign();
}

/** Hears from a service worker that it holds on to a release, or that on a first visit the relay's files are none. */
export function hear(
  { refusal }: ReleaseMessage,
  { container, log, storage, store }: Pick<ReleasesOptions, 'container' | 'log' | 'storage' | 'store'>,
): void {
  if (refusal === undefined) {
    if (storage.getItem(releaseAgreementKey) === null) storage.setItem(releaseAgreementKey, '0');
  } else if (container.controller === null) {
    void tellOfFirst(store, log, refusal);
  }
}

/** Says on a first visit that the relay's files are not its release's. */
async function tellOfFirst(store: Store, log: Log, { code, reason }: ReleaseRefusal): Promise<void> {
  log.warn('release-refused', { code });
  await texts;
  const news: ReleaseNews = { problem: 'first', reasons: [reason] };
  store.set(
    readyUpdateAtom,
    barOf(news, () => store.set(readyUpdateAtom, null)),
  );
}

function barOf(news: ReleaseNews, apply: () => void): ReadyUpdate {
  // A sentence to which a reason is added stays the same one, with its details open as they were.
  const key = 'problem' in news ? news.problem : JSON.stringify(news);
  return { apply, bar: <ReleaseBar key={key} release={news} onAnswer={apply} /> };
}

/** @param refusal of either origin; at that of the keys there may be nothing in use yet */
function refusedBy(
  origin: Refused['origin'],
  { code, isFirst, reason }: Pick<ReleaseRefusal, 'code' | 'reason'> & { isFirst?: boolean },
): Refused {
  if (isFirst === true) return { origin, problem: 'first', reason };
  const isItself = code === 'rollback' || code === 'unsigned' || code === 'different';
  return { origin, problem: isItself ? code : 'signature', reason };
}
