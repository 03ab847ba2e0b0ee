import { twoFriends } from './support/friends.ts';
import { becomeContacts, type Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const name = 'Saturday sailors';

/** Each person in a browser of their own, all of them contacts of the first. */
async function threePeople(
  newBrowser: (username: string) => Promise<{ person: Person }>,
): Promise<[Person, Person, Person]> {
  const { person: alice } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  const { person: carol } = await newBrowser('carol');
  for (const person of [alice, bob, carol]) await person.signUp();
  await becomeContacts(alice, bob);
  await becomeContacts(alice, carol);
  return [alice, bob, carol];
}

test('three people make a group, talk, one leaves, the others go on, and it ends', async ({ newBrowser }) => {
  const [alice, bob, carol] = await threePeople(newBrowser);

  await test.step('create and add', async () => {
    await alice.createGroup(name);
    await expect(alice.page.getByRole('heading', { name })).toBeVisible();
    await alice.addMember(bob);
    await alice.send('Just the two of us so far.');
    await bob.openGroup(name);
    await bob.sees('Just the two of us so far.');
    await alice.addMember(carol);
    await carol.openGroup(name);
    await expect(carol.messages.getByText('Just the two of us so far.')).toHaveCount(0);
    await expect(carol.page.getByText(/You can read messages since/)).toBeVisible();
  });

  await test.step('talk', async () => {
    await alice.send('Nine o’clock at the pier?');
    for (const person of [bob, carol]) await person.sees('Nine o’clock at the pier?');
    await bob.send('Gladly.');
    await carol.send('I bring the charts.');
    for (const person of [alice, bob, carol]) await person.sees('Gladly.', 'I bring the charts.');
    await expect(carol.messages.getByText('bob', { exact: true }).first()).toBeVisible();
  });

  await test.step('the details show who made it and who one is', async () => {
    await carol.openDetails();
    await expect(carol.details.getByRole('listitem')).toHaveText([/alice.*Creator/, /bob/, /carol.*You/]);
    await expect(carol.details.getByRole('combobox')).toHaveCount(0);
  });

  await test.step('unread messages are counted until they are seen', async () => {
    await carol.tab('Messages').click();
    await alice.send('And who brings the coffee?');
    await expect(carol.tab('Groups')).toContainText('1');
    await carol.openGroup(name);
    await carol.sees('And who brings the coffee?');
    await expect(carol.tab('Groups')).not.toContainText('1');
  });

  await test.step('one leaves; what is sent then is not for them', async () => {
    await bob.leaveGroup(name);
    await expect(bob.group(name)).toHaveCount(0);
    await expect(bob.page.getByText('No groups yet')).toBeVisible();
    await alice.send('Now we are two again.');
    await carol.sees('Now we are two again.');
    await expect(carol.page.getByText('bob left the group')).toBeVisible();
    await carol.send('Then there is more cake.');
    await alice.sees('Then there is more cake.');
    await expect(alice.details.getByRole('listitem')).toHaveText([/alice.*Creator.*You/, /carol/]);
  });

  await test.step('a reload keeps the group, its messages, and who left', async () => {
    await carol.page.reload();
    await carol.onDashboard();
    await carol.openGroup(name);
    await carol.sees('Nine o’clock at the pier?', 'Now we are two again.', 'Then there is more cake.');
    await expect(carol.page.getByText('bob left the group')).toBeVisible();
    await expect(carol.messages.getByText('bob', { exact: true }).first()).toBeVisible();
  });

  await test.step('its creator deletes it', async () => {
    await alice.deleteGroup(name);
    await expect(alice.page.getByText('Welcome to Group Chat')).toBeVisible();
    await expect(alice.group(name)).toHaveCount(0);
    await expect(carol.page.getByText('This group is no longer on the server.')).toBeVisible();
    await carol.sees('Then there is more cake.');
    await expect(carol.page.getByPlaceholder('Type a message...')).toHaveCount(0);
    await carol.page.getByRole('button', { name: 'Remove from this browser' }).click();
    await carol.page
      .getByRole('alertdialog')
      .getByRole('button', { name: 'Remove from this browser' })
      .click();
    await expect(carol.group(name)).toHaveCount(0);
    await expect(carol.page.getByText('Welcome to Group Chat')).toBeVisible();
  });
});

test('without MQTT, a group talks over REST', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: false });
  await alice.createGroup(name);
  await alice.addMember(bob);
  const overRest = alice.page.waitForResponse(
    (answer) => answer.request().method() === 'POST' && answer.url().includes('/api/messages/group/'),
  );
  await alice.send('The broker is gone, the words are not.');
  expect((await overRest).status()).toBe(201);
  await bob.openGroup(name);
  await bob.sees('The broker is gone, the words are not.');
  await bob.send('They arrive here too.');
  await alice.sees('They arrive here too.');
});

test('notifications count, lead to what they are about, and can be read and deleted', async ({
  newBrowser,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  await alice.signUp();
  await bob.signUp();
  const bell = (person: Person) => person.page.getByRole('button', { name: /^Notifications/ });
  const list = (person: Person) => person.page.getByRole('dialog', { name: 'Notifications' });

  await bell(alice).click();
  await expect(list(alice).getByText('No notifications yet')).toBeVisible();
  await alice.page.keyboard.press('Escape');

  await alice.requestContact(bob);
  await expect(bell(bob)).toHaveAccessibleName('Notifications, 1 unread');
  await bell(bob).click();
  await list(bob)
    .getByRole('button', { name: /^alice wants to be your contact/ })
    .click();
  await expect(bob.page.getByRole('heading', { name: 'My Contacts' })).toBeVisible();
  await expect(bell(bob)).toHaveAccessibleName('Notifications');
  await bob.acceptContact(alice);

  await bob.openChat(alice);
  await bob.send('Hello from the notifications.');
  await expect(bell(alice)).toHaveAccessibleName('Notifications, 2 unread');
  await bell(alice).click();
  await list(alice)
    .getByRole('button', { name: /^bob sent you a message/ })
    .click();
  await alice.sees('Hello from the notifications.');

  await bell(alice).click();
  await list(alice).getByRole('button', { name: 'Mark all as read' }).click();
  await expect(list(alice).getByRole('button', { name: 'Mark all as read' })).toHaveCount(0);
  const remove = list(alice).getByRole('button', { name: /^Delete notification/ });
  await expect(remove).toHaveCount(2);
  await remove.first().click();
  await expect(remove).toHaveCount(1);
});

test('a phone’s Back button closes what is open, and only then leaves', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice', { viewport: { width: 360, height: 740 } });
  const { person: bob } = await newBrowser('bob');
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(alice, bob);
  await alice.page.goBack();
  await expect(alice.page.getByRole('heading', { name: 'My Contacts' })).toBeVisible();

  await alice.openChat(bob);
  await alice.page.goBack();
  await expect(alice.contact(bob)).toBeVisible();
  await expect(alice.page).toHaveURL('/dashboard');

  await alice.createGroup(name);
  await alice.openDetails();
  await alice.page.goBack();
  await expect(alice.page.getByPlaceholder('Type a message...')).toBeVisible();
  await alice.page.reload();
  await expect(alice.page.getByRole('heading', { name })).toBeVisible();
  await alice.page.goBack();
  await expect(alice.group(name)).toBeVisible();
  await expect(alice.page).toHaveURL('/dashboard');
});
