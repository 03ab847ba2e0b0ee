import { MailServer } from '#relay/test/mailServer.ts';
import { findsNoBarriers } from './support/axe.ts';
import { fits } from './support/layout.ts';
import type { Person } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { test as base, expect } from './support/test.ts';

const test = base.extend<{ mails: MailServer }>({
  mails: async ({}, provide) => {
    const mails = new MailServer();
    await provide(mails);
    await mails.close();
  },
  relay: async ({ mails }, provide) => {
    const SMTP_URL = `smtp://127.0.0.1:${await mails.listen()}`;
    const relay = await RunningRelay.start({ SMTP_URL, SMTP_FROM: 'relay@example.org' });
    await provide(relay);
    mails.hangUp();
    await relay.stop();
  },
});

async function codeMailedTo(mails: MailServer, address: string): Promise<string> {
  await expect.poll(() => mails.codeFor(address)).not.toBeNull();
  return mails.codeFor(address) ?? '';
}

async function search(seeker: Person, text: string): Promise<void> {
  const field = seeker.page.getByPlaceholder('Search by email or username...');
  await field.fill('');
  await field.fill(text);
}

test('an email is verified by the code that is mailed to it, and a changed one waits for its own', async ({
  mails,
  newBrowser,
}) => {
  const [{ person: alice }, { person: bob }] = [await newBrowser('alice'), await newBrowser('bob')];
  for (const person of [alice, bob]) await person.signUp();
  const { page } = alice;
  const newEmail = 'alice.l@example.org';
  const form = page.getByRole('form', { name: 'Email not verified yet' });
  const pending = page.getByRole('form', { name: 'New email to verify' });
  const label = 'Code from the mail';
  const code = form.getByLabel(label);
  await bob.tab('Contacts').click();
  await bob.page.getByRole('button', { name: 'Find Users' }).click();
  const found = bob.page.getByRole('listitem').filter({ hasText: 'alice' });

  await test.step('before, nobody finds her by it, and who finds her by name is not shown it', async () => {
    await search(bob, alice.email);
    await expect(bob.page.getByText(`No users found matching "${alice.email}"`)).toBeVisible();
    await search(bob, 'alice');
    await expect(found).toBeVisible();
    await expect(found).not.toContainText('@');
  });

  await test.step('her profile asks for the code', async () => {
    await alice.tab('Profile').click();
    await expect(form).toBeVisible();
    await findsNoBarriers(page);
    await fits(page);
    const right = await codeMailedTo(mails, alice.email);
    await code.fill(right === '00000000' ? '00000001' : '00000000');
    await page.keyboard.press('Enter');
    await expect(form.getByText('This is not the code that was mailed last.')).toBeVisible();
    await expect(code).toBeFocused();
    await code.fill(right);
    await page.keyboard.press('Enter');
    await expect(alice.toast('Your email is verified')).toBeVisible();
    await expect(form).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Edit Profile' })).toBeFocused();
  });

  await test.step('now bob finds her by it', async () => {
    await search(bob, alice.email);
    await expect(found).toContainText(alice.email);
  });

  await test.step('another email is pending until its code comes back', async () => {
    await page.getByRole('button', { name: 'Edit Profile' }).click();
    await page.getByRole('textbox', { name: 'Email' }).fill(newEmail);
    await page.getByRole('button', { name: 'Save Changes' }).click();
    await alice.confirmWithPassword();
    await expect(alice.toast('A code is on its way to the new email')).toBeVisible();
    await expect(page.getByRole('definition').filter({ hasText: alice.email })).toBeVisible();
    await expect(pending).toContainText(`${newEmail} takes the place of your email`);
    await pending.getByLabel(label).fill(await codeMailedTo(mails, newEmail));
    await pending.getByRole('button', { name: 'Verify' }).click();
    await expect(page.getByRole('definition').filter({ hasText: newEmail })).toBeVisible();
    await expect(pending).toHaveCount(0);
    await search(bob, newEmail);
    await expect(found).toContainText(newEmail);
  });
});
