import type { BrowserContext, Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { expect, test } from './support/test.ts';

/**
 * Notes every text that the pages of this browser show, also for less than a frame.
 * @returns those since it was last asked, in order
 */
async function watch(context: BrowserContext): Promise<(page: Page) => Promise<string[]>> {
  await context.addInitScript(() => {
    const shown: string[] = [];
    const look = () => {
      const text = document.getElementById('root')?.innerText.replace(/\s+/g, ' ').trim() ?? '';
      if (text !== '' && shown.at(-1) !== text) shown.push(text);
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
    const everyFrame = () => {
      look();
      requestAnimationFrame(everyFrame);
    };
    everyFrame();
    Object.assign(window, { takeShown: () => shown.splice(0) });
  });
  return (page) => page.evaluate(() => (window as unknown as { takeShown: () => string[] }).takeShown());
}

/** The screen that says nothing but that something loads. */
const bareLoading = 'Sinetti Loading...';
const isDashboard = (text: string) => text.includes('Logout');

test('the strength of a password is said while it is typed, and forbids nothing', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  const { page } = alice;
  await page.goto('/signup');
  const password = page.getByLabel('Password', { exact: true });
  const meter = page.getByRole('meter', { name: 'Strength of the password' });
  await expect(meter).toHaveCount(0);
  await password.fill('correct horse battery staple');
  await expect(page.getByRole('status').filter({ hasText: 'Strong.' })).toBeVisible();
  await password.fill('password');
  await expect(
    page.getByRole('status').filter({ hasText: 'many people have a password like this' }),
  ).toBeVisible();
  await expect(meter).toHaveAttribute('aria-valuenow', '1');
  await findsNoBarriers(page);
  // The fields below stay in their place, however long the answer is: a finger may be on its way there.
  const top = async () => (await page.getByRole('checkbox').boundingBox())?.y;
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const withAnswer = await top();
    await password.fill('correct horse battery staple');
    await expect(page.getByRole('status').filter({ hasText: 'Strong.' })).toBeVisible();
    expect(await top()).toBe(withAnswer);
    await password.fill('password');
    await expect(page.getByRole('status').filter({ hasText: 'many people' })).toBeVisible();
    expect(await top()).toBe(withAnswer);
  }
  await page.getByLabel('Username').fill(alice.username);
  await page.getByLabel('Email').fill(alice.email);
  await page.getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Sign Up' }).click();
  await alice.onDashboard();
});

test('names are checked before keys are made of the password, and said at their field', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  const shown = await watch(context);
  const calls: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls.push(new URL(request.url()).pathname);
  });
  const username = page.getByLabel('Username');
  const email = page.getByLabel('Email');
  const signUp = () => page.getByRole('button', { name: 'Sign Up' }).click();
  await page.goto('/signup');
  await username.fill('alice anderson');
  await email.fill('alice@localhost');
  await page.getByLabel('Password', { exact: true }).fill(alice.password);
  await page.getByRole('checkbox').click();

  await signUp();
  const aboutUsername = 'Usernames have 2 to 32 characters: letters of one script, digits and . _ - only';
  await expect(username).toHaveAccessibleDescription(aboutUsername);
  await expect(username).toBeFocused();
  await findsNoBarriers(page);
  await username.fill('alice');
  await signUp();
  await expect(email).toHaveAccessibleDescription('Please enter a valid email address');
  await expect(email).toBeFocused();
  await expect(username).not.toHaveAccessibleDescription(aboutUsername);
  // The page asks who can sign up as it opens.
  expect(calls).toEqual(['/api/version']);
  expect((await shown(page)).filter((text) => text.includes('Deriving your keys'))).toEqual([]);

  // A relay of another version, which takes other names.
  await page.route('**/api/register', (route) =>
    route.fulfill({
      status: 422,
      json: { code: 'invalid-request', detail: 'username: Usernames may hold runes only' },
    }),
  );
  await email.fill(alice.email);
  await signUp();
  await expect(page.getByRole('alert')).toHaveText('Failed to create account. Please try again.');
  await page.unroute('**/api/register');
  await signUp();
  await alice.onDashboard();

  const { person: other } = await newBrowser('alice');
  await other.page.goto('/signup');
  await other.page.getByLabel('Username').fill('Alice');
  await other.page.getByLabel('Email').fill('another@example.org');
  await other.page.getByLabel('Password', { exact: true }).fill(other.password);
  await other.page.getByRole('checkbox').click();
  await other.page.getByRole('button', { name: 'Sign Up' }).click();
  await expect(other.page.getByLabel('Username')).toHaveAccessibleDescription(
    'This username is already taken.',
  );
  await expect(other.page.getByLabel('Username')).toBeFocused();
});

test('what is shown stays until the dashboard can be drawn', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  const shown = await watch(context);
  // A slow network.
  await context.route('**/assets/*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await route.continue();
  });

  await test.step('after signing up', async () => {
    await page.goto('/signup');
    await page.getByLabel('Username').fill(alice.username);
    await page.getByLabel('Email').fill(alice.email);
    await page.getByLabel('Password', { exact: true }).fill(alice.password);
    await page.getByRole('checkbox').click();
    await shown(page);
    await page.getByRole('button', { name: 'Sign Up' }).click();
    await alice.onDashboard();
    const texts = await shown(page);
    const success = texts.findIndex((text) => text.includes('Account created successfully! Redirecting'));
    expect(success).toBeGreaterThan(-1);
    expect(texts.slice(success + 1).filter((text) => !isDashboard(text))).toEqual([]);
    expect(texts).not.toContain(bareLoading);
  });

  await test.step('after logging in', async () => {
    await alice.logOut();
    await page.getByRole('banner').getByRole('link', { name: 'Log In' }).click();
    await page.getByLabel('Username').fill(alice.username);
    await page.getByLabel('Password', { exact: true }).fill(alice.password);
    await shown(page);
    await page.getByRole('button', { name: 'Log In' }).click();
    await alice.onDashboard();
    const texts = await shown(page);
    const sent = texts.findIndex((text) => text.includes('Logging in...'));
    expect(sent).toBeGreaterThan(-1);
    expect(texts.slice(sent).filter((text) => !text.includes('Logging in...') && !isDashboard(text))).toEqual(
      [],
    );
  });

  await test.step('after a reload, which begins with the spinner', async () => {
    await page.reload();
    await alice.onDashboard();
    const texts = await shown(page);
    expect(texts[0]).toBe(bareLoading);
    expect(texts.slice(1).filter((text) => !isDashboard(text))).toEqual([]);
  });
});
