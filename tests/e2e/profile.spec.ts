import { readFile } from 'node:fs/promises';
import type { Download, Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const hostile = '<img src=x onerror="document.title=1"> & \u202eevil\u202c "quoted"';

/** Both files of an export. A browser in a test can't be asked for a place, so they come as downloads. */
async function exportOf(person: Person): Promise<Download[]> {
  await person.tab('Profile').click();
  const downloads: Download[] = [];
  person.page.on('download', (download) => downloads.push(download));
  await person.page.getByRole('button', { name: 'Download JSON' }).click();
  await expect(person.toast('Your data export has been generated')).toBeVisible();
  await expect.poll(() => downloads.length).toBe(2);
  return downloads;
}

async function withoutFileDialogs(page: Page): Promise<void> {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
}

test('a person takes new names, takes their data with them, and goes', async ({ browser, newBrowser }) => {
  test.setTimeout(300_000);
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const { page } = alice;
  await withoutFileDialogs(page);
  await page.reload();
  await alice.openChat(bob);
  await alice.send(hostile);
  await bob.openChat(alice);
  await bob.sees(hostile);

  await test.step('new names, in the profile and at log-in', async () => {
    await alice.tab('Profile').click();
    await page.getByRole('button', { name: 'Edit Profile' }).click();
    await page.getByLabel('Username').fill('bob');
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await expect(page.getByText('This username is already taken.')).toBeVisible();
    await findsNoBarriers(page);
    await page.getByLabel('Username').fill('alice.l');
    await page.getByLabel('Email').fill('alice.l@example.org');
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await expect(alice.toast('Profile updated successfully')).toBeVisible();
    await expect(page.getByRole('banner').getByText('alice.l')).toBeVisible();
    await alice.logOut();
    await page.goto('/login');
    await page.getByLabel('Username').fill('alice.l@example.org');
    await page.getByLabel('Password', { exact: true }).fill(alice.password);
    await page.getByRole('button', { name: 'Log In' }).click();
    await alice.onDashboard();
  });

  await test.step('the export: two files, of which one is for people and safe to open', async () => {
    const [data, readable] = await exportOf(alice);
    expect(data?.suggestedFilename()).toMatch(/^sinetti-user-data-\d{4}-\d\d-\d\d\.json$/);
    expect(readable?.suggestedFilename()).toMatch(/^sinetti-user-data-\d{4}-\d\d-\d\d\.html$/);
    const written = JSON.parse(await readFile((await data?.path()) ?? '', 'utf8'));
    expect(written.profile).toMatchObject({ username: 'alice.l', email: 'alice.l@example.org' });
    expect(written.contacts).toMatchObject([{ username: 'bob' }]);
    expect(written.messages).toMatchObject([{ from_user: 'alice.l', to_user: 'bob', content: hostile }]);

    const context = await browser.newContext({ offline: true });
    const reader = await context.newPage();
    const complaints: string[] = [];
    reader.on('console', (message) => complaints.push(message.text()));
    await reader.setContent(await readFile((await readable?.path()) ?? '', 'utf8'));
    await expect(reader.getByText(hostile)).toBeVisible();
    await expect(reader).toHaveTitle('Your data in Sinetti');
    for (const colorScheme of ['light', 'dark'] as const) {
      await reader.emulateMedia({ colorScheme });
      await findsNoBarriers(reader);
    }
    expect(await reader.locator('img, script').count()).toBe(0);
    // Its stylesheet is the one that its own policy allows.
    expect(await reader.locator('.own').evaluate((element) => getComputedStyle(element).maxWidth)).toBe(
      '85%',
    );
    expect(complaints).toEqual([]);
    await context.close();
  });

  await test.step('the account goes in two steps, and the landing page says so once', async () => {
    await page.getByRole('button', { name: 'Delete Account' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Delete Account' }).click();
    await findsNoBarriers(page);
    await page.getByRole('button', { name: 'Confirm Delete' }).click();
    await expect(page.getByText(/^Your account has been successfully deleted\./)).toBeVisible();
    await expect(page).toHaveURL('/');
    await expect(bob.contact(alice)).toHaveCount(0);
    await page.goto('/dashboard');
    await expect(page).toHaveURL('/login');
    const left = await page.evaluate(async () => ({
      token: localStorage.getItem('token'),
      proof: localStorage.getItem('login-proof'),
      databases: (await indexedDB.databases()).map(({ name }) => name ?? ''),
    }));
    expect([left.token, left.proof]).toEqual([null, null]);
    expect(left.databases.filter((name) => /^sinetti-[0-9a-f]{8}-/.test(name))).toEqual([]);
    await page.getByLabel('Username').fill('alice.l');
    await page.getByLabel('Password', { exact: true }).fill(alice.password);
    await page.getByRole('button', { name: 'Log In' }).click();
    await expect(page.getByRole('alert')).toContainText('Wrong username or password.');
  });
});
