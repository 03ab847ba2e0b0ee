import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';

test('two people talk in two browsers, and a third browser joins', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  await alice.signUp();
  await bob.signUp();

  await becomeContacts(alice, bob);

  await alice.openChat(bob);
  await alice.send('Shall we meet at the harbour at noon?');
  await expect(bob.tab('Messages')).toContainText('1');
  await bob.openChat(alice);
  await bob.sees('Shall we meet at the harbour at noon?');
  await expect(bob.tab('Messages')).not.toContainText('1');
  await bob.send('Gladly. I bring the coffee.');
  await alice.sees('Gladly. I bring the coffee.');

  const conversation = ['Shall we meet at the harbour at noon?', 'Gladly. I bring the coffee.'];

  await test.step('both reload and see the whole conversation', async () => {
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      await one.page.reload();
      await one.onDashboard();
      await one.openChat(other);
      await one.sees(...conversation);
    }
  });

  await test.step('both log out, log in again in the same browser, and still see it', async () => {
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      await one.logOut();
      await one.logIn();
      await one.openChat(other);
      await one.sees(...conversation);
    }
  });

  await test.step("a third browser becomes Alice's second device, and reads what was said before it", async () => {
    const { person: second } = await newBrowser('alice');
    await second.logIn();
    await second.openChat(bob);
    await second.sees(...conversation);

    await bob.send('Can you read this on both?');
    await second.sees('Can you read this on both?');
    await alice.sees('Can you read this on both?');

    await second.send('Yes, from the new one.');
    await alice.sees('Yes, from the new one.');
    await bob.sees('Yes, from the new one.');

    await alice.send('And from the old one.');
    await second.sees('And from the old one.');
    await bob.sees('And from the old one.');

    await test.step('what one browser reads is read on the other', async () => {
      await second.tab('Contacts').click();
      await alice.tab('Contacts').click();
      await bob.send('Are you there?');
      await expect(second.tab('Messages')).toContainText('1');
      await expect(alice.tab('Messages')).toContainText('1');
      await alice.openChat(bob);
      await expect(second.tab('Messages')).not.toContainText('1');
    });
  });
});
