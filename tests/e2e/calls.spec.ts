import { Calls } from './support/calls.ts';
import { becomeContacts } from './support/person.ts';
import { expect, test, type World } from './support/test.ts';

async function watched(newBrowser: World['newBrowser'], username: string) {
  const { person, context } = await newBrowser(username);
  return { person, context, calls: await Calls.of(person.page, context) };
}

/** Everything that may have changed while this browser was away, each once. */
const lists = [
  'GET /account-changes',
  'GET /account-state',
  'GET /contacts',
  'GET /contacts/requests',
  'GET /contacts/sent-requests',
  'GET /conversations',
  'GET /devices',
  'GET /group-invitations',
  'GET /groups',
  'GET /history?after=0&limit=200',
  'GET /notifications',
  'GET /vault',
  'GET /welcomes',
];

test('a session asks for each thing once, and for nothing once it is over', async ({ newBrowser }) => {
  const { person: alice, context, calls } = await watched(newBrowser, 'alice');

  await test.step('signing up', async () => {
    await alice.signUp();
    await calls.until('GET /history?after=0&limit=200');
    expect(calls.take()).toEqual(
      [
        ...lists,
        // Before it meets anybody a device reads who is known, and which devices are revoked.
        'GET /account-state',
        'GET /key-packages',
        'GET /revoked-devices',
        'GET /revoked-devices',
        'GET /version',
        // One for each suite.
        'POST /key-packages',
        'POST /key-packages',
        'POST /register',
        'POST /users/names',
        'PUT /devices/ID',
        'PUT /devices/me/start',
        'PUT /users/me/name',
        'PUT /vault',
      ].toSorted(),
    );
  });

  await test.step('a start', async () => {
    await alice.page.reload();
    await alice.onDashboard();
    await calls.until('GET /history?after=0&limit=200');
    expect(calls.take()).toEqual(
      [
        ...lists,
        'GET /key-packages',
        'GET /profile',
        'GET /revoked-devices',
        'PUT /devices/ID',
        'PUT /devices/me/start',
      ].toSorted(),
    );
  });

  await test.step('going offline and on again', async () => {
    await context.setOffline(true);
    await expect(alice.page.getByText('Offline: what you write is sent later')).toBeVisible();
    expect(calls.take()).toEqual([]);
    await context.setOffline(false);
    await calls.until('GET /history?after=0&limit=200');
    await expect(alice.page.getByText('Offline: what you write is sent later')).toBeHidden();
    expect(calls.take()).toEqual(
      [...lists, 'GET /profile', 'GET /revoked-devices?since', 'PUT /devices/ID'].toSorted(),
    );
  });

  const { person: again, calls: later } = await watched(newBrowser, 'alice');
  await again.logIn();
  await later.until('GET /history?after=0&limit=200');
  await test.step('being removed as a device', async () => {
    await again.tab('Profile').click();
    await again.page.getByRole('button', { name: /^Remove (?!device)/ }).click();
    // She adds the new device to her own conversation, and takes a Welcome that it has sent hers.
    await calls.until('POST /conversations/self:ID/commits');
    await calls.until('GET /key-packages');
    calls.take();
    await again.page.getByRole('button', { name: 'Remove device' }).click();
    await again.confirmWithPassword();
    await expect(alice.page).toHaveURL('/login');
    await expect(alice.page.getByRole('alert')).toContainText('removed from your account');
    expect(calls.take()).toEqual([]);
  });

  await test.step('logging out', async () => {
    await later.until('GET /history?after=0&limit=200');
    later.take();
    await again.logOut();
    await expect(again.page.getByRole('link', { name: 'Log In' }).first()).toBeVisible();
    expect(later.take()).toEqual(['POST /logout']);
  });
  expect([...calls.complaints, ...later.complaints]).toEqual([]);
});

/** Leaves out what is asked of people, and told to the own devices, some time after somebody was met. */
const ofGroups = (made: readonly string[]) =>
  made.filter((call) => !/ \/(?:account-state|users\/names)$/.test(call));

