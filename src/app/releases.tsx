import type { createStore } from 'jotai';
import { keysFrame } from '../crypto/keysFrame.ts';
import { ReleaseBar, type ReleaseNews, type ReleaseProblem } from '../features/session/ReleaseBar.tsx';
import { addTexts } from '../i18n/i18n.ts';
import { askVerdict, betweenRelays } from '../lib/askVerdict.ts';
import { askWorker } from '../lib/askWorker.ts';
import { type Clock, delay } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { isTakenOver } from '../lib/releaseAgreement.ts';
import { releaseAgreementKey } from '../serviceWorker/messages.ts';
import type {
  AgreeMessage,
  ReleaseMessage,
  ReleaseRefusal,
  ReleaseVerdict,
} from '../serviceWorker/releaseMessages.ts';
import { readyUpdateAtom } from '../store/update.ts';
import { lockForUnknownWorker } from './unknownWorker.tsx';

/** At hand before they are needed: whatever takes the app's place answers for what is asked for after that. */
const texts = addTexts('tabs').catch(() => undefined);
const lock = () => lockForUnknownWorker(texts);

/** Loads this tab again for a version that the person has agreed to; one that takes over by nobody's leave locks the keys. */
export function onTakeover(): void {
  if (isTakenOver(localStorage, Date.now())) void lock();
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

/** How often the relay is asked for its chain by a tab that stays open. */
const lookIntervalMs = 60 * 60 * 1000;

/**
 * Asks the service worker in use, which the person has agreed to, what it makes of the relay's newest release: a newer one is
 * agreed to here, and a script that belongs to no release locks the keys.
 */
export function followReleases(options: ReleasesOptions): void {
  const { clock, container, log, registration, storage, store, takeOver } = options;
  let isAgreed = false;
  /** Nothing is said again that was said already: hashes of releases, and reasons. */
  const said = new Set<string>();
  const { port1: room, port2: roomSide } = new MessageChannel();
  keysFrame().room(roomSide);
  room.addEventListener('message', ({ data }: MessageEvent<{ readonly type?: unknown } | null>) => {
    if (data?.type === 'unknown-worker') void lock();
  });
  room.start();

  async function verdict(): Promise<ReleaseVerdict | null> {
    const found = await askVerdict(registration, (ms) => delay(clock, ms));
    if (found === null) return null;
    if (found.state === 'newer') {
      const { release, ...changes } = found;
      if (!said.has(release)) await show(store, changes, () => void agree(release));
      said.add(release);
    }
    if (found.state === 'refused') {
      log.warn('release-refused', { code: found.code });
      if (!found.isKnownScript) await lock();
      else if (!said.has(found.reason)) await tell(store, problemOf(found), found);
      said.add(found.reason);
    }
    return found;
  }

  /** Looks for the version that was agreed to; a connection that is bad for a moment costs nobody the answer that they gave. */
  async function update(): Promise<void> {
    for (let tried = 0; tried < 3; tried += 1) {
      const hasLooked = await registration.update().then(
        () => true,
        () => false,
      );
      if (hasLooked) return;
      await delay(clock, betweenRelays);
    }
  }

  async function agree(release: string): Promise<void> {
    const { active } = registration;
    // The room comes first: the app's next page asks it for what the former one doesn't know.
    const isDone =
      active !== null &&
      (await agreeInRoom(room, release)) &&
      (await askWorker<boolean>(active, { type: 'release-agreed', release } satisfies AgreeMessage));
    if (!isDone) {
      said.delete(release);
      store.set(readyUpdateAtom, null);
      await verdict();
      return;
    }
    isAgreed = true;
    storage.setItem(releaseAgreementKey, String(Date.now()));
    // A new installation finds all that it needs here.
    await update();
    // Where the room alone has changed, this page is the same.
    if (registration.installing === null && registration.waiting === null) window.location.reload();
  }

  async function look(): Promise<void> {
    const registrations = await container.getRegistrations();
    const isForeign = registrations.some((each) => each.scope !== registration.scope);
    if (isForeign) return lock();
    await verdict();
    return undefined;
  }

  /** Says what came of a version that was downloaded: it waits, or was not installed. */
  async function consider(found: ServiceWorker): Promise<void> {
    const { state } = (await verdict()) ?? {};
    if (state === 'newer' || state === 'refused') return;
    // Another tab has agreed, or the operator's settings have changed: there is nothing to agree to.
    const apply = () => takeOver(found);
    if (found.state !== 'installed') log.warn('update-failed', { code: 'not-installed' });
    else if (isAgreed) apply();
    else store.set(readyUpdateAtom, { apply });
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
    void look();
  });
  clock.every(lookIntervalMs, () => void look());
  void look();
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
async function tellOfFirst(store: Store, log: Log, refusal: ReleaseRefusal): Promise<void> {
  log.warn('release-refused', { code: refusal.code });
  await tell(store, 'first', refusal);
}

function tell(store: Store, problem: ReleaseProblem, { reason }: ReleaseRefusal): Promise<void> {
  return show(store, { problem, reason }, () => store.set(readyUpdateAtom, null));
}

async function show(store: Store, release: ReleaseNews, apply: () => void): Promise<void> {
  await texts;
  store.set(readyUpdateAtom, { apply, Bar: () => <ReleaseBar release={release} onAnswer={apply} /> });
}

function problemOf({ code }: ReleaseRefusal): ReleaseProblem {
  if (code === 'rollback' || code === 'unsigned' || code === 'different') return code;
  return 'signature';
}

function agreeInRoom(room: MessagePort, release: string): Promise<boolean> {
  return new Promise((resolve) => {
    room.addEventListener(
      'message',
      function answered({ data }: MessageEvent<{ readonly type?: unknown; readonly done?: unknown } | null>) {
        if (data?.type !== 'agreed') return;
        room.removeEventListener('message', answered);
        resolve(data.done === true);
      },
    );
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    room.postMessage({ type: 'agree', release });
  });
}
