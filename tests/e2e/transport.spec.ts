import type { BrowserContext, Page, Route, WebSocketRoute } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { becomeContacts, type Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

/** The answer of another server than the relay: a sentence, and no code. */
const says = (status: number, detail: string) => (route: Route) =>
  route.fulfill({ status, json: { detail } });
/** The answer of a proxy. */
const page502 = (route: Route) => route.fulfill({ status: 502, body: '<html><h1>Bad gateway</h1></html>' });
/** Done, and broken before it could say so. */
async function doneAndBroken(route: Route): Promise<void> {
  await route.fetch();
  await page502(route);
}

/** Paths below /api of the calls of a method, from now on. */
function callsOf(page: Page, method: string): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === method && pathname.startsWith('/api/')) paths.push(pathname.slice(4));
  });
  return paths;
}

/** Lines of the app's log, from now on. */
function logOf(page: Page): string[] {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'warning') lines.push(message.text());
  });
  return lines;
}

/** Records what the page says by its presence socket of whether its person is here, and its calls, in their order. */
function presenceAndCalls(page: Page): string[] {
  const said: string[] = [];
  page.on('websocket', (socket) => {
    if (!socket.url().endsWith('/ws/presence/')) return;
    socket.on('framesent', ({ payload }) => {
      const { online } = JSON.parse(String(payload)) as { online?: boolean };
      if (online !== undefined) said.push(`online ${online}`);
    });
  });
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (['/api/logout', '/api/user'].includes(pathname)) said.push(`${request.method()} ${pathname}`);
  });
  return said;
}

/** The switch of the tests: a presence socket of this browser reaches the relay, or nobody. */
async function presenceSwitch(context: BrowserContext) {
  const sockets: WebSocketRoute[] = [];
  let through = true;
  await context.routeWebSocket(/\/ws\/presence\/$/, (socket) => {
    sockets.push(socket);
    if (through) sockets.push(socket.connectToServer());
  });
  return async (isOn: boolean) => {
    through = isOn;
    for (const socket of sockets.splice(0)) await socket.close();
  };
}

async function fillLogin(person: Person): Promise<void> {
  await person.page.goto('/login');
  await person.page.getByLabel('Username').fill(person.username);
  await person.page.getByLabel('Password', { exact: true }).fill(person.password);
  await person.page.getByRole('button', { name: 'Log In' }).click();
}

test('a server that fails is asked at the next address, one that refuses is not, and what it says is read', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  const posts = callsOf(page, 'POST');
  const log = logOf(page);
  const alert = page.getByRole('alert');

  await test.step('an account that a failing address has made is entered, though the next calls its name taken', async () => {
    await context.route('**/api/register', doneAndBroken);
    await alice.signUp();
    expect(posts.slice(0, 3)).toEqual(['/register', '/signup', '/login/email']);
  });

  await test.step('saving the profile says why it failed, where there is a sentence', async () => {
    await alice.tab('Profile').click();
    await page.getByRole('button', { name: 'Edit Profile' }).click();
    const failsWith = async (answer: (route: Route) => Promise<void>, sentence: string) => {
      // The cards below the profile ask for it.
      await context.route('**/api/users/me', (route) =>
        route.request().method() === 'PUT' ? answer(route) : route.fallback(),
      );
      await page.getByRole('button', { name: 'Save Changes' }).click();
      await expect(alert.getByText(sentence, { exact: true })).toBeVisible();
      await context.unroute('**/api/users/me');
    };
    await failsWith(says(409, 'This name\n is <b>reserved</b>.'), 'This name is <b>reserved</b>.');
    await failsWith(says(403, 'x'.repeat(1_000)), 'Failed to update profile');
    await failsWith(says(500, 'Out of order.'), 'Out of order.');
    await failsWith(page502, 'Failed to update profile');
    const aboutProfile = log.filter((line) => line.includes('/users/me'));
    expect(aboutProfile).toEqual([
      'permission-error method="PUT" route="/users/me" status=403 code="forbidden"',
      'server-error method="PUT" route="/users/me" status=500 code="internal"',
      'server-error method="PUT" route="/users/me" status=502 code="unavailable"',
    ]);
  });

  await test.step('a 401 that has no code ends the session as any other', async () => {
    await context.route('**/api/notifications', says(401, 'Not authenticated'));
    // With the next polling.
    await expect(page).toHaveURL('/login', { timeout: 60_000 });
    await expect(alert.getByText('Session expired. Please login again.')).toBeVisible();
    expect(await page.evaluate(() => localStorage.getItem('token'))).toBeNull();
    expect(log).toContain(
      'authentication-error method="GET" route="/notifications" status=401 code="unauthenticated"',
    );
    await context.unroute('**/api/notifications');
  });

  await test.step('a refusal ends the turn of the log-in, and its sentence is shown', async () => {
    posts.length = 0;
    await context.route('**/api/login/email', says(401, 'No such luck.'));
    await fillLogin(alice);
    await expect(alert.getByText('No such luck.')).toBeVisible();
    expect(posts).toEqual(['/login/email']);
    await context.unroute('**/api/login/email');
  });

  await test.step('failures do not', async () => {
    posts.length = 0;
    await context.route('**/api/login/email', says(500, 'Out of order.'));
    await context.route('**/api/login', (route) => route.abort('connectionrefused'));
    await fillLogin(alice);
    await alice.onDashboard();
    expect(posts.slice(0, 3)).toEqual(['/login/email', '/login', '/auth/login']);
  });
});

