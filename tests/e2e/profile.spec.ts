import { readFile } from 'node:fs/promises';
import type { Download, Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { expect, test } from './support/test.ts';

const hostile = '<img src=x onerror="document.title=1"> & \u202eevil\u202c "quoted"';

/** The file of an export, where the browser can't be asked for a place: it comes as a download then. */
async function downloaded(page: Page, format: 'JSON' | 'HTML'): Promise<Download> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: `Download ${format}` }).click();
  return download;
}

/** As a browser that asks for a place: the first time nobody wants one, and then one in its own storage is chosen. */
async function withFileDialogs(page: Page): Promise<void> {
  await page.evaluate(() => {
    const asked: string[] = [];
    async function showSaveFilePicker({ suggestedName }: { suggestedName: string }) {
      asked.push(suggestedName);
      if (asked.length === 1) {
        await new Promise<void>((resolve) => Object.assign(window, { cancelDialog: resolve }));
        throw new DOMException('', 'AbortError');
      }
      const folder = await navigator.storage.getDirectory();
      return folder.getFileHandle(suggestedName, { create: true });
    }
    Object.assign(window, { asked, showSaveFilePicker });
  });
}

async function withoutFileDialogs(page: Page): Promise<void> {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
}

test('a person takes new names, takes their data with them, and goes', async ({ browser, newBrowser }) => {
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
    const saves: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/users/me')) saves.push(request.method());
    });
    await page.getByLabel('Username').fill('alice of the lake');
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await expect(page.getByLabel('Username')).toBeFocused();
    await expect(
      page.getByText('Usernames have 2 to 32 characters: letters of one script, digits and . _ - only'),
    ).toBeVisible();
    expect(saves).toEqual([]);
    await page.getByLabel('Username').fill('bob');
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await expect(alice.prompt.getByText('email of your account to bob alice@')).toBeVisible();
    await alice.confirmWithPassword();
    await expect(page.getByText('This username is already taken.')).toBeVisible();
    await findsNoBarriers(page);
    await page.getByLabel('Username').fill('alice.l');
    await page.getByRole('textbox', { name: 'Email' }).fill('alice.l@example.org');
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await alice.confirmWithPassword();
    await expect(alice.toast('Profile updated successfully')).toBeVisible();
    await expect(page.getByRole('banner').getByText('alice.l')).toBeVisible();
    await alice.logOut();
    await page.goto('/login');
    await page.getByLabel('Username').fill('alice.l@example.org');
    await page.getByLabel('Password', { exact: true }).fill(alice.password);
    await page.getByRole('button', { name: 'Log In' }).click();
    await alice.onDashboard();
  });

  await test.step('since when they are a member is a date', async () => {
    await alice.tab('Profile').click();
    const since = page.getByRole('definition').filter({ has: page.getByRole('time') });
    await expect(since).toHaveText(/^[A-Z][a-z]+ \d{1,2}, \d{4}$/);
  });

  await test.step('the export asks for one place, and for none again when nobody wants one', async () => {
    await withFileDialogs(page);
    const asked = () => page.evaluate(() => (window as unknown as { asked: string[] }).asked.length);
    const button = page.getByRole('button', { name: 'Download JSON' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect(button).toBeDisabled();
    await expect(button).not.toBeFocused();
    await page.evaluate(() => (window as unknown as { cancelDialog: () => void }).cancelDialog());
    await expect(alice.toast('The data export was cancelled')).toBeVisible();
    await expect(button).toBeEnabled();
    await expect(button).toBeFocused();
    expect(await asked()).toBe(1);
    await page.keyboard.press('Enter');
    await expect(alice.toast('Your data export has been generated')).toBeVisible();
    expect(await asked()).toBe(2);
    const saved = await page.evaluate(async () => {
      const name = (window as unknown as { asked: string[] }).asked[1] ?? '';
      const folder = await navigator.storage.getDirectory();
      return (await (await folder.getFileHandle(name)).getFile()).text();
    });
    expect(JSON.parse(saved).messages).toMatchObject([{ content: hostile }]);
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  });

  await test.step('the export: a file for programs, and one for people that is safe to open', async () => {
    const downloads: string[] = [];
    page.on('download', (download) => downloads.push(download.suggestedFilename()));
    const data = await downloaded(page, 'JSON');
    const written = JSON.parse(await readFile(await data.path(), 'utf8'));
    expect(written.profile).toMatchObject({ username: 'alice.l', email: 'alice.l@example.org' });
    expect(written.contacts).toMatchObject([{ username: 'bob' }]);
    expect(written.messages).toMatchObject([{ from_user: 'alice.l', to_user: 'bob', content: hostile }]);
    const readable = await downloaded(page, 'HTML');
    expect(downloads).toEqual([
      expect.stringMatching(/^sinetti-user-data-\d{4}-\d\d-\d\d\.json$/),
      expect.stringMatching(/^sinetti-user-data-\d{4}-\d\d-\d\d\.html$/),
    ]);

    const context = await browser.newContext({ offline: true });
    const reader = await context.newPage();
    const complaints: string[] = [];
    reader.on('console', (message) => complaints.push(message.text()));
    await reader.setContent(await readFile(await readable.path(), 'utf8'));
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
    await alice.confirmWithPassword();
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
