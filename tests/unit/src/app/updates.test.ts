import { createStore } from 'jotai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { keepUpToDate, type UpdatesOptions } from '#src/app/updates.ts';
import { releaseAgreementKey } from '#src/serviceWorker/messages.ts';
import { readyUpdateAtom } from '#src/store/update.ts';
import { capturedLog } from '../net/support/capturedLog.ts';
import { FakeClock, settled } from '../net/support/fakeClock.ts';
import { FakeContainer, FakeWorker } from '../support/serviceWorkers.ts';

let container: FakeContainer;
let store: ReturnType<typeof createStore>;
let clock: FakeClock;
let lines: string[];
let stored: Map<string, string>;
const navigate = vi.fn<(path: string) => void>();
const lockKeys = vi.fn<() => void>();
const loadReleases = vi.fn<UpdatesOptions['loadReleases']>(() => import('#src/app/releases.tsx'));

beforeEach(() => {
  navigate.mockReset();
  lockKeys.mockReset();
  container = new FakeContainer();
  store = createStore();
  clock = new FakeClock();
  stored = new Map();
});

async function start(): Promise<void> {
  const captured = capturedLog();
  lines = captured.lines;
  await keepUpToDate({
    container: container as unknown as ServiceWorkerContainer,
    store,
    clock,
    log: captured.log,
    navigate,
    loadReleases,
    lockKeys,
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
    },
  });
}

const ready = () => store.get(readyUpdateAtom);

describe('keeping up to date', () => {
  it('locks the keys where what would notice a stranger’s service worker can’t be had, and only there', async () => {
    loadReleases.mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'));
    await start();
    expect(lockKeys).not.toHaveBeenCalled();
    stored.set(releaseAgreementKey, '0');
    await start();
    expect(lockKeys).toHaveBeenCalledOnce();
  });

  it('registers the service worker, bypassing the HTTP cache', async () => {
    await start();
    expect(container.register).toHaveBeenCalledExactlyOnceWith('/service-worker.js', {
      updateViaCache: 'none',
    });
  });

  it('offers a new version once it is ready, and uses it when asked to', async () => {
    await start();
    const worker = container.registration.find();
    expect(ready()).toBeNull();
    worker.become('installed');
    ready()?.apply();
    expect(worker.postMessage).toHaveBeenCalledExactlyOnceWith('activate');
    worker.become('activating');
    await clock.advance(60_000);
    expect(navigate).not.toHaveBeenCalled();
  });

  it('agrees to the first release of a relay that had none, with the version that brings it', async () => {
    // It comes on demand.
    await import('#src/app/releases.tsx');
    await start();
    const worker = container.registration.find();
    // The new version says so as it installs, to pages of before.
    container.dispatchEvent(new MessageEvent('message', { data: { type: 'release' } }));
    await vi.waitFor(() => expect(stored.get('release-agreed')).toBe('0'));
    worker.become('installed');
    ready()?.apply();
    const { isTakenOver } = await import('#src/lib/releaseAgreement.ts');
    const storage = { getItem: (key: string) => stored.get(key) ?? null };
    expect(isTakenOver(storage, Date.now())).toBe(false);
  });

  it('holds on to nothing at a relay without releases', async () => {
    await start();
    container.registration.find().become('installed');
    ready()?.apply();
    expect([...stored]).toEqual([]);
  });

  it('nudges the version in use until the new one takes over', async () => {
    await start();
    const worker = container.registration.find();
    worker.become('installed');
    await clock.advance(60_000);
    expect(navigate).not.toHaveBeenCalled();
    ready()?.apply();
    await clock.advance(4_000);
    expect(navigate.mock.calls).toEqual([['/service-worker/nudge'], ['/service-worker/nudge']]);
    worker.become('activating');
    await clock.advance(60_000);
    expect(navigate).toHaveBeenCalledTimes(2);
  });

  it.each([
    [
      'tells of it',
      () => container.dispatchEvent(new MessageEvent('message', { data: { type: 'takeover' } })),
    ],
    ['answers this tab', () => container.dispatchEvent(new Event('controllerchange'))],
  ])(
    'nudges nobody once the new one %s, whose state comes later: the tab is loading again',
    async (_, takesOver) => {
      await start();
      container.registration.find().become('installed');
      ready()?.apply();
      await clock.advance(2_000);
      takesOver();
      await clock.advance(60_000);
      expect(navigate).toHaveBeenCalledOnce();
    },
  );

  it('offers a version that was left waiting', async () => {
    container.registration.waiting = new FakeWorker();
    await start();
    expect(ready()).not.toBeNull();
  });

  it('does not call the first version an update', async () => {
    container.controller = null;
    await start();
    container.registration.find().become('installed');
    expect(ready()).toBeNull();
  });

  it('looks for new versions every hour, also when one look fails', async () => {
    await start();
    container.registration.update.mockRejectedValueOnce(new TypeError('offline'));
    await clock.advance(2 * 60 * 60 * 1000);
    expect(container.registration.update).toHaveBeenCalledTimes(2);
  });

  it('reports files that were refused, and versions that could not be installed', async () => {
    await start();
    container.dispatchEvent(new MessageEvent('message', { data: { type: 'refused' } }));
    container.dispatchEvent(new MessageEvent('message', { data: 'something else' }));
    container.registration.find().become('redundant');
    expect(lines).toEqual([
      'warn update-failed code="hash-mismatch"',
      'warn update-failed code="not-installed"',
    ]);
  });

  it('reports no failure when another version replaces a waiting one', async () => {
    await start();
    const worker = container.registration.find();
    worker.become('installed');
    worker.become('redundant');
    expect(lines).toEqual([]);
  });

  it('reports that the service worker could not be registered, and goes on without', async () => {
    container.register.mockRejectedValue(new DOMException('no', 'SecurityError'));
    await start();
    await settled();
    expect(lines).toEqual(['warn update-failed code="not-registered"']);
  });
});
