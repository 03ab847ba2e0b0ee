import { test } from './test.ts';

test('two people talk in Firefox, through a reload, a log-out and a server that is away', async ({
  newVisitor,
  relay,
}) => {
  const alice = await newVisitor('alice');
  const bob = await newVisitor('bob');
  await alice.signUp();
  await bob.signUp();
  await alice.requestContact(bob);
  await bob.acceptContact(alice);

  await alice.openChat(bob);
  await alice.send('Shall we meet at the harbour at noon?');
  await bob.openChat(alice);
  await bob.sees('Shall we meet at the harbour at noon?');
  await bob.send('Gladly. I bring the coffee.');
  await alice.sees('Gladly. I bring the coffee.');

  const seesAll = async () => {
    await alice.openChat(bob);
    await alice.sees('Shall we meet at the harbour at noon?');
    await alice.sees('Gladly. I bring the coffee.');
  };
  await alice.reload();
  await seesAll();
  await alice.logOut();
  await alice.logIn();
  await seesAll();

  // Both origins have a service worker, that of the frame too.
  for (const frame of [alice.page.mainFrame(), alice.keys]) {
    await frame.evaluate(async () => void (await navigator.serviceWorker.ready));
  }
  await relay.stop();
  await alice.reload();
  await seesAll();
});
