import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page, Route } from '@playwright/test';
import { localeStorageKey } from '../../src/i18n/locales.ts';
import { findsNoBarriers } from './support/axe.ts';
import { Calls } from './support/calls.ts';
import { fits } from './support/layout.ts';
import type { Person } from './support/person.ts';
import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';

const paths = {
  contacts: '/api/contacts',
  requests: '/api/contacts/requests',
  sent: '/api/contacts/sent-requests',
  groups: '/api/groups',
  notifications: '/api/notifications',
} as const;
type ListName = keyof typeof paths;
const names = Object.keys(paths) as ListName[];

const old = 'This list may be out of date.';

function texts(language: 'en' | 'fi', file: string): Record<string, string> {
  const path = join(import.meta.dirname, '../../src/i18n', language, `${file}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
}

const sentenceKeys: Readonly<Record<ListName, string>> = {
  contacts: 'loadContactsFailed',
  requests: 'loadRequestsFailed',
  sent: 'loadSentRequestsFailed',
  groups: 'loadGroupsFailed',
  notifications: 'loadNotificationsFailed',
};

/** From now on the relay has no answer to these. */
async function fail(context: BrowserContext, ...lists: readonly ListName[]): Promise<void> {
  for (const list of lists)
    await context.route(`**${paths[list]}`, (route) => route.fulfill({ status: 503 }));
}

async function heal(context: BrowserContext, ...lists: readonly ListName[]): Promise<void> {
  for (const list of lists) await context.unroute(`**${paths[list]}`);
}

/** A call that hangs is not given up: the timer of 30 s that does it never ends. */
async function neverGiveUp(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const original = window.setTimeout;
    Object.assign(window, {
      setTimeout: (task: () => void, ms?: number) => (ms === 30_000 ? 0 : original(task, ms)),
    });
  });
}

/** A part of the Contacts tab. */
const section = (page: Page, name: string | RegExp) => page.getByRole('region', { name });
const tryAgainIn = (place: Locator) => place.getByRole('button', { name: 'Try again' });
const createFirst = (page: Page) => page.getByRole('button', { name: 'Create Your First Group' });

async function openNotifications(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^Notifications/ }).click();
  return page.getByRole('dialog', { name: 'Notifications' });
}

test('a fresh browser says which lists could not be loaded, claims nothing of them, and has them by itself when the relay answers', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  await fail(context, ...names);
  await alice.signUp();

  const conversations = section(page, 'Conversations');
  await expect(conversations.getByRole('alert')).toHaveText(/^Failed to load contacts\. Please try again\./);
  await expect(tryAgainIn(conversations)).toBeVisible();
  await expect(page.getByText('No contacts yet')).toHaveCount(0);
  await findsNoBarriers(page);
  await fits(page);

  await alice.tab('Groups').click();
  const groups = section(page, 'Groups');
  await expect(groups.getByRole('alert')).toHaveText(/^Failed to load groups/);
  await expect(tryAgainIn(groups)).toBeVisible();
  await expect(page.getByText('Welcome to Group Chat')).toBeVisible();
  await expect(page.getByText('No groups yet')).toHaveCount(0);
  await expect(createFirst(page)).toHaveCount(0);

  await alice.tab('Contacts').click();
  for (const [name, sentence] of [
    ['My Contacts', 'Failed to load contacts. Please try again.'],
    [/^Contact Requests/, 'Failed to load contact requests. Please try again.'],
    ['Sent Requests', 'Failed to load sent requests. Please try again.'],
  ] as const) {
    await expect(section(page, name).getByRole('alert')).toContainText(sentence);
    await expect(tryAgainIn(section(page, name))).toBeVisible();
  }
  await expect(page.getByText('Your contacts list is empty.')).toHaveCount(0);
  await expect(page.getByText(/all caught up/)).toHaveCount(0);
  await findsNoBarriers(page);

  const notifications = await openNotifications(page);
  await expect(notifications.getByRole('alert')).toContainText('Failed to load notifications.');
  await expect(notifications.getByText('No notifications yet')).toHaveCount(0);
  await page.keyboard.press('Escape');

  // Nothing is pressed from here on but tabs.
  await heal(context, ...names);
  await alice.tab('Groups').click();
  await expect(groups.getByText('No groups yet')).toBeVisible({ timeout: 60_000 });
  await expect(createFirst(page)).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await alice.tab('Contacts').click();
  await expect(page.getByText('Your contacts list is empty.')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText(/all caught up/)).toBeVisible({ timeout: 60_000 });
  await expect(section(page, 'Sent Requests')).toHaveCount(0, { timeout: 60_000 });
  await alice.tab('Messages').click();
  await expect(page.getByText('No contacts yet')).toBeVisible();
  await expect((await openNotifications(page)).getByText('No notifications yet')).toBeVisible({
    timeout: 60_000,
  });
});

test('each list that fails alone says so in its own place, in Finnish too, until another try succeeds', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  await alice.signUp();
  await page.evaluate((key) => localStorage.setItem(key, 'fi'), localeStorageKey);
  const [app, chat, contacts, errors, groups, notifications] = [
    'app',
    'messages',
    'contacts',
    'errors',
    'groups',
    'notifications',
  ].map((file) => texts('fi', file));

  /** Leads to where a list stands, and says what stands there when it is empty. */
  const places: Readonly<Record<ListName, { open: () => Promise<unknown>; empty: string | undefined }>> = {
    contacts: { open: () => page.getByRole('tab').nth(0).click(), empty: chat?.noContacts },
    requests: { open: () => page.getByRole('tab').nth(2).click(), empty: contacts?.noRequests },
    sent: { open: () => page.getByRole('tab').nth(2).click(), empty: undefined },
    groups: { open: () => page.getByRole('tab').nth(1).click(), empty: groups?.noGroups },
    notifications: {
      open: () => page.getByRole('button', { name: /^Ilmoitukset/ }).click(),
      empty: notifications?.none,
    },
  };

  for (const failing of names) {
    await test.step(failing, async () => {
      await fail(context, failing);
      await page.reload();
      await expect(page.getByRole('tab').first()).toBeVisible();
      for (const name of names) {
        const { empty, open } = places[name];
        await open();
        if (name === failing) {
          await expect(page.getByRole('alert')).toHaveText(`${errors?.[sentenceKeys[name]]}${app?.tryAgain}`);
        } else if (empty !== undefined) await expect(page.getByText(empty, { exact: true })).toBeVisible();
        if (name === 'notifications' && failing !== name) await page.keyboard.press('Escape');
      }
      await heal(context, failing);
      // The notifications are open still when it is they that failed.
      if (failing !== 'notifications') await places[failing].open();
      // It may have come back by itself before.
      await page
        .getByRole('button', { name: app?.tryAgain ?? '' })
        .first()
        .click({ timeout: 2_000 })
        .catch(() => undefined);
      await expect(page.getByRole('alert')).toHaveCount(0, { timeout: 60_000 });
      const { empty } = places[failing];
      if (empty !== undefined) await expect(page.getByText(empty, { exact: true })).toBeVisible();
    });
  }
});

test('lists that were kept stay on screen when they cannot be loaded, and it says that they are old', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  const { page } = alice;
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(bob, alice);
  // Notifications come with the next polling.
  await expect((await openNotifications(page)).getByText('bob wants to be your contact')).toBeVisible({
    timeout: 60_000,
  });
  await page.keyboard.press('Escape');
  await alice.createGroup('Sailing');
  await expect(alice.group('Sailing')).toBeVisible();
  await expect(alice.contact(bob)).toHaveCount(0);

  await fail(context, ...names);
  await page.reload();
  await alice.onDashboard();
  await alice.tab('Messages').click();
  const conversations = section(page, 'Conversations');
  await expect(alice.contact(bob)).toBeVisible();
  await expect(conversations.getByText(old)).toBeVisible();
  await expect(conversations.getByRole('alert')).toHaveCount(0);
  await findsNoBarriers(page);
  await fits(page);
  await alice.tab('Contacts').click();
  await expect(section(page, 'My Contacts').getByText('bob')).toBeVisible();
  await expect(section(page, 'My Contacts').getByText(old)).toBeVisible();
  // An earlier answer without requests says nothing of now.
  await expect(section(page, /^Contact Requests/).getByRole('alert')).toBeVisible();
  await expect((await openNotifications(page)).getByText(old)).toBeVisible();
  await page.keyboard.press('Escape');
  await alice.tab('Groups').click();
  await expect(alice.group('Sailing')).toBeVisible();
  await expect(section(page, 'Groups').getByText(old)).toBeVisible();

  await heal(context, ...names);
  await expect(page.getByText(old)).toHaveCount(0, { timeout: 60_000 });
  await expect(alice.group('Sailing')).toBeVisible();
  await alice.tab('Messages').click();
  await expect(page.getByText(old)).toHaveCount(0, { timeout: 60_000 });
  await expect(alice.contact(bob)).toBeVisible();
});

test('contacts that take longer than 5 seconds are not said to be none, and another try may be faster', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  const { page } = alice;
  await neverGiveUp(context);
  const held: Route[] = [];
  let isSlow = true;
  await context.route(`**${paths.contacts}`, (route) => (isSlow ? void held.push(route) : route.fallback()));
  await alice.signUp();
  const conversations = section(page, 'Conversations');
  await expect(conversations.getByText('Still loading…')).toBeVisible();
  await expect(conversations.getByText('Loading contacts...')).toHaveCount(0);
  await expect(page.getByText('No contacts yet')).toHaveCount(0);
  await findsNoBarriers(page);
  await fits(page);

  isSlow = false;
  await tryAgainIn(conversations).click();
  await expect(page.getByText('No contacts yet')).toBeVisible();
  // The first request is still without an answer.
  expect(held.length).toBeGreaterThan(0);
  for (const route of held) await route.abort();
  await expect(page.getByText('No contacts yet')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

/** Counts the times that a browser asks for the lists of contacts, and that the relay tells it of a change in them. */
function watch({ page }: Person) {
  const seen = { contacts: 0, requests: 0, sent: 0, told: 0 };
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    for (const name of ['contacts', 'requests', 'sent'] as const) {
      if (request.method() === 'GET' && pathname === paths[name]) seen[name] += 1;
    }
  });
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      seen.told += payload.toString().split('"type":"contacts"').length - 1;
    });
  });
  return seen;
}

test('what somebody does to contacts is read again once, by them and by the other person, and only what has changed', async ({
  newBrowser,
}) => {
  const { person: alice, context: hers } = await newBrowser('alice');
  const { person: bob, context: his } = await newBrowser('bob');
  const calls = [await Calls.of(alice.page, hers), await Calls.of(bob.page, his)];
  const [byAlice, byBob] = [watch(alice), watch(bob)];
  for (const person of [alice, bob]) await person.signUp();

  const addBob = alice.page.getByRole('button', { name: 'Add Contact' });
  const decline = bob.page.getByRole('button', { name: 'Decline' });
  const accept = bob.page.getByRole('button', { name: 'Accept' });

  // Once without counting: what a start asks for is over then.
  await alice.requestContact(bob);
  await bob.tab('Contacts').click();
  await decline.click();
  await expect(addBob).toBeVisible();
  await expect.poll(() => [byAlice.told, byBob.told]).toEqual([2, 2]);
  for (const one of calls) await one.settled();

  const due = { alice: { ...byAlice }, bob: { ...byBob } };
  type Lists = readonly Exclude<keyof typeof byAlice, 'told'>[];
  const costs = async (what: string, act: () => Promise<void>, her: Lists, his: Lists) => {
    await test.step(what, async () => {
      await act();
      for (const [seen, lists] of [
        [due.alice, her],
        [due.bob, his],
      ] as const) {
        seen.told += 1;
        for (const list of lists) seen[list] += 1;
      }
      await expect.poll(() => ({ alice: byAlice, bob: byBob })).toEqual(due);
    });
  };

  const request = async () => {
    await addBob.click();
    await expect(decline).toBeVisible();
  };
  await costs('a request', request, ['sent'], ['requests']);
  const decides = async () => {
    await decline.press('Enter');
    await expect(decline).toHaveCount(0);
    await expect(addBob).toBeVisible();
  };
  await costs('a refusal', decides, ['sent'], ['requests']);
  await costs('a second request', request, ['sent'], ['requests']);
  const agrees = async () => {
    await accept.press('Enter');
    await expect(section(bob.page, 'My Contacts').getByText('alice')).toBeVisible();
    await expect(alice.page.getByText('Request sent')).toHaveCount(0);
  };
  await costs('a consent', agrees, ['contacts', 'sent'], ['contacts', 'requests']);
  const removes = async () => {
    await bob.page.getByRole('button', { name: 'More about alice' }).click();
    await bob.page.getByRole('menuitem', { name: 'Remove contact' }).click();
    await bob.page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await expect(section(bob.page, 'My Contacts').getByText('alice')).toHaveCount(0);
    await expect(addBob).toBeVisible();
  };
  await costs('a removal', removes, ['contacts'], ['contacts']);
  // Everything else that the removal had asked for would be counted by now.
  await costs('a third request', request, ['sent'], ['requests']);
});
