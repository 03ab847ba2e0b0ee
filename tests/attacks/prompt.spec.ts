import type { Frame } from '@playwright/test';
import { becomeContacts, type Person } from '../e2e/support/person.ts';
import { expect, test, type World } from '../e2e/support/test.ts';
import { callWorker, keepPorts, sayEverywhere } from './support/ports.ts';

const usage = { ok: false, code: 'usage', detail: expect.any(String) };
const session = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** Somebody in whose page another script has been from the start. */
async function aliceWithAScript(newBrowser: World['newBrowser']) {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();
  return {
    alice,
    context,
    call: (method: string, ...args: unknown[]) => alice.page.evaluate(callWorker, { method, args }),
  };
}

function frameOf({ page }: Person): Frame {
  const frame = page.frames().find((one) => one.url().endsWith('/keys'));
  if (frame === undefined) throw new Error('the page has no frame of the keys');
  return frame;
}

/** Returns the events that the script has heard, a line for each. */
const overheardBy = ({ page }: Person) =>
  page.evaluate(() => (globalThis as unknown as { overheard: string[] }).overheard);

/** Asks for a proof as the page does, of a request of the script's choice. */
const signing = (operation: string, body = '') =>
  ['signPendingProof', { operation, body, replaces: 1, session, nonce: 'A'.repeat(43) }] as const;

/** Facts that the page says of the account, which a script in it knows as well. */
async function ownerOf({ page, username }: Person) {
  const passwordParams = await page.evaluate(
    async (name) => (await fetch(`/api/auth/params?identifier=${name}`)).json() as Promise<object>,
    username,
  );
  return { username, passwordParams, proofKey: null };
}

test('a script in the page hears nothing of what is typed in the frame, and can’t type or send it', async ({
  newBrowser,
}) => {
  const { alice } = await aliceWithAScript(newBrowser);
  const { page } = alice;
  await alice.tab('Profile').click();
  await page.getByRole('button', { name: 'Delete Account' }).click();
  await page.getByRole('button', { name: 'Confirm Delete' }).click();
  const field = alice.prompt.getByLabel('Password', { exact: true });
  await expect(field).toBeFocused();
  await page.evaluate(() => Reflect.set(globalThis, 'overheard', []));
  await page.keyboard.type(alice.password);
  await expect(field).toHaveValue(alice.password);

  const reached = await page.evaluate(() => {
    const [frame] = document.getElementsByTagName('iframe');
    const reach = (read: () => unknown): string => {
      try {
        return String(read());
      } catch (error) {
        return error instanceof Error ? error.name : 'refused';
      }
    };
    return [
      frame?.contentDocument,
      reach(() => frame?.contentWindow?.document),
      reach(() => frame?.contentWindow?.dispatchEvent(new Event('submit'))),
      reach(() => frame?.contentWindow?.getSelection()),
    ];
  });
  expect(reached).toEqual([null, 'SecurityError', 'SecurityError', 'SecurityError']);
  // A stranger sends the messages that the frame and its worker send one another.
  for (const number of [0, 1, 2]) {
    const typed = { password: alice.password, newPassword: null };
    await page.evaluate(sayEverywhere, { type: 'answer', number, typed });
  }
  for (const type of ['submit', 'ask', 'wrong-password', 'answered', 'ready', 'visible']) {
    await page.evaluate(sayEverywhere, { type });
  }
  await expect(field).toHaveValue(alice.password);
  await page.keyboard.press('Escape');
  await expect(page.locator('#keys')).toBeHidden();
  // The page knows no more than that it was called off.
  await expect(page.getByRole('button', { name: 'Confirm Delete' })).toBeEnabled();
  const heard = await overheardBy(alice);
  expect(heard.filter((line) => /^(?:keydown|beforeinput|input|change|submit)|correct/.test(line))).toEqual(
    [],
  );
  // It would have heard it in a field of the page.
  await alice.tab('Contacts').click();
  await page.getByRole('button', { name: 'Find Users' }).click();
  await expect(page.locator('input:focus')).toBeVisible();
  await page.keyboard.type('correct');
  expect((await overheardBy(alice)).join()).toContain('correct');
});

