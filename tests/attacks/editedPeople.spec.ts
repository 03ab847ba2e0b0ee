import { certificateOf } from '../../relay/test/devices.ts';
import { twoFriends, twoWhoTalk } from '../e2e/support/friends.ts';
import { becomeContacts, type Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';
import { fabricate } from './support/fabricated.ts';

/** Gives the devices of somebody certificates under an account key of the relay's own. */
function inventKey(relay: RunningRelay, { username }: Person): void {
  relay.inDatabase((db) => {
    const sql = 'select d.id, d.user_id from devices d join users u on u.id = d.user_id where u.username = ?';
    const devices = db.prepare(sql).all(username) as { id: string; user_id: string }[];
    for (const { id, user_id } of devices) {
      const certificate = Buffer.from(certificateOf(user_id, id), 'base64url');
      db.prepare('update devices set certificate = ? where id = ?').run(certificate, id);
    }
  });
}

/** Counts the messages that the relay has been given. */
function messagesAt(relay: RunningRelay): number {
  // Own devices tell each other things in their own group.
  const sql =
    "select count(*) as count from entries where kind = 'application' and conversation_id like 'direct:%'";
  return relay.inDatabase((db) => (db.prepare(sql).get() as { count: number }).count);
}

/** Exchanges the names of two people. */
function exchangeNames(relay: RunningRelay, one: Person, other: Person): void {
  relay.inDatabase((db) => {
    const rename = db.prepare('update users set username = ?, username_key = ? where username = ?');
    rename.run('nobody', 'nobody', one.username);
    rename.run(one.username, one.username, other.username);
    rename.run(other.username, other.username, 'nobody');
  });
}

interface Conversation {
  readonly id: string;
  readonly epoch: number;
  readonly group_info: Uint8Array;
}

/** The direct conversation of two people as the relay has it. */
function directConversation(relay: RunningRelay): Conversation {
  const sql = "select id, epoch, group_info from conversations where id like 'direct:%'";
  return relay.inDatabase((db) => db.prepare(sql).get() as Conversation);
}

/** Gives whoever comes into a conversation another one to come into. */
function letInto(relay: RunningRelay, { id, epoch, group_info }: Conversation): void {
  const sql = 'update conversations set epoch = ?, group_info = ? where id = ?';
  relay.inDatabase((db) => db.prepare(sql).run(epoch, group_info, id));
}

/** Counts the entries of a conversation. */
function lengthOf(relay: RunningRelay, { id }: Conversation): number {
  const sql = 'select count(*) as count from entries where conversation_id = ?';
  return relay.inDatabase((db) => (db.prepare(sql).get(id) as { count: number }).count);
}

/** Waits until a browser of this person's has left word of whom it has met. */
async function sharesPins(relay: RunningRelay, { username }: Person): Promise<void> {
  const sql =
    'select count(*) as count from account_states s join users u on u.id = s.user_id where u.username = ?';
  const count = () => relay.inDatabase((db) => (db.prepare(sql).get(username) as { count: number }).count);
  await expect.poll(count).toBe(1);
}

test('an invented key for an old contact is a changed key on a new browser, which sends nothing', async ({
  newBrowser,
  relay,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, 'You know me.');
  await sharesPins(relay, alice);

  const sent = messagesAt(relay);
  inventKey(relay, bob);
  const { person: again } = await newBrowser('alice');
  await again.logIn();
  await again.openChat(bob);
  await expect(again.page.getByText('Is this still')).toBeVisible();
  await again.send('The safe is behind the painting.');
  await expect(again.message('The safe is behind the painting.')).toHaveCount(1);
  // The other browser is told, and asks too.
  await expect(alice.page.getByText('Is this still')).toBeVisible();
  // A start tries what waits once more.
  await again.page.reload();
  await again.onDashboard();
  await again.openChat(bob);
  await expect(again.page.getByText('Is this still')).toBeVisible();
  await expect(again.message('The safe is behind the painting.')).toHaveCount(1);
  expect(messagesAt(relay)).toBe(sent);
  await expect(bob.message('The safe is behind the painting.')).toHaveCount(0);
});

test('names that the relay has exchanged are shown as their owners say, with its own beside them', async ({
  newBrowser,
  relay,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const { person: carol } = await newBrowser('carol');
  await carol.signUp();
  await becomeContacts(alice, carol);
  await bob.openChat(alice);
  await bob.send('Greetings from the harbour.');
  await carol.openChat(alice);
  await carol.send('Greetings from the hill.');
  await alice.openChat(bob);
  await alice.sees('Greetings from the harbour.');
  await alice.openChat(carol);
  await alice.sees('Greetings from the hill.');

  exchangeNames(relay, bob, carol);
  const asked = alice.page.waitForResponse((response) => response.url().endsWith('/users/names'));
  await alice.page.reload();
  await alice.onDashboard();
  await asked;
  await alice.openChat(bob);
  await alice.sees('Greetings from the harbour.');
  await expect(alice.page.getByText('The server calls them carol.')).toBeVisible();
  await alice.openChat(carol);
  await alice.sees('Greetings from the hill.');
  await expect(alice.page.getByText('The server calls them bob.')).toBeVisible();
});

test('a new browser comes into no direct conversation of the relay’s making, and then into the real one', async ({
  newBrowser,
  relay,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, 'You know me.');
  await sharesPins(relay, alice);
  await alice.page.goto('about:blank');
  await bob.page.goto('about:blank');

  const real = directConversation(relay);
  const length = lengthOf(relay, real);
  letInto(relay, { ...real, epoch: 1, group_info: await fabricate(relay, bob, real.id) });
  const { person: phone } = await newBrowser('alice');
  const asked = phone.page.waitForResponse((response) => response.url().endsWith('/group-info'));
  await phone.logIn();
  await phone.openChat(bob);
  expect(await (await asked).text()).toContain('"epoch":1');
  await phone.send('The safe is behind the painting.');
  await expect(phone.messages.getByRole('article').filter({ hasText: 'The safe' })).toContainText('Not sent');
  expect(lengthOf(relay, real)).toBe(length);

  letInto(relay, real);
  await bob.page.goto('/dashboard');
  await bob.onDashboard();
  await phone.page.reload();
  await phone.onDashboard();
  await phone.openChat(bob);
  await phone.page.getByRole('button', { name: 'Retry' }).click();
  await bob.openChat(alice);
  await bob.sees('The safe is behind the painting.');
});
