import { beforeEach, describe, expect, it, vi } from 'vitest';
import { beforeFirstLook } from '#src/lib/askVerdict.ts';
import type { ReleaseVerdict } from '#src/serviceWorker/releaseMessages.ts';
import type { RoomNotice, RoomRequest } from '#workers/api/frameMessages.ts';
import type * as Frame from '#workers/frame/releases.ts';
import { current, FakeContainer, FakeWorker, newer, refused } from '../src/support/serviceWorkers.ts';

const told = (code: string, isFirst = false) => ({
  type: 'verdict',
  refusal: { code, reason: `The reason is ${code}.`, isFirst },
});
const nothing = { type: 'verdict', refusal: null };

/** Generous: a busy machine must not fail what is right. */
const soon = { timeout: 60_000 };

let container: FakeContainer;
let active: FakeWorker;
let stored: Map<string, string>;
let verdict: ReleaseVerdict;
/** The answer of the version in use to the person's word. */
let isAgreedTo: boolean;
/** The statement that the version in use is of; null where another one has been agreed to. */
let inUse: string | null;
let frame: typeof Frame;
const lock = vi.fn<() => void>();

beforeEach(async () => {
  lock.mockReset();
  container = new FakeContainer();
  active = new FakeWorker();
  container.registration.active = active;
  stored = new Map([['release-agreed', '0']]);
  verdict = current;
  isAgreedTo = true;
  inUse = '{}';
  active.answer = (question) => {
    if (question === 'release-in-use') return inUse;
    return question === 'release-verdict' ? verdict : isAgreedTo;
  };
  const getRegistration = async () => container.registration;
  vi.stubGlobal('navigator', { serviceWorker: Object.assign(container, { getRegistration }) });
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  });
  // A frame is loaded once.
  vi.resetModules();
  frame = await import('#workers/frame/releases.ts');
  frame.guard(lock);
});

/** Begins, and lets the time pass until the first look unless a version comes before. */
function watch(find = () => {}): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  frame.watch(container.registration as unknown as ServiceWorkerRegistration);
  find();
  vi.advanceTimersByTime(beforeFirstLook);
  vi.useRealTimers();
}
const hear = (data: unknown) => container.dispatchEvent(new MessageEvent('message', { data }));

/** The page that opens its port, with what it is told. */
function page(): { readonly notices: unknown[]; readonly port: MessagePort } {
  const { port1: port, port2: frameSide } = new MessageChannel();
  const notices: unknown[] = [];
  port.addEventListener('message', ({ data }) => notices.push(data));
  port.start();
  frame.connectPage(frameSide);
  return { notices, port };
}

/** Resolves with the answer, once what the frame has said before has come. */
async function answered(
  port: MessagePort,
  notices: readonly unknown[],
  question: RoomRequest,
  type: RoomNotice['type'],
): Promise<unknown> {
  const before = notices.length;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  port.postMessage(question);
  const isAnswer = (notice: unknown) => (notice as { type: string }).type === type;
  await expect.poll(() => notices.slice(before).some(isAnswer), soon).toBe(true);
  return notices.slice(before).find(isAnswer);
}

const asked = (port: MessagePort, notices: readonly unknown[]) =>
  answered(port, notices, { type: 'agree', release: newer.release }, 'agreed');