test('a group asks once for what it needs, and nothing asks for one that is gone', async ({ newBrowser }) => {
  const { person: alice, calls: hers } = await watched(newBrowser, 'alice');
  const { person: bob, calls: his } = await watched(newBrowser, 'bob');
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(alice, bob);

  await test.step('creating it', async () => {
    await alice.tab('Groups').click();
    await hers.until('GET /history?after=0&limit=200');
    hers.take();
    await alice.createGroup('Sailing');
    await hers.until('GET /messages/group/ID?after=1&limit=200');
    expect(ofGroups(hers.take())).toEqual([
      'GET /conversations/group:ID/receipts',
      'GET /group/ID',
      'GET /groups',
      'GET /messages/group/ID?after=0&digestOf=1&limit=200',
      'GET /messages/group/ID?after=1&limit=200',
      'POST /conversations/group:ID/commits',
      'POST /group',
      'POST /key-packages/claim',
    ]);
  });

  await test.step('adding a member', async () => {
    // Looking at the details reads them.
    await alice.openDetails();
    await hers.until('GET /group/ID');
    hers.take();
    his.take();
    await alice.addMember(bob);
    await hers.until('GET /group/ID');
    const made = ofGroups(hers.take());
    // One's own commit comes over the group's topic as well: it is read from the log where that took longer.
    expect(made.filter((call) => !call.startsWith('GET /messages/'))).toEqual([
      'GET /group/ID',
      'GET /group/ID',
      'GET /groups',
      'POST /group/ID/add',
      // Nothing is claimed of those who want to be asked first.
      'POST /group/ID/invitations',
      'POST /key-packages/claim',
    ]);
    expect(made.filter((call) => call.startsWith('GET /messages/')).length).toBeLessThan(2);
    await expect(bob.tab('Groups')).toBeVisible();
    await his.until('GET /key-packages');
    expect(ofGroups(his.take())).toEqual([
      'DELETE /welcomes/ID',
      // By which the running hash is that of all entries, and not what alice says of them.
      'GET /conversations/group:ID/digests?after=0&before=3',
      'GET /group/ID',
      'GET /groups',
      'GET /key-packages',
      'GET /messages/group/ID?after=1&digestOf=2&limit=200',
      'GET /messages/group/ID?after=2&limit=200',
      'GET /welcomes',
    ]);
  });

  await test.step('deleting it, with its chat open at a member', async () => {
    await bob.openGroup('Sailing');
    await his.until('GET /messages/group/ID?before=2&digestOf=2&limit=50');
    his.take();
    await alice.deleteGroup('Sailing');
    await hers.until('DELETE /history?conversationId=group:ID');
    expect(ofGroups(hers.take())).toEqual([
      'DELETE /group/ID',
      'DELETE /history?conversationId=group:ID',
      'GET /groups',
      'POST /proof-nonce',
    ]);
    await expect(bob.page.getByText('This group is no longer on the server.')).toBeVisible();
    await his.until('GET /group/ID/departure');
    expect(ofGroups(his.take())).toEqual(['GET /group/ID/departure', 'GET /groups']);
    // The calls that are left are this browser's own.
    await bob.tab('Messages').click();
    await bob.openGroup('Sailing');
    await his.settled();
    expect(ofGroups(his.take())).toEqual([]);
  });

  await test.step('leaving one, and deleting the account in another', async () => {
    for (const name of ['Rowing', 'Skating']) {
      await alice.createGroup(name);
      await alice.addMember(bob);
      await bob.openGroup(name);
    }
    await bob.leaveGroup('Skating');
    await bob.tab('Profile').click();
    await bob.page.getByRole('button', { name: 'Delete Account' }).click();
    await bob.page.getByRole('button', { name: 'Confirm Delete' }).click();
    await bob.confirmWithPassword();
    await expect(bob.page.getByText(/^Your account has been successfully deleted\./)).toBeVisible();
    await expect(alice.group('Rowing')).toContainText('Creator');
    await alice.openGroup('Rowing');
    await expect(alice.page.getByText('1 member', { exact: true })).toBeVisible();
    await hers.settled();
  });
  expect([...hers.complaints, ...his.complaints]).toEqual([]);
});
