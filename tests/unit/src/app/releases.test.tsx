import { screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { beforeFirstLook } from '#src/lib/askVerdict.ts';
import type { ReleaseVerdict } from '#src/serviceWorker/releaseMessages.ts';
import type { RoomRefusal } from '#workers/api/frameMessages.ts';
import { capturedLog } from '../net/support/capturedLog.ts';
import { FakeClock, settled } from '../net/support/fakeClock.ts';
import { createWorld } from '../support/app.tsx';
import { current, FakeContainer, FakeWorker, newer, refused } from '../support/serviceWorkers.ts';

/** The page's end is that of releases.tsx; this is the frame's. */
let frame: MessagePort;
const lock = vi.fn<() => void>();
vi.mock('#src/crypto/keysFrame.ts', () => ({
  keysFrame: () => ({
    room(port: MessagePort) {
      frame = port;
    },
  }),
}));
vi.mock('#src/app/unknownWorker.tsx', () => ({ lockForUnknownWorker: async () => lock() }));
const { followReleases, hear, onTakeover } = await import('#src/app/releases.tsx');
const { UpdateBar } = await import('#src/features/session/UpdateBar.tsx');

const offer = 'Version 1.4.0 is here. App: changed. Key room: unchanged.';
const incomplete = 'Not all of the new version could be downloaded.';
const notSigned = 'What this server serves is not a signed version.';
const hour = 60 * 60 * 1000;

let container: FakeContainer;
let active: FakeWorker;
let clock: FakeClock;
let lines: string[];
let stored: Map<string, string>;
let world: ReturnType<typeof createWorld>;
let user: ReturnType<ReturnType<typeof createWorld>['show']>;
/** The answers of the service worker in use, and of the frame of the keys. */
let verdict: ReleaseVerdict;
let roomRefusal: RoomRefusal | null;
let isAgreedTo: { app: boolean; room: boolean };
/** The statement that the version in use is of; null where another one has been agreed to. */
let inUse: string | null;
/** The origins that were asked to agree, one after the other. */
let agreed: string[];
const takeOver = vi.fn<(waiting: ServiceWorker) => void>();
const reload = vi.spyOn(window.location, 'reload');

beforeEach(() => {
  for (const mock of [lock, takeOver, reload]) mock.mockReset();
  container = new FakeContainer();
  active = new FakeWorker();
  container.registration.active = active;
  clock = new FakeClock();
  stored = new Map([['release-agreed', '0']]);
  verdict = current;
  roomRefusal = null;
  isAgreedTo = { app: true, room: true };
  agreed = [];
  inUse = null;
  active.answer = (question) => {
    if (question === 'release-verdict') return verdict;
    if (question === 'release-in-use') return inUse;
    agreed.push('app');
    return isAgreedTo.app;
  };
  world = createWorld();
  user = world.show(<UpdateBar />);
});

const storage = {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
};
const common = () => {
  const captured = capturedLog();
  lines = captured.lines;
  const { store } = world;
  return { container: container as unknown as ServiceWorkerContainer, log: captured.log, storage, store };
};

async function follow(): Promise<void> {
  const registration = container.registration as unknown as ServiceWorkerRegistration;
  followReleases({ ...common(), clock, registration, takeOver });
  frame.addEventListener('message', ({ data }: MessageEvent<{ type: string }>) => {
    if (data.type === 'look') return say({ type: 'verdict', refusal: roomRefusal });
    agreed.push('room');
    say({ type: 'agreed', done: isAgreedTo.room });
    expect(data).toEqual({ type: 'agree', release: newer.release });
  });
  frame.start();
  await settled().then(() => clock.advance(beforeFirstLook));
  await settled();
}

/** The frame says something to the page. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
const say = (notice: unknown) => frame.postMessage(notice);
const sentence = (text: string) =>
  waitFor(() => {
    const bar = screen.getByRole('status');
    if (!bar.textContent.includes(text)) throw new Error(bar.textContent);
    return bar;
  });
/** The frame looks by itself, as it does when it starts. */
function roomFinds(refusal: RoomRefusal | null): void {
  roomRefusal = refusal;
  say({ type: 'verdict', refusal });
}
const atKeys = (code: string, isFirst = false): RoomRefusal => ({
  code,
  reason: `The reason at the keys is ${code}.`,
  isFirst,
});
const press = (name: string) => user.click(screen.getByRole('button', { name }));
const silence = () => settled().then(() => screen.queryByRole('status'));

describe('a first visit', () => {
  it('is told that the relay’s files are not its release’s, until the person has read it', async () => {
    container.controller = null;
    hear({ type: 'release', refusal: refused('different') }, common());
    expect(await sentence('What this server serves is not the version that was signed.')).toBeVisible();
    expect(lines).toEqual(['warn release-refused code="different"']);
    await press('OK');
    expect(await silence()).toBeNull();
  });

  it('is over once a version is in use: what another one says as it is installed is that one’s to judge', async () => {
    hear({ type: 'release', refusal: refused('different') }, common());
    expect(await silence()).toBeNull();
    expect(lines).toEqual([]);
  });

  it('notes that a release is held on to, and not again', () => {
    stored.clear();
    hear({ type: 'release' }, common());
    expect(stored.get('release-agreed')).toBe('0');
    stored.set('release-agreed', '7');
    hear({ type: 'release' }, common());
    expect(stored.get('release-agreed')).toBe('7');
  });
});

describe('another release', () => {
  it('comes into use once the person has agreed: in the key room first, then here', async () => {
    verdict = newer;
    await follow();
    expect(await sentence(offer)).toBeVisible();
    expect(agreed).toEqual([]);
    container.registration.update.mockImplementation(async () => void container.registration.find());
    await press('Use it');
    await waitFor(() => expect(container.registration.installing).not.toBeNull());
    expect(agreed).toEqual(['room', 'app']);
    expect(Number(stored.get('release-agreed'))).toBeGreaterThan(Date.now() - 60_000);
    verdict = { state: 'current', version: '1.4.0' };
    const { installing } = container.registration;
    installing?.become('installed');
    await waitFor(() => expect(takeOver).toHaveBeenCalledExactlyOnceWith(installing));
    expect(reload).not.toHaveBeenCalled();
  });

  it('that changes the key room alone has the page loaded again, since no version comes', async () => {
    verdict = { ...newer, app: false, room: true };
    inUse = '{}';
    await follow();
    expect(await sentence('Version 1.4.0 is here. App: unchanged. Key room: changed.')).toBeVisible();
    await press('Use it');
    await press('Change the key room');
    await waitFor(() => expect(reload).toHaveBeenCalledOnce());
    expect(takeOver).not.toHaveBeenCalled();
  });

  it.each([
    [1, 2],
    [7, 3],
  ])('is looked for again, seconds apart, where %i looks fail: %i in all', async (failing, looks) => {
    verdict = newer;
    const { update } = container.registration;
    update.mockImplementation(async () => void container.registration.find());
    for (let at = 0; at < failing; at += 1) update.mockRejectedValueOnce(new TypeError('offline'));
    await follow();
    await press('Use it');
    await waitFor(() => expect(update).toHaveBeenCalledOnce());
    await clock.advance(3_000);
    expect(update).toHaveBeenCalledTimes(2);
    await clock.advance(60_000);
    expect(update).toHaveBeenCalledTimes(looks);
  });

  it('is asked about once, however often the relay is looked at', async () => {
    verdict = newer;
    await follow();
    const question = screen.getByRole('status');
    await clock.advance(3 * hour);
    container.registration.find();
    await settled();
    expect(screen.getByRole('status')).toBe(question);
  });

  it.each(['room', 'app'] as const)(
    'of which not all could be had (%s): a sentence says so, and the question comes again',
    async (part) => {
      verdict = newer;
      isAgreedTo = { ...isAgreedTo, [part]: false };
      await follow();
      await press('Use it');
      expect(await sentence(incomplete)).toBeVisible();
      expect(screen.queryByRole('button', { name: 'For the operator' })).toBeNull();
      expect(stored.get('release-agreed')).toBe('0');
      await press('OK');
      expect(await sentence(offer)).toBeVisible();
      isAgreedTo = { app: true, room: true };
      inUse = '{}';
      await press('Use it');
      await waitFor(() => expect(reload).toHaveBeenCalledOnce());
    },
  );

  it('that can’t be asked for any more is told of likewise, and the question stays for later', async () => {
    verdict = newer;
    isAgreedTo = { app: true, room: false };
    await follow();
    verdict = { state: 'unreachable' };
    await press('Use it');
    expect(await sentence(incomplete)).toBeVisible();
    await press('OK');
    expect(await sentence(offer)).toBeVisible();
  });

  it('that another tab has agreed to meanwhile is nothing to tell of', async () => {
    verdict = newer;
    isAgreedTo = { app: false, room: true };
    await follow();
    verdict = { state: 'current', version: '1.4.0' };
    await press('Use it');
    await waitFor(() => expect(screen.queryByRole('status')).toBeNull());
  });

  it('that the key room refuses says why, each time that it is agreed to', async () => {
    verdict = newer;
    isAgreedTo = { app: true, room: false };
    await follow();
    roomRefusal = atKeys('different');
    for (let tried = 0; tried < 2; tried += 1) {
      await press('Use it');
      expect(await sentence(notSigned)).toBeVisible();
      await press('OK');
      expect(await sentence(offer)).toBeVisible();
    }
  });

  it('that is refused as it is agreed to has that sentence alone', async () => {
    verdict = newer;
    isAgreedTo = { app: false, room: true };
    await follow();
    verdict = refused('rollback');
    await press('Use it');
    expect(await sentence('This server has gone back to an older version')).toBeVisible();
    await press('OK');
    expect(await silence()).toBeNull();
  });

  it('is offered plainly where another tab has agreed, once the relay tells its chain: the newest that waits', async () => {
    verdict = { state: 'unreachable' };
    await follow();
    container.registration.find().become('installed');
    expect(await silence()).toBeNull();
    verdict = current;
    await clock.advance(hour);
    expect(await sentence('A new version is ready')).toBeVisible();
    const next = container.registration.find();
    next.become('installed');
    await settled();
    await press('Reload');
    expect(takeOver).toHaveBeenCalledExactlyOnceWith(next);
  });

  it('that could not be downloaded is in the log', async () => {
    await follow();
    container.registration.find().become('redundant');
    await waitFor(() => expect(lines).toEqual(['warn update-failed code="not-installed"']));
    expect(await silence()).toBeNull();
  });
});

describe('what is no release', () => {
  const sentences = [
    ['rollback', 'This server has gone back to an older version than the one that you agreed to.'],
    ['unsigned', 'This server no longer shows who has signed its versions.'],
    ['different', 'What this server serves is not a signed version.'],
    ['signature', 'This server has a version whose signatures don’t hold.'],
    ['chain', 'This server has a version whose signatures don’t hold.'],
    ['malformed', 'This server has a version whose signatures don’t hold.'],
  ] as const;

  it.each(sentences)('is told of in a sentence, once, and each time in the log: %s', async (code, text) => {
    verdict = refused(code);
    await follow();
    expect(await sentence(text)).toBeVisible();
    await press('For the operator');
    expect(screen.getByText(`The reason is ${code}.`)).toBeVisible();
    await press('OK');
    await clock.advance(2 * hour);
    expect(await silence()).toBeNull();
    expect(lines).toEqual(Array.from({ length: 3 }, () => `warn release-refused code="${code}"`));
    expect(lock).not.toHaveBeenCalled();
  });

  it.each(sentences)('is told of in the same one at the origin of the keys alone: %s', async (code, text) => {
    await follow();
    roomFinds(atKeys(code));
    expect(await sentence(text)).toBeVisible();
    await press('For the operator');
    expect(screen.getByText(`The reason at the keys is ${code}.`)).toBeVisible();
    await press('OK');
    await clock.advance(2 * hour);
    expect(await silence()).toBeNull();
    expect(lines).toEqual(Array.from({ length: 3 }, () => `warn release-refused code="${code}"`));
    expect(lock).not.toHaveBeenCalled();
  });

  it('is told of at the origin of the keys as on a first visit, where nothing is kept there', async () => {
    await follow();
    roomFinds(atKeys('different', true));
    expect(await sentence('What this server serves is not the version that was signed.')).toBeVisible();
  });

  it('goes from the screen once it isn’t true any more: what was half laid hides no other sentence', async () => {
    await follow();
    roomFinds(atKeys('different'));
    expect(await sentence(notSigned)).toBeVisible();
    roomRefusal = null;
    verdict = newer;
    await clock.advance(hour);
    expect(await sentence(offer)).toBeVisible();
    verdict = refused('rollback');
    await clock.advance(hour);
    expect(await sentence('This server has gone back to an older version')).toBeVisible();
    verdict = current;
    await clock.advance(hour);
    expect(await silence()).toBeNull();
  });

  it('stays while the relay is away, which takes nothing back', async () => {
    verdict = refused('rollback');
    await follow();
    verdict = { state: 'unreachable' };
    await clock.advance(hour);
    expect(await sentence('This server has gone back to an older version')).toBeVisible();
  });

  it('of the files of the key room is in the log', async () => {
    await follow();
    say({ type: 'not-installed', code: 'hash-mismatch' });
    say({ type: 'not-installed', code: 'anything' });
    const told = ['hash-mismatch', 'not-installed'].map((code) => `warn update-failed code="${code}"`);
    await waitFor(() => expect(lines).toEqual(told));
    expect(await silence()).toBeNull();
  });
});

describe('a stranger’s service worker', () => {
  it('locks the keys once it has been looked at twice', async () => {
    verdict = refused('different', false);
    await follow();
    expect(lock).not.toHaveBeenCalled();
    await clock.advance(3_000);
    await waitFor(() => expect(lock).toHaveBeenCalledOnce());
  });

  it('is none where another relay behind the same address has answered', async () => {
    verdict = refused('different', false);
    await follow();
    verdict = current;
    await clock.advance(3_000);
    expect(lock).not.toHaveBeenCalled();
  });

  it('is any registration beside this one', async () => {
    const other = { scope: 'http://localhost/dashboard/' };
    container.getRegistrations.mockResolvedValue([container.registration, other]);
    await follow();
    expect(lock).toHaveBeenCalledOnce();
  });

  it('is told of by the frame of the keys', async () => {
    await follow();
    say({ type: 'unknown-worker' });
    await waitFor(() => expect(lock).toHaveBeenCalledOnce());
  });

  it('is whoever takes over and was not agreed to', () => {
    localStorage.setItem('release-agreed', String(Date.now()));
    onTakeover();
    expect([reload.mock.calls.length, lock.mock.calls.length]).toEqual([1, 0]);
    localStorage.setItem('release-agreed', '0');
    onTakeover();
    expect([reload.mock.calls.length, lock.mock.calls.length]).toEqual([1, 1]);
    localStorage.removeItem('release-agreed');
  });
});