describe('the frame of the keys tells the page', () => {
  it.each(['rollback', 'unsigned', 'different', 'signature'])(
    'that what the relay serves there is refused: %s',
    async (code) => {
      verdict = refused(code);
      const { notices } = page();
      watch();
      await expect.poll(() => notices, soon).toEqual([told(code)]);
      expect(lock).not.toHaveBeenCalled();
    },
  );

  it('what holds now, whenever it is asked, and takes back what doesn’t any more', async () => {
    const { notices, port } = page();
    for (const found of [refused('different'), current, refused('rollback'), newer] as const) {
      verdict = found;
      await answered(port, notices, { type: 'look' }, 'verdict');
    }
    expect(notices).toEqual([told('different'), nothing, told('rollback'), nothing]);
  });

  it('what it has found last where the relay is away', async () => {
    const { notices, port } = page();
    verdict = refused('rollback');
    await answered(port, notices, { type: 'look' }, 'verdict');
    verdict = { state: 'unreachable' };
    await answered(port, notices, { type: 'look' }, 'verdict');
    expect(notices).toEqual([told('rollback'), told('rollback')]);
  });

  it('what a later look has found, however long an earlier one takes', async () => {
    const { notices, port } = page();
    let held: MessagePort | undefined;
    active.postMessage.mockImplementationOnce((_, ports) => {
      held = ports?.[0];
    });
    const ask = () => answered(port, notices, { type: 'look' }, 'verdict');
    void ask();
    await expect.poll(() => held, soon).toBeDefined();
    verdict = refused('rollback');
    await ask();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    held?.postMessage(current);
    await ask();
    expect(notices).toEqual([told('rollback'), told('rollback')]);
  });

  it('that it holds on to nothing where there is no chain, to a page that does', async () => {
    const { notices, port } = page();
    verdict = { state: 'unsigned' };
    watch();
    await expect.poll(() => notices, soon).toEqual([nothing]);
    const found = await answered(port, notices, { type: 'look' }, 'verdict');
    expect(found).toMatchObject({ refusal: { code: 'unsigned', isFirst: true } });
  });

  it('what it has noticed before the page was there', async () => {
    container.controller = null;
    hear({ type: 'release', refusal: refused('rollback') });
    const { notices, port } = page();
    await asked(port, notices);
    expect(notices).toEqual([told('rollback', true), { type: 'agreed', done: true }]);
  });

  it('that the first version there is no release: nothing is kept, and the frame is the relay’s', async () => {
    container.controller = null;
    container.registration.active = null;
    const { notices, port } = page();
    hear({ type: 'release', refusal: refused('different') });
    hear({ type: 'release' });
    // Nobody is there to be asked.
    await answered(port, notices, { type: 'look' }, 'verdict');
    // The notice before is one as well, so that the answer may be still to come.
    await expect.poll(() => notices, soon).toEqual([told('different', true), told('different', true)]);
  });

  it('nothing that a version says as it is installed beside one in use, which is asked itself', async () => {
    const { notices, port } = page();
    hear({ type: 'release', refusal: refused('different') });
    await asked(port, notices);
    expect(notices).toEqual([{ type: 'agreed', done: true }]);
  });

  it('that a file there is another one than was built', async () => {
    const { notices } = page();
    hear({ type: 'refused' });
    await expect.poll(() => notices, soon).toEqual([{ type: 'not-installed', code: 'hash-mismatch' }]);
  });

  it('that a version there could not be downloaded', async () => {
    const { notices } = page();
    watch(() => container.registration.find().become('redundant'));
    const told = { type: 'not-installed', code: 'not-installed' };
    await expect.poll(() => notices, soon).toEqual([nothing, nothing, told]);
  });

  it('no such thing of one that waits for the person’s word, or is refused', async () => {
    const { notices, port } = page();
    verdict = newer;
    watch(() => container.registration.find().become('redundant'));
    await expect.poll(() => active.postMessage.mock.calls.length, soon).toBe(2);
    container.registration.installing = null;
    await asked(port, notices);
    expect(notices).toEqual([nothing, nothing, { type: 'agreed', done: true }]);
  });

  it('that a stranger’s script is there, and locks by itself', async () => {
    verdict = refused('different', false);
    const { notices } = page();
    watch();
    await expect.poll(() => notices, soon).toContainEqual({ type: 'unknown-worker' });
    expect(lock).toHaveBeenCalled();
  });
});

describe('a release that the person agrees to', () => {
  it('is the one in use already where a page says so: nothing that waits takes over by that', async () => {
    const waiting = new FakeWorker();
    waiting.state = 'installed';
    container.registration.waiting = waiting;
    const { notices, port } = page();
    expect(await asked(port, notices)).toEqual({ type: 'agreed', done: true });
    expect(waiting.postMessage).not.toHaveBeenCalled();
    expect(stored.get('release-agreed')).toBe('0');
  });

  it('is none where not all of it is here, or the relay is away', async () => {
    isAgreedTo = false;
    const { notices, port } = page();
    expect(await asked(port, notices)).toEqual({ type: 'agreed', done: false });
    isAgreedTo = true;
    container.registration.update.mockRejectedValueOnce(new TypeError('offline'));
    expect(await asked(port, notices)).toEqual({ type: 'agreed', done: false });
    expect(stored.get('release-agreed')).toBe('0');
  });

  it('is none where its version breaks off as it is installed; once more, and it comes into use', async () => {
    inUse = null;
    const { notices, port } = page();
    let next = new FakeWorker();
    const { registration } = container;
    // It was looked for already; as it is looked for after the person's word, there it is.
    const found = () => {
      next = new FakeWorker();
      registration.installing = next;
    };
    const looks = [() => undefined, found, () => undefined, found];
    registration.update.mockImplementation(async () => looks.shift()?.());
    const first = asked(port, notices);
    await expect.poll(() => registration.installing === next, soon).toBe(true);
    registration.installing = null;
    next.become('redundant');
    expect(await first).toEqual({ type: 'agreed', done: false });
    expect(stored.get('release-agreed')).toBe('0');

    const again = asked(port, notices);
    await expect.poll(() => registration.installing === next, soon).toBe(true);
    next.postMessage.mockImplementation(() => next.become('activated'));
    next.become('installed');
    expect(await again).toEqual({ type: 'agreed', done: true });
    expect(next.postMessage).toHaveBeenCalledExactlyOnceWith('activate');
    expect(Number(stored.get('release-agreed'))).toBeGreaterThan(0);
  });
});
