import { twoFriends } from '../e2e/support/friends.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test, type World } from '../e2e/support/test.ts';
import { startWithout, type Wall } from './support/withoutWall.ts';

// A relay that looks at what it is given, and asks for less than it should.

interface Attack {
  readonly title: string;
  readonly wall: Wall;
  /** Tries it. @returns whether the relay has learned something */
  readonly learns: (relay: RunningRelay, newBrowser: World['newBrowser']) => Promise<boolean>;
}

const attacks: readonly Attack[] = [
  {
    title: 'the length of the sealed account state tells a relay that somebody was verified',
    wall: {
      file: 'dist/keys/assets/crypto.worker-*.js',
      text: /(?<=\}\),)([\w$]{1,3})\.zerosTo\(4096\)(?=\}\))/,
      without: '$1.zeros(0)',
    },
    async learns(relay, newBrowser) {
      const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
      const stateAt = () => {
        const sql =
          'select length(sealed) as bytes, version from account_states where user_id = (select id from users where username = ?)';
        const rows = relay.inDatabase((db) => db.prepare(sql).all('alice')) as Row[];
        return rows[0] ?? { bytes: 0, version: 0 };
      };
      await alice.openChat(bob);
      await alice.send('Do you know the way?');
      await expect.poll(() => stateAt().version).toBeGreaterThan(0);
      const before = stateAt();
      await alice.page.getByRole('button', { name: `Verify ${bob.username}` }).click();
      await alice.page.getByRole('button', { name: 'Mark as verified' }).click();
      await alice.confirmWithPassword();
      await expect.poll(() => stateAt().version).toBeGreaterThan(before.version);
      return stateAt().bytes !== before.bytes;
    },
  },
  {
    title: 'a relay that asks for a thousandth of the work gets a value that it can guess the password by',
    wall: {
      file: 'dist/keys/assets/crypto.worker-*.js',
      text: /(?<=\{opsLimit:3,memLimitBytes:134217728\},)([\w$]{1,3})=[\w$]{1,3}/,
      without: '$1={opsLimit:1,memLimitBytes:8192}',
    },
    async learns(_relay, newBrowser) {
      const { person: alice } = await newBrowser('alice');
      await alice.signUp();
      const { person: elsewhere, context } = await newBrowser('alice');
      await context.route('**/api/auth/params?*', async (route) => {
        const response = await route.fetch();
        const params = (await response.json()) as object;
        await route.fulfill({ response, json: { ...params, opsLimit: 1, memLimit: 8192 } });
      });
      const given: unknown[] = [];
      elsewhere.page.on('request', (request) => {
        if (/\/api\/(?:login|auth\/login)/.test(request.url())) given.push(request.postDataJSON());
      });
      const { page } = elsewhere;
      await page.goto('/login');
      await page.getByLabel('Username').fill(elsewhere.username);
      await page.getByLabel('Password', { exact: true }).fill(elsewhere.password);
      await page.getByRole('button', { name: 'Log In' }).click();
      await expect(page.getByRole('alert')).toBeVisible();
      return given.length > 0;
    },
  },
];

interface Row {
  readonly bytes: number;
  readonly version: number;
}

for (const { learns, title, wall } of attacks) {
  test(`not so, but without its wall: ${title}`, async ({ newBrowser, relay }) => {
    expect(await learns(relay, newBrowser)).toBe(false);
    const open = await startWithout([wall]);
    try {
      const there: World['newBrowser'] = (username, options) =>
        newBrowser(username, { baseURL: open.url, ...options });
      expect(await learns(open, there)).toBe(true);
    } finally {
      await open.stop();
    }
  });
}