test('a script in the page never gets the recovery key that the frame shows', async ({ newBrowser }) => {
  const { alice } = await aliceWithAScript(newBrowser);
  await alice.page.getByRole('button', { name: 'Create recovery key' }).click();
  const groups = await alice.keepRecoveryKey();
  await expect(alice.page.getByText('Your recovery key is on.')).toBeVisible();
  const said = `${(await overheardBy(alice)).join('\n')} ${await alice.page.content()}`;
  expect(said).toContain('recoveryWrap');
  // Four characters stand somewhere in any ciphertext, eight don't.
  const pairs = groups.slice(1).flatMap((group, at) => [`${groups[at]}-${group}`, `${groups[at]}${group}`]);
  expect(pairs.filter((pair) => said.includes(pair))).toEqual([]);
});

test('a confirmation is of one operation and one target, whatever a script makes of it', async ({
  newBrowser,
}) => {
  const { alice, call } = await aliceWithAScript(newBrowser);
  const { person: bob } = await newBrowser('bob');
  await bob.signUp();
  await becomeContacts(alice, bob);
  const owner = await ownerOf(alice);
  expect(await call(...signing('DELETE /user'))).toEqual(usage);
  const device = crypto.randomUUID();
  const confirmed = call('confirm', { kind: 'revoke-device', target: 'an old phone', id: device }, owner);
  await expect(alice.prompt.getByText('You remove the device an old phone from your account.')).toBeVisible();
  // Nothing can take the place of what the person reads.
  const another = { kind: 'delete-account', target: 'alice', id: null };
  expect(await call('confirm', another, owner)).toEqual(usage);
  await alice.confirmWithPassword();
  // The page learns nothing by it.
  expect(await confirmed).toEqual({ ok: true });

  const others = [
    'DELETE /user',
    'PUT /vault',
    'PUT /users/me',
    `DELETE /devices/${session}`,
    'GET /vault/former',
  ];
  for (const operation of others) expect(await call(...signing(operation))).toEqual(usage);
  const vault = { sealedVault: 'AAAA', passwordWrap: 'AAAA', version: 1 };
  expect(await call('revokeDevice', { vault, deviceId: session })).toEqual(usage);
  expect(await call('changePassword', vault)).toEqual(usage);
  expect(await call('replaceRecoveryKey', vault)).toEqual(usage);
  // Its own is done once, with a vault that the password opens and no other.
  const own = { vault, deviceId: device };
  expect(await call('revokeDevice', own)).toMatchObject({ ok: false, code: 'wrong-password' });
  expect(await call('revokeDevice', own)).toEqual(usage);
  expect(await call(...signing(`DELETE /devices/${device}`, '{"statement":"AAAA"}'))).toEqual(usage);
});

test('a script can’t make the frame show anything by itself, and it hides at a log-out', async ({
  newBrowser,
}) => {
  const { alice, call, context } = await aliceWithAScript(newBrowser);
  const form = alice.prompt.locator('form');
  await alice.page.evaluate(() => {
    const layer = document.querySelector<HTMLDialogElement>('#keys-layer');
    layer?.show();
  });
  for (const type of ['visible', 'show', 'ask', 'dismiss']) {
    const question = {
      kind: 'delete-account',
      target: 'alice',
      username: 'alice',
      recoveryKey: null,
      safetyNumber: null,
    };
    await alice.page.evaluate(sayEverywhere, { type, language: 'en', theme: 'light', number: 1, question });
  }
  // Everything that was sent before has been read once this is answered.
  expect(await call('confirm', { kind: 'delete-everything', target: '', id: null }, {})).toEqual(usage);
  await expect(form).toBeHidden();

  const asked = { kind: 'delete-account', target: 'alice', id: null };
  // Nobody answers it: its worker is ended below, and then the page. The layer is still as the script has left it.
  void call('confirm', asked, await ownerOf(alice)).catch(() => undefined);
  await expect(form).toBeVisible();
  const otherTab = await context.newPage();
  await otherTab.goto('/dashboard');
  await otherTab.getByRole('button', { name: 'Logout', exact: true }).click();
  await expect(otherTab).toHaveURL('/');
  await expect.poll(() => frameOf(alice).evaluate(() => document.querySelector('dialog')?.open)).toBe(false);
  await expect(alice.page.locator('#keys')).toBeHidden();
});
