import type { BrowserContext, Locator, Page } from '@playwright/test';
import { cutMqtt } from './support/friends.ts';
import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';
import { startOver } from './support/tour.ts';

/** Effects of a toast on the controls of a page, each by its name. */
interface Standing {
  /** Controls that it hides a part of. */
  readonly covered: readonly string[];
  /** Controls that get a click on their middle. */
  readonly reached: readonly string[];
  /** True if a click on the toast itself goes through it. */
  readonly letsThrough: boolean;
}

/** Looks in the very frame in which the toast has come: a busy machine may take longer than a toast stays. */
async function standingOf(page: Page, text: string, cause: () => Promise<void>): Promise<Standing> {
  const looking = page.evaluate(async (wanted) => {
    const findToast = () =>
      [
        ...document.querySelectorAll<HTMLElement>('[role="region"] > [data-type]:not([data-ending-style])'),
      ].find((one) => one.textContent.includes(wanted) && one.checkVisibility());
    let toast = findToast();
    while (toast === undefined || toast.getAnimations().length > 0) {
      await new Promise(requestAnimationFrame);
      toast = findToast();
    }
    // The page goes on in the next frames: a dialog closes, a list scrolls to its end.
    for (let frames = 0; frames < 5; frames += 1) await new Promise(requestAnimationFrame);
    const box = toast.getBoundingClientRect();
    const at = (rect: DOMRect) =>
      document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
    const covered: string[] = [];
    const reached: string[] = [];
    const selector = 'a[href], button, input, textarea, [role="tab"], [role="switch"], [role="option"]';
    for (const control of document.querySelectorAll<HTMLElement>(selector)) {
      const rect = control.getBoundingClientRect();
      if (rect.width <= 1 || !control.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        continue;
      const name =
        control.getAttribute('aria-label') ?? control.getAttribute('placeholder') ?? control.innerText.trim();
      const apart =
        rect.right <= box.left + 1 ||
        rect.left >= box.right - 1 ||
        rect.bottom <= box.top + 1 ||
        rect.top >= box.bottom - 1;
      if (!apart) covered.push(name);
      if (control.contains(at(rect))) reached.push(name);
    }
    return { covered, reached, letsThrough: at(box)?.closest('[data-type]') === null };
  }, text);
  const [standing] = await Promise.all([looking, cause()]);
  return standing;
}

/** On a phone, what a toast hides is how one leaves: nothing that goes on from what was just done. */
async function isOutOfTheWay(
  page: Page,
  { text, cause, controls }: { text: string; cause: () => Promise<void>; controls: readonly string[] },
): Promise<void> {
  const { covered, reached, letsThrough } = await standingOf(page, text, cause);
  const isPhone = (page.viewportSize()?.width ?? 0) < 768;
  expect(covered.filter((name) => !(isPhone && /^(Logout|More logout options)$/.test(name)))).toEqual([]);
  expect({ reached, missed: [...controls, ...covered].filter((name) => !reached.includes(name)) }).toEqual({
    reached,
    missed: [],
  });
  expect(letsThrough).toBe(true);
}

/** Fails the calls of this path, with a text that the toast says: about as long as they get. */
async function refuse(context: BrowserContext, path: string, reason: string): Promise<void> {
  const detail = `${reason} Please check your internet connection and try again in a moment.`;
  await context.route(path, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: 422, json: { code: 'limit-reached', detail } }),
  );
}

const windows = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
];

