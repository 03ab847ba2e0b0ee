import {
  alertOn,
  callsOf,
  logOf,
  reads,
  sentOver,
  tokenIn,
  watchFor,
  whileFailing,
} from './support/failing.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const serverError = { status: 500, code: 'internal', detail: 'x' };
const sessionExpired = { status: 401, code: 'session-expired', detail: 'x' };

test('what two people do with each other, and how each call of it fails', async ({ newBrowser }) => {
  const { person: alice, context: aliceBrowser } = await newBrowser('alice');
  const { person: bob, context: bobBrowser } = await newBrowser('bob');
  const { page } = alice;
  const log = logOf(page);
  const overMqtt = sentOver(page, '/mqtt');
  const overPresence = sentOver(page, '/ws/presence/');
  const calls = callsOf(page);
  const bobsCalls = callsOf(bob.page);
  const token = tokenIn(page);
  await page.clock.install();
  await alice.signUp();
  await test.step('lists that cannot be loaded say so', async () => {
    await whileFailing(bobBrowser, 'GET', /^\/(contacts\/sent-requests|notifications)$/, 500, async () => {
      await bob.signUp();
      await bob.page.getByRole('button', { name: /^Notifications/ }).click();
      await expect(bob.page.getByText('Failed to load notifications. Please try again.')).toBeVisible();
      await bob.page.keyboard.press('Escape');
      await bob.tab('Contacts').click();
      await expect(alertOn(bob.page, 'Failed to load sent requests. Please try again.')).toBeVisible();
    });
    // Unless the list was read again in the meantime, as it is every ten seconds.
    const again = bob.page.getByRole('button', { name: 'Try again' });
    await again.click({ timeout: 5_000 }).catch(() => undefined);
    await expect(alertOn(bob.page, 'Failed to load')).toBeHidden();
  });

  const requestFrom = (other: Person) => bob.page.getByRole('listitem').filter({ hasText: other.email });
  let bobId = '';

  await test.step('a search and a contact request say why they fail, and the request is listed when sent', async () => {
    await alice.tab('Contacts').click();
    await page.getByRole('button', { name: 'Find Users' }).click();
    const input = page.getByPlaceholder('Search by email or username...');
    await aliceBrowser.route('**/api/users/search?*', () => undefined);
    const silent = page.waitForRequest('**/api/users/search?*');
    await input.fill('no & answer');
    expect(new URL((await silent).url()).searchParams.get('q')).toBe('no & answer');
    await page.clock.fastForward(30_000);
    await expect(alertOn(page, 'Failed to search users. Please try again.')).toBeVisible();
    await expect.poll(log).toMatch(/server-unreachable .*"\/users\/search" code="timeout"/);
    await aliceBrowser.unroute('**/api/users/search?*');

    await input.fill('bob');
    const found = page.getByRole('listitem').filter({ hasText: 'bob' });
    const add = found.getByRole('button', { name: 'Add Contact' });
    for (const [failure, sentence] of [
      [500, 'Failed to send contact request. Please try again.'],
      [{ status: 429, code: 'rate-limited', detail: 'Not so fast.' }, 'Not so fast.'],
    ] as const) {
      await whileFailing(aliceBrowser, 'POST', /^\/contacts?\/request\//, failure, async () => {
        await add.click();
        await reads(alice, sentence);
      });
    }
    const sent = page.waitForRequest('**/api/contacts/request/*');
    await add.click();
    await reads(alice, 'Contact request sent successfully');
    bobId = (await sent).url().split('/').at(-1) ?? '';
    await page.getByRole('button', { name: 'Back to contacts' }).click();
    await expect(page.getByRole('region', { name: 'Sent Requests' })).toContainText('bob');
  });

  await test.step('a request that cannot be answered says so; declined it goes, accepted it makes a contact', async () => {
    await expect(bob.tab('Contacts')).toContainText('1');
    await bob.tab('Contacts').click();
    for (const [path, action, sentence] of [
      [/^\/contacts?\/accept\//, 'Accept', 'Failed to accept request. Please try again.'],
      [/^\/contacts?\/(reject|deny)\//, 'Decline', 'Failed to reject request. Please try again.'],
    ] as const) {
      await whileFailing(bobBrowser, 'POST', path, 500, async () => {
        await requestFrom(alice).getByRole('button', { name: action }).click();
        await reads(bob, sentence);
        await expect(requestFrom(alice).getByRole('button', { name: action })).toBeEnabled();
      });
    }
    await requestFrom(alice).getByRole('button', { name: 'Decline' }).click();
    await reads(bob, 'Contact request rejected');
    await expect(requestFrom(alice)).toHaveCount(0);
    await expect(bob.tab('Contacts')).not.toContainText('1');
    await expect(page.getByRole('region', { name: 'Sent Requests' })).toBeHidden();

    await alice.requestContact(bob);
    await bob.acceptContact(alice);
    await expect(requestFrom(alice)).toHaveCount(0);
    await expect(bob.page.getByRole('region', { name: 'My Contacts' })).toContainText('alice');
    await alice.tab('Messages').click();
    await page.getByRole('button', { name: /^Notifications/ }).click();
    await page.getByRole('button', { name: /^bob accepted your contact request/ }).click();
    await expect(page.getByRole('region', { name: 'My Contacts' })).toContainText('bob');
  });

  await test.step('who is online is told by the presence socket, and by the event ws-message', async () => {
    await alice.openChat(bob);
    const standing = async (text: 'Online' | 'Offline') => {
      await expect(alice.contact(bob)).toContainText(text);
      await expect(page.getByRole('region', { name: 'Chat with bob' }).getByText(text)).toBeVisible();
    };
    await standing('Online');
    await bob.page.goto('about:blank');
    await standing('Offline');
    await bob.page.goto('/dashboard');
    await standing('Online');
    const tell = (detail: object) =>
      page.evaluate(
        (given) => window.dispatchEvent(new CustomEvent('ws-message', { detail: given })),
        detail,
      );
    await tell({ type: 'presence', userId: bobId, online: false });
    await standing('Offline');
    await tell({ type: 'online_users', userIds: [bobId] });
    await standing('Online');
    await tell({ type: 'online_users', userIds: [] });
    await standing('Offline');

    expect(overPresence()).toMatch(/"userId":"[0-9a-f-]{36}","online":true,"token":"/);
    expect(overMqtt()).toMatch(/user\/[0-9a-f-]{36}\/messages/);
    await expect.poll(overMqtt).toContain(`user/${bobId}/status`);
    await page.clock.fastForward(30_000);
    await expect.poll(overPresence).toContain('{"type":"ping"}');
    await expect.poll(overMqtt).toMatch(/\{"type":"ping","userId":"[0-9a-f-]{36}","timestamp":"/);
  });

  await test.step('what is read in the background fails without a word', async () => {
    await alice.tab('Contacts').click();
    const polled = ['contacts', 'contacts/requests', 'contacts/sent-requests', 'notifications'];
    await whileFailing(aliceBrowser, 'GET', /^\/(contacts.*|notifications)$/, 400, async () => {
      const failed = polled.map((path) =>
        page.waitForResponse((answer) => answer.url().endsWith(`/api/${path}`) && answer.status() === 400, {
          timeout: 60_000,
        }),
      );
      await page.clock.fastForward(10_000);
      await Promise.all(failed);
      await alice.tab('Messages').click();
      await alice.tab('Contacts').click();
      await expect(page.getByRole('region', { name: 'My Contacts' })).toContainText('bob');
      await expect(alertOn(page, 'Failed')).toHaveCount(0);
    });
  });

  await test.step('a real-time connection that nobody answers is tried again', async () => {
    await aliceBrowser.routeWebSocket(/\/mqtt$/, () => undefined);
    await page.reload();
    await expect(page.getByRole('banner').getByText('Connecting…')).toBeVisible();
    await page.clock.fastForward(10_000);
    await expect(page.getByRole('banner').getByText('Reconnecting…')).toBeVisible();
    expect(log()).toMatch(/realtime-closed code="(timeout|unreachable)"/);
  });

  await test.step('a message that is not sent says why; one that is shows how far it has come', async () => {
    await alice.openChat(bob);
    const bubble = (text: string) => alice.messages.getByRole('article').filter({ hasText: text });
    const messages = /^\/messages\/user\//;
    for (const [failure, sentence] of [
      [
        { status: 404, code: 'not-found', detail: 'x' },
        'Cannot send message. The message service is currently unavailable.',
      ],
      [
        { status: 403, code: 'not-a-contact', detail: 'x' },
        'You do not have permission to send messages to this user.',
      ],
      [serverError, 'Server error occurred while sending message. Please try again later.'],
      [{ status: 429, code: 'rate-limited', detail: 'Not so fast.' }, 'Failed to send message: Not so fast.'],
      [418, 'Failed to send message. Please try again.'],
    ] as const) {
      await whileFailing(aliceBrowser, 'POST', messages, failure, async () => {
        await alice.send(`meets ${JSON.stringify(failure)}`);
        await reads(alice, sentence);
        await expect(bubble(`meets ${JSON.stringify(failure)}`)).toContainText('Not sent.');
      });
    }
    const path = '"/messages/user/{id}"';
    expect(log()).toMatch(new RegExp(`permission-error .*${path} .*status=403`));
    expect(log()).toMatch(new RegExp(`server-error .*${path} .*status=500`));
    expect(log()).toMatch(new RegExp(`resource-not-found .*${path} .*status=404 .*hint=`));

    let answer = () => undefined as void;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await aliceBrowser.route('**/api/messages/user/*', async (route) => {
      if (route.request().method() === 'POST') await answered;
      await route.fallback();
    });
    await alice.send('On its way.');
    await expect(bubble('On its way.')).toContainText('Sending');
    answer();
    await expect(bubble('On its way.')).toContainText('Sent');
    await bob.openChat(alice);
    await bob.sees('On its way.');
    await expect.poll(() => bobsCalls.join()).toMatch(/PUT \/messages\/[0-9a-f-]{36}\/delivered/);
    // Bob's browser says so itself, a moment later.
    await expect(async () => {
      await page.clock.fastForward(10_000);
      await expect(bubble('On its way.')).toContainText('Read', { timeout: 1_000 });
    }).toPass();

    await alice.tab('Contacts').click();
    await whileFailing(aliceBrowser, 'GET', messages, serverError, async () => {
      await alice.openChat(bob);
      await reads(alice, 'Failed to load messages. Please try again.');
      await alice.sees('On its way.');
    });
  });

  await test.step('a notification that cannot be changed says so', async () => {
    await alice.tab('Messages').click();
    await bob.tab('Profile').click();
    await alice.openChat(bob);
    await alice.send('For the bell.');
    await expect(bob.page.getByRole('button', { name: /^Notifications, \d+ unread/ })).toBeVisible();
    const bell = bob.page.getByRole('button', { name: /^Notifications/ });
    await bell.click();
    const list = bob.page.getByRole('dialog', { name: 'Notifications' });
    for (const [method, path, button, sentence] of [
      [
        'POST',
        /^\/notifications\/read-all$/,
        /^Mark all/,
        'Failed to mark all notifications as read. Please try again.',
      ],
      [
        'DELETE',
        /^\/notifications\//,
        /^Delete notification: alice sent/,
        'Failed to delete notification. Please try again.',
      ],
      [
        'POST',
        /^\/notifications\/read\//,
        /^alice sent/,
        'Failed to mark notification as read. Please try again.',
      ],
    ] as const) {
      await whileFailing(bobBrowser, method, path, 500, async () => {
        await list.getByRole('button', { name: button }).click();
        await expect(bob.toast(sentence)).toBeVisible();
      });
    }
  });

  await test.step('a profile that cannot be saved or deleted says so', async () => {
    await bob.tab('Profile').click();
    await bob.page.getByRole('button', { name: 'Edit Profile' }).click();
    await whileFailing(bobBrowser, 'PUT', /^\/users\/me$/, 500, async () => {
      await bob.page.getByRole('button', { name: 'Save Changes' }).click();
      await expect(alertOn(bob.page, 'Failed to update profile')).toBeVisible();
    });
    await bob.page.getByRole('button', { name: 'Cancel' }).click();
    await bob.page.getByRole('button', { name: 'Delete Account' }).click();
    await whileFailing(bobBrowser, 'DELETE', /^\/user$/, 500, async () => {
      await bob.page.getByRole('button', { name: 'Confirm Delete' }).click();
      await bob.confirmWithPassword();
      await expect(alertOn(bob.page, 'Failed to delete account. Please try again.')).toBeVisible();
      await expect(bob.page.getByRole('button', { name: 'Confirm Delete' })).toBeEnabled();
    });
  });

  await test.step('a group says what cannot be done with it', async () => {
    await alice.tab('Groups').click();
    await page.getByRole('button', { name: 'New Group' }).click();
    await whileFailing(aliceBrowser, 'POST', /^\/group$/, 500, async () => {
      await page.getByLabel('Group name').fill('Sailors');
      await page.getByRole('button', { name: 'Create Group' }).click();
      await reads(alice, 'Failed to create group. Please try again.');
    });
    await page.getByRole('button', { name: 'Create Group' }).click();
    await expect(page.getByRole('heading', { name: 'Sailors' })).toBeVisible();
    await whileFailing(aliceBrowser, 'GET', /^\/group\/[^/]+$/, 500, async () => {
      await alice.openDetails();
      await reads(alice, 'Failed to get group details');
    });
    await whileFailing(aliceBrowser, 'POST', /^\/group\/[^/]+\/add$/, 500, async () => {
      await alice.details.getByRole('combobox', { name: 'Add Member' }).fill('bob');
      await page.getByRole('option', { name: 'bob', exact: true }).click();
      await page.keyboard.press('Escape');
      await alice.details.getByRole('button', { name: 'Add', exact: true }).click();
      await reads(alice, 'Failed to add member. Please try again.');
    });
    await alice.details.getByRole('button', { name: 'Add', exact: true }).click();
    await reads(alice, 'bob added to the group!');

    await bob.openGroup('Sailors');
    await bob.openDetails();
    for (const [person, context, path, what] of [
      [bob, bobBrowser, /^\/group\/[^/]+\/leave$/, 'leave'],
      [alice, aliceBrowser, /^\/group\/[^/]+$/, 'delete'],
    ] as const) {
      const action = what === 'leave' ? 'Leave Group' : 'Delete Group';
      await whileFailing(context, 'DELETE', path, 500, async () => {
        await person.details.getByRole('button', { name: action }).click();
        const question = person.page.getByRole('alertdialog', {
          name: `Are you sure you want to ${what} this group?`,
        });
        await question.getByRole('button', { name: action }).click();
        await reads(person, `Failed to ${what} group. Please try again.`);
        await expect(person.group('Sailors')).toBeVisible();
      });
    }
  });

  await test.step('a contact that cannot be removed says so; one that is removed is an unknown user', async () => {
    await bob.tab('Contacts').click();
    const remove = async () => {
      await bob.page.getByRole('button', { name: 'More about alice' }).click();
      await bob.page.getByRole('menuitem', { name: 'Remove contact' }).click();
      await bob.page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    };
    await whileFailing(bobBrowser, 'DELETE', /^\/contacts\//, 500, async () => {
      await remove();
      await reads(bob, 'Failed to remove contact. Please try again.');
    });
    await remove();
    await expect(bob.page.getByText('Your contacts list is empty.')).toBeVisible();
    await bob.tab('Messages').click();
    await expect(bob.page.getByRole('region', { name: 'Conversations' })).toContainText('Unknown User');
  });

  await test.step('a session that is lost shows the banner, and leads to the log-in form', async () => {
    const connectionError =
      'Connection error. Please check your internet connection or try logging in again.';
    const banner = page.getByText(connectionError);
    await alice.tab('Messages').click();
    const stored = (await token.read()) ?? '';
    const comesBack = async () => {
      await token.store(stored);
      await page.clock.fastForward(60_000);
      await expect(banner).toBeHidden();
    };
    await token.remove();
    await page.clock.fastForward(60_000);
    await expect(banner).toBeVisible();
    await comesBack();

    await whileFailing(aliceBrowser, 'GET', /^\/profile$/, sessionExpired, async () => {
      await page.clock.fastForward(60_000);
      await expect(banner).toBeVisible();
      expect(await token.read()).toBeNull();
      await expect(page).toHaveURL('/dashboard');
    });
    await comesBack();
    expect(log()).toContain('authentication-error method="GET" route="/profile"');

    await alice.tab('Contacts').click();
    await token.remove();
    await alice.tab('Messages').click();
    await expect(banner).toBeVisible();
    await comesBack();

    await alice.tab('Groups').click();
    await alice.openGroup('Sailors');
    await whileFailing(aliceBrowser, 'POST', /^\/messages\/group\//, sessionExpired, async () => {
      await alice.send('Too late.');
      await reads(alice, 'You need to be logged in to send messages. Please log in again.');
      await page.clock.fastForward(2_000);
      await expect(page).toHaveURL('/login');
    });
    expect(await token.read()).toBeNull();

    await alice.logIn();
    await alice.openGroup('Sailors');
    await token.remove();
    const bannerWasShown = await watchFor(page, connectionError);
    await page.getByPlaceholder('Type a message...').fill('Nobody sends this.');
    await page.getByPlaceholder('Type a message...').press('Enter');
    await reads(alice, 'Please log in to send messages');
    await expect.poll(bannerWasShown).toBe(true);
    await page.clock.fastForward(1_500);
    await expect(page).toHaveURL('/login');
    expect(calls.filter((call) => call.startsWith('POST /messages/group/'))).toHaveLength(1);
  });
});
