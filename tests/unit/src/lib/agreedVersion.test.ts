import { beforeEach, describe, expect, it } from 'vitest';
import { installAgreed } from '#src/lib/agreedVersion.ts';
import { FakeRegistration, FakeWorker } from '../support/serviceWorkers.ts';

let registration: FakeRegistration;
/** The statement that the version in use is of; null where another one has been agreed to. */
let inUse: string | null;
let waited: number[];

beforeEach(() => {
  registration = new FakeRegistration();
  registration.active = new FakeWorker();
  registration.active.answer = (question) => (question === 'release-in-use' ? inUse : undefined);
  inUse = null;
  waited = [];
});

const install = () =>
  installAgreed(registration as unknown as ServiceWorkerRegistration, async (ms) => void waited.push(ms));

/** The browser begins to install another version. */
function begin(): FakeWorker {
  registration.installing = new FakeWorker();
  return registration.installing;
}

/** It ends, as browsers do it: first it is no longer the one that is being installed. */
function end(worker: FakeWorker, state: 'installed' | 'redundant'): void {
  registration.installing = null;
  if (state === 'installed') registration.waiting = worker;
  worker.become(state);
}

describe('the version of a release that the person has agreed to', () => {
  it('is looked for once one is over that the browser had begun by itself, and that ends without the person’s word', async () => {
    const before = begin();
    let next = new FakeWorker();
    registration.update.mockImplementation(async () => {
      next = begin();
    });
    const installed = install();
    expect(registration.update).not.toHaveBeenCalled();
    end(before, 'redundant');
    await expect.poll(() => registration.update.mock.calls.length).toBe(1);
    end(next, 'installed');
    expect(await installed).toBe(next);
  });

  it('is the one that was begun before, if that has heard of it', async () => {
    const before = begin();
    const installed = install();
    end(before, 'installed');
    expect(await installed).toBe(before);
  });

  it('is looked for again where a look has found nothing, though the version in use is of another release', async () => {
    const looks = [() => undefined, () => end(begin(), 'installed')];
    registration.update.mockImplementation(async () => looks.shift()?.());
    expect(await install()).toBe(registration.waiting);
    expect(waited).toHaveLength(1);
  });

  it('is the one in use where nothing changes at this origin', async () => {
    inUse = '{}';
    expect(await install()).toBe('same');
    expect(waited).toEqual([]);
  });

  it('is none that waits where the one in use is of that release', async () => {
    inUse = '{}';
    registration.waiting = new FakeWorker();
    expect(await install()).toBe('same');
    expect(registration.update).not.toHaveBeenCalled();
  });

  it('can’t be had where its download breaks off, or nothing is found in three looks', async () => {
    let next = new FakeWorker();
    registration.update.mockImplementationOnce(async () => {
      next = begin();
    });
    const broken = install();
    await expect.poll(() => registration.installing === next).toBe(true);
    end(next, 'redundant');
    expect(await broken).toBe('failed');
    expect(await install()).toBe('failed');
    expect(registration.update).toHaveBeenCalledTimes(4);
  });
});
