import { findsNoBarriers } from './support/axe.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';

test('the operator closes the door, invites somebody, suspends them and lets them in again', async ({
  newBrowser,
  relay,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { page } = alice;
  const form = page.getByRole('form', { name: 'Create your account' });

  await test.step('closed and by invitation, the page says so in the place of its form', async () => {
    await relay.operate('sign-up', 'closed');
    await page.goto('/signup');
    await expect(page.getByText('This server takes no new accounts at the moment.')).toBeVisible();
    await expect(form).toHaveCount(0);
    await findsNoBarriers(page);
    await fits(page);
    await relay.operate('sign-up', 'invitation');
    await page.reload();
    await expect(page.getByText('Signing up here takes an invitation.')).toBeVisible();
  });

  await test.step('the link of an invitation leads to the form, once', async () => {
    const { link } = await relay.operate<{ link: string }>('invitations', 'create');
    await alice.signUp(link);
    await expect(page.getByRole('tab', { name: 'Messages' })).toBeVisible();
    const { person: bob } = await newBrowser('bob');
    await bob.fillSignUp(link);
    await expect(bob.page.getByText('This invitation has been used or has expired.')).toBeVisible();
  });

  await test.step('suspended, she is out at once and reads why, also where she logs in again', async () => {
    await relay.operate('people', 'suspend', alice.username);
    const sentence = page.getByText('This account is suspended. Ask whoever runs this server.');
    await expect(sentence).toBeVisible();
    await alice.fillLogIn();
    await expect(page.getByRole('alert')).toContainText('This account is suspended.');
  });

  await test.step('restored, she is back in her account', async () => {
    await relay.operate('people', 'restore', alice.username);
    await alice.logIn();
  });
});
