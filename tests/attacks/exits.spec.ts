import type { BrowserContext, Frame, Worker } from '@playwright/test';
import type { Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test, type World } from '../e2e/support/test.ts';
import { leaveByNavigation, leaveByWindow, leaveDocument, leaveWorker } from './support/leaving.ts';
import { Stranger } from './support/stranger.ts';
import { startWithout, type Wall } from './support/withoutWall.ts';

test.use({ mayBeForbidden: true });

/** Every policy of content security and integrity of the relay, in the answers and in the service workers' settings. */
const policies: readonly Wall[] = [
  {
    file: 'relay/dist/src/http/headers.js',
    text: /const csp = \(directives\) =>/,
    without: "const csp = (directives) => '' && ",
  },
  {
    file: 'relay/dist/src/http/headers.js',
    text: /blocked-destinations=\(script\)/,
    without: 'blocked-destinations=()',
  },
];

/** Somebody who has signed up, with a script of a stranger's wherever one could be. */
interface Victim {
  readonly alice: Person;
  readonly context: BrowserContext;
  readonly worker: Worker;
}

interface Place {
  readonly title: string;
  /** Tries every way out. */
  readonly leave: (victim: Victim, address: string) => Promise<void>;
  /** The ways by which the stranger is reached all the same. */
  readonly open: readonly string[];
  /** The ways by which the stranger is reached without the policies. */
  readonly openWithout: readonly string[];
}

const loaded = ['font', 'form', 'frame', 'image', 'object', 'prefetch', 'script', 'style', 'video'];
const asked = ['beacon', 'events', 'fetch', 'import', 'nested', 'socket', 'xhr'];

const places: readonly Place[] = [
  {
    title: 'the frame of the keys',
    async leave({ alice }, address) {
      // A frame that isn't drawn loads less.
      await showFrame(alice);
      await keysOf(alice).evaluate(leaveDocument, address);
      await keysOf(alice).evaluate(leaveByWindow, [address, stunAt(address)] as [string, string]);
      await quietly(() => keysOf(alice).evaluate(leaveByNavigation.top, address));
      // Without the policies the page is on its way elsewhere.
      await expect(() => alice.page.goto('/dashboard')).toPass();
      await alice.onDashboard();
      await quietly(() => keysOf(alice).evaluate(leaveByNavigation.own, address));
      // The page is there, and its frame isn't elsewhere.
      await alice.page.reload();
      await alice.onDashboard();
    },
    open: ['datagram'],
    openWithout: [...asked, 'datagram', ...loaded, 'navigation', 'top', 'window'],
  },
  {
    title: 'a script in the page',
    async leave({ alice }, address) {
      await alice.page.evaluate(leaveDocument, address);
      await alice.page.evaluate(leaveByWindow, [address, stunAt(address)] as [string, string]);
      await quietly(() => alice.page.evaluate(leaveByNavigation.own, address));
    },
    open: ['datagram', 'navigation', 'window'],
    openWithout: [...asked, 'datagram', ...loaded, 'navigation', 'window'],
  },
  ...(['app', 'keys'] as const).map((of): Place => {
    const open = of === 'app' ? ['navigation'] : [];
    return {
      title: `the service worker of the ${of}`,
      async leave({ alice, context }, address) {
        await expect.poll(() => context.serviceWorkers().length).toBe(2);
        // It takes only the pages elsewhere that it serves: those that began after it was there.
        for (const place of [alice.page, keysOf(alice)])
          await place.evaluate(async () => void (await navigator.serviceWorker.ready));
        await alice.page.reload();
        await alice.onDashboard();
        const origin = new URL(of === 'app' ? alice.page.url() : keysOf(alice).url()).origin;
        const [worker] = context.serviceWorkers().filter((one) => one.url().startsWith(origin));
        await worker?.evaluate(leaveWorker, [address]);
        await quietly(() => worker!.evaluate(leaveByNavigation.client, address));
      },
      open,
      openWithout: ['datagram', 'events', 'fetch', 'font', 'socket', ...open],
    };
  }),
];

function keysOf({ page }: Person): Frame {
  const frame = page.frames().find((one) => one.url().endsWith('/keys'));
  if (frame === undefined) throw new Error('the page has no frame of the keys');
  return frame;
}

const showFrame = ({ page }: Person) =>
  page.evaluate(() => document.querySelector<HTMLDialogElement>('#keys-layer')?.show());

