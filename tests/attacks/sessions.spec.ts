import { expect, test } from '../e2e/support/test.ts';

interface Stolen {
  readonly access_token: string;
  readonly user: { readonly id: string };
}

/** Runs in a page. Opens the presence socket by a token, and keeps the code that it ends with as `socketEnd`. @returns its answer */
async function openSocket({ access_token: token, user }: Stolen): Promise<string> {
  const socket = new WebSocket(new URL('/ws/presence/', location.href.replace('http', 'ws')));
  const socketEnd = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
  });
  Object.assign(globalThis, { socketEnd });
  const answered = new Promise<string>((resolve) => {
    socket.addEventListener('message', ({ data }) => resolve(String(data)));
  });
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ userId: user.id, online: true, token })),
  );
  return answered;
}

test('a session whose token was stolen before it had a device is seen and ended in another browser, with its socket', async ({
  newBrowser,
}) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const { person: other, context } = await newBrowser('alice');
  // A script in the page keeps the log-in from registering its browser.
  await context.route('**/api/devices/*', (route) => route.abort());
  const loggedIn = other.page.waitForResponse((response) => response.url().includes('/api/login'));
  await other.fillLogIn();
  const stolen = (await (await loggedIn).json()) as Stolen;
  await other.page.goto('/about');
  expect(await other.page.evaluate(openSocket, stolen)).toContain('online_users');
  const status = (path: string) =>
    other.page.evaluate(
      async ([address, bearer]) =>
        (await fetch(`/api${address}`, { headers: { authorization: `Bearer ${bearer}` } })).status,
      [path, stolen.access_token] as const,
    );
  expect(await status('/contacts')).toBe(200);

  await alice.tab('Profile').click();
  const list = alice.page.getByRole('list', { name: 'Log-ins without a device' });
  await list.getByRole('button', { name: /^End the log-in of/ }).click();
  await alice.confirmWithPassword();
  await expect(alice.toast('The log-in was ended')).toBeVisible();
  await expect(list).toBeHidden();
  expect(await other.page.evaluate(() => Reflect.get(globalThis, 'socketEnd'))).toBe(4401);
  expect(await status('/contacts')).toBe(401);
});