test('a broker that does not answer, or to which no connection opens, is logged as a timeout', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const log = logOf(alice.page);
  let attempts = 0;
  await context.routeWebSocket(/\/mqtt$/, () => {
    attempts += 1;
    // The first takes CONNECT and says nothing; the others never open.
    return attempts === 1 ? undefined : new Promise<void>(() => undefined);
  });
  await alice.signUp();
  const closed = () => log.filter((line) => line.startsWith('realtime-closed'));
  await expect.poll(() => closed().length, { timeout: 90_000 }).toBeGreaterThanOrEqual(2);
  expect(new Set(closed())).toEqual(new Set(['realtime-closed code="timeout"']));
});

test('requests are answered at the second address, and who is online is said, unsaid and never made up', async ({
  newBrowser,
}) => {
  const { person: alice, context: aliceBrowser } = await newBrowser('alice');
  const { person: bob, context: bobBrowser } = await newBrowser('bob');
  const switchPresence = await presenceSwitch(aliceBrowser);
  const bobSaid = presenceAndCalls(bob.page);
  await alice.signUp();
  await bob.signUp();
  const posts = callsOf(alice.page, 'POST');

  await test.step('a request is declined by an address that breaks doing it', async () => {
    await bob.requestContact(alice);
    await aliceBrowser.route('**/api/contacts/reject/*', doneAndBroken);
    await alice.tab('Contacts').click();
    await alice.page.getByRole('button', { name: 'Decline' }).click();
    await expect(alice.toast('Contact request rejected')).toBeVisible();
    expect(posts.map((path) => path.replace(/[^/]+$/, ''))).toEqual(['/contacts/reject/', '/contact/deny/']);
  });

  await test.step('and accepted by the second, after a failure of the first', async () => {
    posts.length = 0;
    await aliceBrowser.route('**/api/contacts/accept/*', page502);
    await becomeContacts(bob, alice);
    expect(posts.slice(0, 2).map((path) => path.replace(/[^/]+$/, ''))).toEqual([
      '/contacts/accept/',
      '/contact/accept/',
    ]);
  });

  const row = alice.contact(bob);
  const header = alice.page.getByRole('heading', { name: 'bob' }).locator('..');

  await test.step('nobody is called offline while it is not known', async () => {
    await alice.openChat(bob);
    await expect(row).toContainText('Online');
    await expect(header).toContainText('Online');
    const place = await header.boundingBox();

    await switchPresence(false);
    await expect(row).not.toContainText(/O(n|ff)line/);
    await expect(header).toHaveText('bob');
    expect(await header.boundingBox()).toEqual(place);
    await findsNoBarriers(alice.page);

    await alice.page.reload();
    await alice.openChat(bob);
    await expect(header).toHaveText('bob');
    await expect(row).not.toContainText(/O(n|ff)line/);
    await switchPresence(true);
    await expect(row).toContainText('Online');
    await expect(header).toContainText('Online');
  });

  await test.step('leaving the page says so, and coming back', async () => {
    bobSaid.length = 0;
    // Any page of the app would bring him back, as quickly as it opens.
    await bob.page.goto('about:blank');
    await expect(row).toContainText('Offline');
    await bob.page.goto('/dashboard');
    await expect(row).toContainText('Online');
    await expect.poll(() => bobSaid).toContain('online true');
    bobSaid.length = 0;
    // As when the browser keeps a page that was left, and shows it again.
    const show = (type: string) => dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
    await bob.page.evaluate(show, 'pagehide');
    await expect(row).toContainText('Offline');
    await bob.page.evaluate(show, 'pageshow');
    await expect(row).toContainText('Online');
    await expect.poll(() => bobSaid).toEqual(['online false', 'online true']);
  });

  await test.step('logging out does before the session ends', async () => {
    bobSaid.length = 0;
    await bob.logOut();
    await expect(row).toContainText('Offline');
    await expect.poll(() => bobSaid).toEqual(['online false', 'POST /api/logout']);
    await bob.logIn();
    await expect(row).toContainText('Online');
    await expect.poll(() => bobSaid).toContain('online true');
  });

  await test.step('so does deleting the account, which takes it back when it fails', async () => {
    bobSaid.length = 0;
    await bobBrowser.route('**/api/user', page502);
    await bob.tab('Profile').click();
    await bob.page.getByRole('button', { name: 'Delete Account' }).click();
    const confirm = bob.page.getByRole('button', { name: 'Confirm Delete' });
    await confirm.click();
    await bob.confirmWithPassword();
    await expect(bob.page.getByText('Failed to delete account. Please try again.')).toBeVisible();
    const failed = ['online false', 'DELETE /api/user', 'online true'];
    await expect.poll(() => bobSaid).toEqual(failed);
    await bobBrowser.unroute('**/api/user');
    await confirm.click();
    await bob.confirmWithPassword();
    await expect(bob.page.getByText(/Your account has been successfully deleted/)).toBeVisible();
    await expect.poll(() => bobSaid).toEqual([...failed, 'online false', 'DELETE /api/user']);
  });
});
