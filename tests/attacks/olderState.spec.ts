import { answered, textOf } from '../../relay/test/parts.ts';
import { twoFriends } from '../e2e/support/friends.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';

const stateOfAlice = 'user_id = (select id from users where username = ?)';

/** Returns Alice's account state at the relay, in hexadecimal; null where there is none. */
function stateAt(relay: RunningRelay): string | null {
  const sql = `select hex(sealed) as sealed from account_states where ${stateOfAlice}`;
  const rows = relay.inDatabase((db) => db.prepare(sql).all('alice')) as { sealed: string }[];
  return rows[0]?.sealed ?? null;
}

test('an older account state that the relay gives a new browser is told of there and on the other browsers', async ({
  newBrowser,
  relay,
}) => {
  const { alice: laptop, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const { person: phone } = await newBrowser('alice');
  await phone.logIn();
  await laptop.openChat(bob);
  await laptop.send('Do you know the way?');
  await expect.poll(() => stateAt(relay)).not.toBeNull();
  const older = Buffer.from(stateAt(relay)!, 'hex');

  await laptop.page.getByRole('button', { name: `Verify ${bob.username}` }).click();
  await laptop.page.getByRole('button', { name: 'Mark as verified' }).click();
  await laptop.confirmWithPassword();
  await expect(laptop.page.getByText('You have verified bob.')).toBeVisible();
  await laptop.page.keyboard.press('Escape');
  // Told after the mark, and so something that the relay had taken by then.
  await laptop.page.getByPlaceholder('Type a message...').pressSequentially('Half a thought');
  await expect(phone.contact(bob)).toContainText('Half a thought');

  const { person: tablet, context } = await newBrowser('alice');
  let isLying = true;
  // To this browser alone: in the database another one would put it right, perhaps before this one has read it.
  await context.route('**/api/account-state', async (route) => {
    if (!isLying || route.request().method() !== 'GET') return route.continue();
    const response = await route.fetch();
    const type = response.headers()['content-type'] ?? null;
    const state = JSON.parse(textOf(await response.body(), type, ['sealed', 'segments'])) as object;
    const body = answered('GET', '/account-state', { ...state, sealed: older.toString('base64url') });
    await route.fulfill({ response, body: Buffer.from(body) });
  });
  await tablet.logIn();
  const on = (person: typeof tablet) => person.page.getByRole('region', { name: 'Older account data' });
  await expect(on(laptop)).toContainText('than it had given to this browser before');
  await expect(on(tablet)).toContainText('has given this browser older account data');
  // The truth comes with the next start, and the finding is shown until the person knows of it.
  isLying = false;
  await tablet.page.reload();
  await tablet.openChat(bob);
  await expect(tablet.page.getByRole('button', { name: 'Verified', exact: true })).toBeVisible();
  await on(laptop).getByRole('button', { name: 'Dismiss' }).click();
  await expect(on(laptop)).toHaveCount(0);
  await laptop.page.reload();
  await laptop.onDashboard();
  await expect(laptop.contact(bob)).toBeVisible();
  await expect(on(laptop)).toHaveCount(0);
});