const stunAt = (address: string) => address.replace('http://', 'stun:');

/** Tries what may be refused, or take its document away while it is answered. */
async function quietly(attempt: () => Promise<unknown>): Promise<void> {
  await attempt().catch(() => undefined);
}

async function meet(newBrowser: World['newBrowser'], { url }: Pick<RunningRelay, 'url'>): Promise<Victim> {
  const { person: alice, context } = await newBrowser('alice', { baseURL: url });
  const started = alice.page.waitForEvent('worker');
  await alice.signUp();
  return { alice, context, worker: await started };
}

/** Has a stranger listen meanwhile. */
async function withStranger(run: (stranger: Stranger, address: string) => Promise<void>): Promise<void> {
  const stranger = new Stranger();
  try {
    await run(stranger, await stranger.listen());
  } finally {
    stranger.close();
  }
}

for (const { leave, open, openWithout, title } of places) {
  const left = open.length === 0 ? 'no way' : open.join(' and ');

  test(`${title} reaches a stranger by ${left}`, async ({ newBrowser, relay }) => {
    const victim = await meet(newBrowser, relay);
    await withStranger(async (stranger, address) => {
      await leave(victim, address);
      await expect.poll(() => stranger.ways()).toEqual([...open]);
      // The stranger hears this, so it would have heard the rest.
      await fetch(`${address}/?heard`);
      expect(stranger.ways()).toEqual([...open, 'heard'].toSorted());
    });
  });

  test(`not so, but without the policies: ${title} reaches a stranger`, async ({ newBrowser }) => {
    const relay = await startWithout(policies);
    try {
      const victim = await meet(newBrowser, relay);
      await withStranger(async (stranger, address) => {
        await leave(victim, address);
        // The service worker of the keys navigates its frame as well, where that has come under it in time.
        await expect.poll(() => stranger.ways()).toEqual(expect.arrayContaining([...openWithout]));
      });
      await victim.context.close();
    } finally {
      await relay.stop();
    }
  });
}

/**
 * Tries every way out of the worker, to a stranger and to the origins of the product.
 * @returns how the stranger was reached, what else came to nothing of its refusals, and what the relay was asked for
 */
async function leaveFromWorker({ alice, worker }: Victim, relay: Pick<RunningRelay, 'url'>) {
  const keysOrigin = new URL(worker.url()).origin;
  const answered: string[] = [];
  alice.page.on('response', (response) => answered.push(response.url()));
  let reached: string[] = [];
  let outcomes: Record<string, string> = {};
  await withStranger(async (stranger, address) => {
    outcomes = await worker.evaluate(leaveWorker, [keysOrigin, relay.url, address]);
    // The stranger hears this, so it would have heard the rest.
    await fetch(`${address}/?heard`);
    reached = stranger.ways();
  });
  return {
    reached,
    done: Object.entries(outcomes).flatMap(([way, outcome]) => (outcome === 'done' ? [way] : [])),
    answered: answered.flatMap((url) =>
      url.startsWith('http://localhost') ? (/\/\?(\w+)$/.exec(url)?.[1] ?? []) : [],
    ),
  };
}

test('the worker that holds the keys reaches no stranger, says nothing to the origins of the product, and runs no text', async ({
  newBrowser,
  relay,
}) => {
  const said = await leaveFromWorker(await meet(newBrowser, relay), relay);
  expect(said).toEqual({ reached: ['heard'], done: [], answered: [] });
});

test('not so, but without the policies: the worker that holds the keys talks to a stranger and to the origins of the product', async ({
  newBrowser,
}) => {
  const relay = await startWithout(policies);
  try {
    const victim = await meet(newBrowser, relay);
    const { answered, done, reached } = await leaveFromWorker(victim, relay);
    const toStranger = ['datagram', 'events', 'fetch', 'font', 'import', 'nested', 'socket', 'xhr'];
    expect(reached).toEqual(expect.arrayContaining(toStranger));
    const ways = ['events', 'fetch', 'font', 'import', 'nested', 'worker', 'xhr'];
    expect(answered).toEqual(expect.arrayContaining(ways));
    const policy = ['policy default', 'policy sinetti-worker', 'policy of-a-stranger'];
    expect(done).toEqual(expect.arrayContaining(['fetch 0', 'nested 0', ...policy, 'eval', 'function']));
    await victim.context.close();
  } finally {
    await relay.stop();
  }
});
