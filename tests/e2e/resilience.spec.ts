import { findsNoBarriers } from './support/axe.ts';
import { twoFriends, twoWhoTalk } from './support/friends.ts';
import { fits } from './support/layout.ts';
import { Person } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test } from './support/test.ts';

test('without MQTT, messages go over REST', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: false });

  await alice.openChat(bob);
  const overRest = alice.page.waitForResponse(
    (answer) => answer.request().method() === 'POST' && answer.url().includes('/api/messages/user/'),
  );
  await alice.send('The broker is gone, the words are not.');
  expect((await overRest).status()).toBe(201);
  await bob.openChat(alice);
  await bob.sees('The broker is gone, the words are not.');

  await bob.send('They arrive here too.');
  await alice.sees('They arrive here too.');
});

test('a tab killed between encrypting and sending loses nothing and sends once', async ({ newBrowser }) => {
  const { alice, aliceBrowser, bob } = await twoWhoTalk(
    newBrowser,
    { withMqtt: false },
    'Before the accident.',
  );

  const reachedTheNetwork = new Promise<void>((resolve) => {
    void aliceBrowser.route('**/api/messages/user/*', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      // Encrypted and on its way, and never answered: the tab dies here.
      resolve();
    });
  });
  await alice.send('Written just before the tab died.');
  await reachedTheNetwork;
  await alice.page.close({ runBeforeUnload: false });
  await aliceBrowser.unroute('**/api/messages/user/*');

  const again = new Person(await aliceBrowser.newPage(), 'alice');
  await again.page.goto('/dashboard');
  await again.onDashboard();
  await again.openChat(bob);
  await again.sees('Before the accident.', 'Written just before the tab died.');
  await bob.sees('Before the accident.', 'Written just before the tab died.');
  await again.send('And one after.');
  await bob.sees('Before the accident.', 'Written just before the tab died.', 'And one after.');
});

test('a message that cannot be sent says so, survives a reload and can be retried', async ({
  newBrowser,
}) => {
  const { alice, aliceBrowser, bob } = await twoWhoTalk(newBrowser, { withMqtt: false }, 'First.');

  await aliceBrowser.route('**/api/messages/user/*', (route) =>
    route.request().method() === 'POST' ? route.abort('connectionfailed') : route.fallback(),
  );
  await alice.send('Into the void.');
  await expect(
    alice.page
      .getByRole('region', { name: 'Notifications' })
      .getByText('Network error. Please check your internet connection and try again.'),
  ).toBeVisible();
  await expect(alice.messages.getByRole('button', { name: 'Retry' })).toBeVisible();
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  await alice.sees('Into the void.');
  await aliceBrowser.unroute('**/api/messages/user/*');
  await alice.messages.getByRole('button', { name: 'Retry' }).click();
  await bob.sees('Into the void.');
  await expect(alice.messages.getByRole('button', { name: 'Retry' })).toHaveCount(0);
});

test('the contact form waits for no server, says when there is no network, and keeps what was written', async ({
  newBrowser,
}) => {
  const { person: visitor, context } = await newBrowser('visitor');
  const { page } = visitor;
  await page.goto('/contact');
  const calls: string[] = [];
  // A server that is slow beyond all patience.
  await context.route('**/api/**', (route) => void calls.push(route.request().url()));
  const fill = async () => {
    await page.getByLabel('Name').fill('Aino');
    await page.getByLabel('Email').fill('aino@example.org');
    await page.getByLabel('Subject').fill('Lost at sea');
    await page.getByLabel('Message').fill('Is anybody there?');
  };
  await fill();
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeDisabled();
  await expect(page.getByRole('alert')).toContainText('Something Went Wrong');
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try Again' }).click();
  await expect(page.getByLabel('Message')).toHaveValue('Is anybody there?');
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Thank you.' })).toBeVisible();
  await expect(page).toHaveURL('/');
  expect(calls).toEqual([]);
});

test('two tabs of one person share one device', async ({ newBrowser }) => {
  const { alice, aliceBrowser, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  const otherTab = new Person(await aliceBrowser.newPage(), 'alice');
  await otherTab.page.goto('/dashboard');
  await otherTab.onDashboard();
  await otherTab.openChat(bob);
  await bob.openChat(alice);

  const expected: string[] = [];
  for (let round = 1; round <= 3; round++) {
    const texts = [`left ${round}`, `right ${round}`, `answer ${round}`];
    await Promise.all([
      alice.send(`left ${round}`),
      otherTab.send(`right ${round}`),
      bob.send(`answer ${round}`),
    ]);
    expected.push(...texts);
    for (const person of [alice, otherTab, bob]) await person.sees(...expected);
  }
  await expect(bob.messages.getByText("Message couldn't be decrypted")).toHaveCount(0);
  await expect(alice.messages.getByText("Message couldn't be decrypted")).toHaveCount(0);
});

test('a server with a problem is not called offline, and logs nobody out', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  let dropMqtt = () => undefined as Promise<void> | undefined;
  await context.routeWebSocket(/\/mqtt$/, (socket) => {
    socket.connectToServer();
    dropMqtt = () => socket.close();
  });
  const breakServer = () =>
    context.route('**/api/profile', (route) =>
      route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>503 Service Unavailable</h1>' }),
    );
  const mendServer = () => context.unroute('**/api/profile');
  const header = page.getByRole('banner');
  const token = () => page.evaluate(() => localStorage.getItem('token'));
  await alice.signUp();
  await alice.createGroup('Saturday sailors');
  const issued = await token();

  await test.step('while it runs', async () => {
    await breakServer();
    await dropMqtt();
    await expect(header).toContainText('Server problem: trying again…');
    await expect(header).not.toContainText('Offline');
    expect(await token()).toBe(issued);
    await mendServer();
    await expect(header).not.toContainText('Server problem');
  });

  await test.step('at a reload', async () => {
    await breakServer();
    await page.reload();
    await alice.onDashboard();
    await expect(header.getByText('Server problem: what you write is sent later')).toBeVisible();
    await expect(header).not.toContainText('Offline');
    await expect(header).toContainText('alice');
    expect(await token()).toBe(issued);
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 740 });
      await findsNoBarriers(page);
      await fits(page);
    }
    await alice.openGroup('Saturday sailors');
    await alice.send('We leave at nine.');
    const message = alice.messages.getByRole('article').filter({ hasText: 'We leave at nine.' });
    await expect(message.getByText('Sending', { exact: true })).toBeAttached();
    await mendServer();
    await expect(message.getByText('Sent', { exact: true })).toBeAttached();
    await expect(page.getByText('Server problem')).toHaveCount(0);
  });
});

test('without the origin of the keys signing up says who can mend it', async ({ browser }) => {
  // Nobody listens there: what a proxy answers that has one of its two addresses only.
  const relay = await RunningRelay.start({ KEYS_ORIGIN: 'http://localhost:2' });
  const context = await browser.newContext({ baseURL: relay.url });
  const page = await context.newPage();
  await page.goto('/signup');
  await page.getByLabel('Username').fill('alice');
  await page.getByLabel('Email').fill('alice@example.org');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Sign Up' }).click();
  await expect(page.getByRole('alert')).toContainText('KEYS_ORIGIN');
  await context.close();
  await relay.stop();
});