test('a toast stands over nothing that one goes on with, lets clicks through and goes in its time', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice', { reducedMotion: 'reduce' });
  const { person: bob } = await newBrowser('bob');
  const { person: carol } = await newBrowser('carol');
  const { page } = alice;
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  for (const person of [alice, bob, carol]) await person.signUp();
  await becomeContacts(bob, alice);
  await carol.requestContact(alice);
  await alice.createGroup('Sailors');
  await refuse(context, '**/api/contacts/accept/*', 'Not accepted.');
  await refuse(context, '**/api/contacts/reject/*', 'Not declined.');
  await refuse(context, '**/api/contacts/request/*', 'Not asked.');
  await refuse(context, '**/api/key-packages/claim', 'Not added.');
  await refuse(context, '**/api/group/*', 'Not deleted.');
  await refuse(context, '**/api/notifications/read-all', 'Not read.');
  await refuse(context, '**/api/messages/user/*', 'Not sent.');

  const stranger = { id: crypto.randomUUID(), username: 'dora', email: 'dora@example.org' };
  await context.route('**/api/users/search*', (route) => route.fulfill({ json: [stranger] }));

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const requests = () => page.waitForRequest((request) => request.url().includes('/api/contacts/accept/'));

  for (const viewport of windows) {
    await test.step(`at ${viewport.width} px`, async () => {
      await page.setViewportSize(viewport);
      await startOver(page);
      await alice.tab('Contacts').click();
      const listed = ['Accept', 'Decline', 'Find Users'];
      await isOutOfTheWay(page, {
        text: 'Not accepted.',
        cause: () => button('Accept').click(),
        controls: listed,
      });
      await isOutOfTheWay(page, {
        text: 'Not declined.',
        cause: () => button('Decline').click(),
        controls: listed,
      });
      const asked = requests();
      await button('Accept').click();
      await asked;

      await button('Find Users').click();
      await page.getByRole('searchbox').fill('dora');
      await isOutOfTheWay(page, {
        text: 'Not asked.',
        cause: () => button('Add Contact').click(),
        controls: ['Add Contact', 'Search users'],
      });

      await alice.tab('Profile').click();
      await isOutOfTheWay(page, {
        text: 'Your data export has been generated',
        cause: () => button('Download JSON').click(),
        controls: ['Download JSON'],
      });

      await alice.openGroup('Sailors');
      await alice.openDetails();
      await alice.details.getByRole('combobox', { name: 'Add Member' }).fill('bob');
      await page.getByRole('option', { name: 'bob', exact: true }).click();
      await page.keyboard.press('Escape');
      await isOutOfTheWay(page, {
        text: 'Not added.',
        cause: () => alice.details.getByRole('button', { name: 'Add', exact: true }).click(),
        controls: ['Add', 'Delete Group'],
      });
      await alice.details.getByRole('button', { name: 'Delete Group' }).click();
      await isOutOfTheWay(page, {
        text: 'Not deleted.',
        cause: () => page.getByRole('alertdialog').getByRole('button', { name: 'Delete Group' }).click(),
        controls: [],
      });
      await startOver(page);
      await button(/^Notifications/).click();
      await isOutOfTheWay(page, {
        text: 'Not read.',
        cause: () => button('Mark all as read').click(),
        controls: ['Mark all as read'],
      });
    });
  }

  // A chat begins with them.
  await context.unroute('**/api/key-packages/claim');
  await cutMqtt(context);
  for (const { width, height } of windows) {
    await test.step(`over a chat at ${width} px, with and without the keyboard of a phone`, async () => {
      await page.setViewportSize({ width, height: width === 360 ? 400 : height });
      await startOver(page);
      await alice.openChat(bob);
      await page.getByPlaceholder('Type a message...').fill(`At ${width} px.`);
      await isOutOfTheWay(page, {
        text: 'Not sent.',
        cause: () => button('Send').click(),
        controls: ['Record a voice message', 'Retry', 'Message to bob'],
      });
    });
  }

  await test.step('a pointer that rests where it stands does not hold it; F6 does, and Escape dismisses it', async () => {
    await startOver(page);
    await alice.tab('Contacts').click();
    await button('Accept').press('Enter');
    const toast = alice.toast('Not accepted.');
    await toast.hover({ force: true });
    await expect(toast).toHaveCount(0);

    await button('Accept').press('Enter');
    await expect(toast).toBeVisible();
    await button('Find Users').focus();
    await page.keyboard.press('F6');
    await page.keyboard.press('Tab');
    await expect(page.getByRole('alertdialog', { name: 'Not accepted.' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(toast).toHaveCount(0);
    await expect(button('Find Users')).toBeFocused();
  });
});
