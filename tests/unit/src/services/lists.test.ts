import { atom } from 'jotai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createLists, type List, type Lists } from '#src/services/core/lists.ts';
import { timings } from '#src/services/core/timings.ts';
import { type LoadedList, unloadedList } from '#src/store/loadedList.ts';
import { settled } from '../net/support/fakeClock.ts';
import { type TestDeps, testDeps } from './support/deps.ts';

const listAtom = atom<LoadedList<string>>(unloadedList);
const failure = 'Failed to load.';

let deps: TestDeps;
let lists: Lists;
let list: List;
let signedIn: boolean;
let kept: readonly string[];
const ask = vi.fn<() => Promise<readonly string[]>>();

const shown = () => deps.store.get(listAtom);
const show = (items: readonly string[]) => deps.store.set(listAtom, { ...shown(), items });

beforeEach(() => {
  ask.mockReset().mockResolvedValue(['new']);
  signedIn = true;
  kept = [];
  deps = testDeps();
  lists = createLists({ ...deps, hasToken: () => signedIn });
  list = lists.create({
    atom: listAtom,
    read: async () => show(await ask()),
    recall: async () => show(kept),
    failure,
  });
});

/** Answers that are given when the test says so, the oldest first. */
function heldAnswers() {
  const waiting: { answer: (items: readonly string[]) => void; fail: () => void }[] = [];
  ask.mockImplementation(
    () =>
      new Promise((answer, reject) => {
        waiting.push({ answer, fail: () => reject(new Error('failed')) });
      }),
  );
  return waiting;
}

describe('a list that could not be loaded', () => {
  beforeEach(() => {
    ask.mockRejectedValue(new Error('failed'));
  });

  it('says so, with what was kept of it', async () => {
    kept = ['old'];
    await list.load();
    expect(shown()).toEqual({ items: ['old'], loading: false, loaded: false, error: failure });
  });

  it('is tried again by back-off until it is there', async () => {
    await list.load();
    await deps.clock.advance(timings.listRetryBase);
    expect(ask).toHaveBeenCalledTimes(2);
    await deps.clock.advance(timings.listRetryBase);
    expect(ask).toHaveBeenCalledTimes(2);
    await deps.clock.advance(timings.listRetryBase);
    expect(ask).toHaveBeenCalledTimes(3);
    expect(shown().error).toBe(failure);
    ask.mockResolvedValue(['new']);
    await deps.clock.advance(4 * timings.listRetryBase);
    expect(shown()).toEqual({ items: ['new'], loading: false, loaded: true, error: null });
    await deps.clock.advance(60_000);
    expect(ask).toHaveBeenCalledTimes(4);
  });

  it('is never waited for longer than the longest pause', async () => {
    await list.load();
    await deps.clock.advance(100_000);
    ask.mockResolvedValue(['new']);
    await deps.clock.advance(timings.listRetryMax);
    expect(shown().loaded).toBe(true);
  });

  it('is left alone without a token, and by polling', async () => {
    await list.load();
    signedIn = false;
    await list.poll();
    await deps.clock.advance(60_000);
    expect(ask).toHaveBeenCalledTimes(1);
    signedIn = true;
    await deps.clock.advance(timings.listRetryMax);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('is tried again at once when somebody asks, and its sentence stays while it is', async () => {
    await list.load();
    const [first] = [heldAnswers()];
    const retried = lists.retry();
    expect(shown()).toMatchObject({ loading: true, error: failure });
    first[0]?.answer(['new']);
    await retried;
    expect(shown()).toEqual({ items: ['new'], loading: false, loaded: true, error: null });
    expect(deps.clock.pending).toBe(0);
  });

  it('shows that it loads, and not what went wrong before, when the connection is back', async () => {
    await list.load();
    heldAnswers();
    void list.load();
    expect(shown()).toMatchObject({ loading: true, error: null });
  });

  it('leaves nothing on the clock after the session', async () => {
    await list.load();
    lists.stop();
    expect(deps.clock.pending).toBe(0);
  });
});

describe('another try beside one that is not answered', () => {
  it('counts as soon as it succeeds, and a later failure of the first shows no error', async () => {
    const calls = heldAnswers();
    const loading = list.load();
    const retried = lists.retry();
    calls[1]?.answer(['new']);
    await retried;
    expect(shown()).toMatchObject({ items: ['new'], loaded: true });
    calls[0]?.fail();
    await loading;
    expect(shown()).toEqual({ items: ['new'], loading: false, loaded: true, error: null });
  });

  it('is waited for when the first fails', async () => {
    const calls = heldAnswers();
    void list.load();
    void lists.retry();
    calls[0]?.fail();
    await settled();
    expect(shown()).toMatchObject({ loading: true, error: null });
  });
});

describe('a loaded list', () => {
  beforeEach(() => list.load());

  it('is not asked for by who wants to try failed ones again', async () => {
    await lists.retry();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('is polled, unless it is being read', async () => {
    await list.poll();
    expect(ask).toHaveBeenCalledTimes(2);
    const [held] = [heldAnswers()];
    void list.poll();
    void list.poll();
    await settled();
    expect(held).toHaveLength(1);
  });

  it('is read once more when it changes while it is being read', async () => {
    const held = heldAnswers();
    void list.poll();
    void list.refresh();
    void list.refresh();
    held[0]?.answer(['new']);
    await settled();
    expect(held).toHaveLength(2);
  });

  it('fails silently, and is tried again soon', async () => {
    ask.mockRejectedValueOnce(new Error('failed'));
    await list.refresh();
    expect(shown()).toEqual({ items: ['new'], loading: false, loaded: true, error: null });
    await deps.clock.advance(timings.listRetryBase);
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('stays the same object while nothing about it changes', async () => {
    const before = shown();
    lists.create({ atom: listAtom, read: async () => undefined, recall: async () => undefined, failure });
    ask.mockRejectedValueOnce(new Error('failed'));
    await list.refresh();
    expect(shown()).toBe(before);
  });
});

it('a list that is not loaded yet is not polled', async () => {
  await list.poll();
  expect(ask).not.toHaveBeenCalled();
});
