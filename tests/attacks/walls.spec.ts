import type { Frame, Worker } from '@playwright/test';
import type { Person } from '../e2e/support/person.ts';
import { expect, test } from '../e2e/support/test.ts';
import { callWorker, keepPorts, strangeCalls } from './support/ports.ts';
import { stealStorageKey } from './support/stolen.ts';
import { startWithout, type Wall } from './support/withoutWall.ts';

/** Somebody who has just signed up in a browser with a script in the page. */
interface Victim {
  readonly alice: Person;
  readonly worker: Worker;
  readonly keys: Frame;
}

interface Attack {
  readonly title: string;
  readonly walls: readonly Wall[];
  /** Tries it. @returns what the attacker has by it */
  readonly run: (victim: Victim) => Promise<unknown>;
  /** The attacker's gain against the product, and where the wall is missing. */
  readonly has: unknown;
  readonly hasWithout: unknown;
}

/** Runs in the page. @returns what the relay answers to the session's token alone, each status */
async function takeAccount([email, recoveryAuthKey]: [string, string]): Promise<Record<string, number>> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${localStorage.getItem('token')}`,
  };
  const ask = (method: string, path: string, body?: object) =>
    fetch(`/api${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { sealedVault, version } = await (await ask('GET', '/vault')).json();
  const recoveryKey = { recoveryAuthKey, recoveryProofKey: recoveryAuthKey };
  const set = await ask('PUT', '/vault', {
    version,
    sealedVault,
    recoveryWrap: 'A'.repeat(100),
    ...recoveryKey,
  });
  const recovered = await ask('POST', '/recovery', { email, ...recoveryKey });
  const replaced = await ask('PUT', '/vault', { version: version + 1, sealedVault: 'A'.repeat(200) });
  const deleted = await fetch('/api/user', {
    method: 'DELETE',
    headers: { authorization: headers.authorization },
  });
  return {
    'a recovery key': set.status,
    'a session by it': recovered.status,
    'another vault': replaced.status,
    'no account': deleted.status,
  };
}

/** Runs in the page. Writes another page into the service worker's cache, with the headers of the one that is there. */
async function changeKeptPage(): Promise<void> {
  await navigator.serviceWorker.ready;
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    const kept = await cache.match('/index.html');
    const changed = (await kept!.text()).replace('<title>', '<meta name="changed" /><title>');
    await cache.put('/index.html', new Response(changed, { headers: kept!.headers }));
  }
}

const attacks: readonly Attack[] = [
  {
    title: 'a message that follows the path of a property changes what all objects of the worker are made of',
    walls: [
      // The endpoint around the page's port, and the freezing with which the worker begins.
      {
        file: 'dist/keys/assets/crypto.worker-*.js',
        text: /(?<![\w$])([\w$]{1,4})\(([\w$]{1,4}),[\w$]{1,4}\(([\w$]{1,4})\)\)\}\);\s*$/,
        without: '$1($2,$3)});',
      },
      {
        file: 'dist/keys/assets/crypto.worker-*.js',
        text: /,Object\.freeze\([\w$]+\)(?=\}\}\}\(\);)/,
        without: '',
      },
    ],
    async run({ alice, worker }) {
      await alice.page.evaluate(callWorker, { method: 'resume', args: ['nobody'] });
      // Without the endpoint some of them are never answered.
      await alice.page.evaluate(`void (${strangeCalls.toString()})()`);
      await alice.page.evaluate(callWorker, { method: 'resume', args: ['nobody'] });
      return worker.evaluate(() => Reflect.get({}, 'polluted'));
    },
    has: undefined,
    hasWithout: 1,
  },
  {
    title: 'a script takes the account by the token that it finds in the page',
    walls: [
      {
        file: 'relay/dist/src/http/contractRoutes.js',
        text: /await proofs\.check\(session,/,
        without: 'void (',
      },
    ],
    run: ({ alice }) => alice.page.evaluate(takeAccount, [alice.email, 'A'.repeat(43)] as [string, string]),
    has: { 'a recovery key': 403, 'a session by it': 401, 'another vault': 403, 'no account': 403 },
    hasWithout: { 'a recovery key': 200, 'a session by it': 200, 'another vault': 200, 'no account': 204 },
  },
  {
    title: 'a page that a script has written into the cache is served at the next start',
    walls: [
      {
        file: 'dist/app/service-worker.js',
        text: /return [\w$]+=await this\.#[\w$]+\.digest\([\w$]+\),Array\.from\(.+?\)\.join\(""\)===[\w$]+/,
        without: 'return true',
      },
    ],
    async run({ alice }) {
      await alice.page.evaluate(changeKeptPage);
      await alice.page.reload();
      return alice.page.locator('meta[name=changed]').count();
    },
    has: 0,
    hasWithout: 1,
  },
  {
    title: 'a session outlives a log-out that the busy worker is asked for',
    walls: [{ file: 'dist/keys/keys.html', text: /await [\w$]+\(indexedDB\),/, without: '' }],
    async run({ alice, keys }) {
      await alice.page.getByRole('button', { name: 'Logout', exact: true }).click();
      await expect(alice.page).toHaveURL('/');
      return keys.evaluate(stealStorageKey).then(
        ({ length }) => length,
        () => 'no row',
      );
    },
    has: 'no row',
    hasWithout: 32,
  },
];

test.use({ mayBeForbidden: true });

async function meet(alice: Person): Promise<Victim> {
  const started = alice.page.waitForEvent('worker');
  await alice.signUp();
  const keys = alice.page.frames().find((frame) => frame.url().endsWith('/keys'));
  if (keys === undefined) throw new Error('the page has no frame of the keys');
  return { alice, worker: await started, keys };
}

for (const { has, hasWithout, run, title, walls } of attacks) {
  test(`not so, but without its wall: ${title}`, async ({ newBrowser }) => {
    const { person: alice, context } = await newBrowser('alice');
    await context.addInitScript(keepPorts);
    expect(await run(await meet(alice))).toEqual(has);

    const open = await startWithout(walls);
    try {
      const { person: other, context: others } = await newBrowser('bella', { baseURL: open.url });
      await others.addInitScript(keepPorts);
      expect(await run(await meet(other))).toEqual(hasWithout);
      await others.close();
    } finally {
      await open.stop();
    }
  });
}

test('the key of the storage is given to every script of its origin, which the page is not', async ({
  newBrowser,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { keys } = await meet(alice);
  expect(await alice.page.evaluate(stealStorageKey)).toEqual([]);
  expect(await keys.evaluate(stealStorageKey)).toHaveLength(32);
});
