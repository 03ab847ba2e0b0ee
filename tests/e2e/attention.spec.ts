import type { BrowserContext, Page } from '@playwright/test';
import { wholeBrowser } from './browser.mjs';
import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';

// The engine alone grants no notifications.
test.use(wholeBrowser);

interface Shown {
  readonly title: string;
  readonly body: string;
}

interface DesktopScope {
  readonly registration: ServiceWorkerRegistration;
  readonly NotificationEvent: new (type: string, init: { notification: Notification }) => Event;
}

/** The desktop of this browser: what the app shows there, while the person looks at another program. */
async function watchDesktop(context: BrowserContext) {
  const shown: Shown[] = [];
  await context.grantPermissions(['notifications']);
  await context.exposeBinding('noteShown', (_source, one: Shown) => shown.push(one));
  await context.addInitScript(() => {
    document.hasFocus = () => false;
    // Not in the empty page that a tab begins with.
    if (!('ServiceWorkerRegistration' in window)) return;
    const page = window as unknown as { noteShown(one: Shown): void };
    const shows = ServiceWorkerRegistration.prototype;
    const show = Reflect.get(shows, 'showNotification') as (...args: unknown[]) => Promise<void>;
    shows.showNotification = function note(title, options) {
      page.noteShown({ title, body: options?.body ?? '' });
      return show.call(this, title, options);
    };
  });
  const onDesktop = async <Result>(task: (scope: DesktopScope) => Promise<Result>): Promise<Result> => {
    // The keys have a service worker of their own, at the port after the app's.
    const { origin } = new URL(context.pages()[0]?.url() ?? '');
    const worker = context.serviceWorkers().find((one) => new URL(one.url()).origin === origin);
    if (worker === undefined) throw new Error('no service worker');
    return worker.evaluate(`(${String(task)})(self)`);
  };
  return {
    shown,
    left: () => onDesktop(async ({ registration }) => (await registration.getNotifications()).length),
    /** As the browser tells of it; a click that is told of so may not bring a window to the front. Answers its link. */
    click: () =>
      onDesktop(async ({ registration, NotificationEvent }) => {
        const [notification] = await registration.getNotifications();
        if (notification === undefined) throw new Error('nothing to click on');
        dispatchEvent(new NotificationEvent('notificationclick', { notification }));
        return String(notification.data);
      }),
  };
}

test('a message is told once to who is elsewhere, in one of their tabs, and leads to its chat', async ({
  newBrowser,
}) => {
  const { person: aino, context } = await newBrowser('aino');
  const { person: veikko } = await newBrowser('veikko');
  const desktop = await watchDesktop(context);
  await aino.signUp();
  await veikko.signUp();
  await becomeContacts(veikko, aino);

  await aino.tab('Profile').click();
  await aino.page.getByRole('switch', { name: 'Desktop notifications' }).click();
  await expect(aino.page.getByRole('switch', { name: 'Desktop notifications' })).toBeChecked();
  const second = await context.newPage();
  await second.goto('/dashboard');
  await second.getByRole('tab', { name: /^Groups/ }).click();
  await expect(second.getByText('No groups yet')).toBeVisible();

  await veikko.openChat(aino);
  await veikko.send('Lunch at noon?');
  await expect(aino.page).toHaveTitle(/^\(1\)/);
  await expect(second).toHaveTitle(/^\(1\)/);
  await expect(aino.page.locator('link[rel="icon"]')).toHaveAttribute('href', '/favicon-unread.svg');
  await expect.poll(() => desktop.shown).toEqual([{ title: 'New message from veikko', body: '' }]);

  await expect.poll(desktop.left).toBe(1);
  const link = await desktop.click();
  const opened = (page: Page) => page.getByRole('heading', { name: 'veikko' }).count();
  await expect.poll(async () => (await opened(aino.page)) + (await opened(second))).toBe(1);
  await expect(aino.page).not.toHaveTitle(/^\(/);
  expect(await desktop.left()).toBe(0);

  // Read as it comes, in the tab that shows it: nobody is told.
  await aino.openChat(veikko);
  await veikko.send('Or at one?');
  await aino.sees('Or at one?');
  await veikko.send('Never mind');
  await aino.sees('Never mind');
  expect(desktop.shown).toHaveLength(1);

  // As a click does where no dashboard is open.
  const third = await context.newPage();
  await third.goto(link);
  await expect(third.getByRole('heading', { name: 'veikko' })).toBeVisible();
  await expect(third).toHaveURL('/dashboard');
});

test('an emoji is picked by keyboard where the cursor is, arrives, and is remembered sealed', async ({
  newBrowser,
}) => {
  const { person: aino } = await newBrowser('aino');
  const { person: veikko } = await newBrowser('veikko');
  await aino.signUp();
  await veikko.signUp();
  await becomeContacts(aino, veikko);
  await aino.openChat(veikko);

  const input = aino.page.getByPlaceholder('Type a message...');
  const search = aino.page.getByRole('searchbox', { name: 'Search emojis' });
  await input.fill('Good  morning');
  await input.press('Home');
  for (let each = 0; each < 5; each += 1) await input.press('ArrowRight');
  await input.press('Control+e');
  await expect(search).toBeFocused();
  await search.pressSequentially('penguin');
  await expect(aino.page.getByRole('gridcell')).toHaveCount(1);
  await search.press('ArrowDown');
  await aino.page.keyboard.press('Enter');
  await expect(input).toBeFocused();
  await expect(input).toHaveValue('Good 🐧 morning');
  await input.press('Enter');
  await veikko.openChat(aino);
  await veikko.sees('Good 🐧 morning');

  await aino.page.reload();
  await input.press('Control+e');
  const recent = aino.page.getByRole('rowgroup', { name: 'Recently used' });
  await expect(recent.getByRole('gridcell', { name: 'penguin' })).toBeVisible();
  const kept = await aino.page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
  expect(kept).not.toContain('🐧');
  await aino.page.keyboard.press('Escape');
  await expect(search).toBeHidden();
  await expect(input).toBeFocused();
});
