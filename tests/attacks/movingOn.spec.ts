import { expect, test } from '../e2e/support/test.ts';
import { callWorker, keepPorts } from './support/ports.ts';

const usage = { ok: false, code: 'usage', detail: expect.any(String) };
const somebody = '0f8fad5b-d9cb-469f-a165-70867728950e';

test('a script in the page starts no moving on that the person hasn’t typed, and gets no key of it', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();
  const { page, prompt } = alice;
  const call = (method: string, ...args: unknown[]) => page.evaluate(callWorker, { method, args });
  const api = (method: string, path: string, body?: object) =>
    page.evaluate(
      async ([how, where, text]) => {
        const headers = {
          'content-type': 'application/json',
          authorization: `Bearer ${localStorage.getItem('token')}`,
        };
        const answer = await fetch(`/api${where}`, {
          method: how!,
          headers,
          ...(text === '' ? {} : { body: text! }),
        });
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      },
      [method, path, body === undefined ? '' : JSON.stringify(body)],
    );
  const vault = { sealedVault: 'AAAA', passwordWrap: 'AAAA', version: 1 };
  const move = () => call('moveOn', { vault, deviceIds: [somebody] });
  expect(await move()).toEqual(usage);

  // With a confirmation of something else that sets a password.
  const passwordParams = (await api('GET', `/auth/params?identifier=${alice.username}`)).body;
  const owner = { username: alice.username, passwordParams };
  const password = call('confirm', { kind: 'change-password', target: 'alice', id: null }, owner);
  await prompt.getByLabel('Current password').fill(alice.password);
  await prompt.getByLabel('New password', { exact: true }).fill('another horse battery');
  await prompt.getByLabel('New password again').fill('another horse battery');
  await prompt.getByRole('button', { name: 'Confirm' }).click();
  expect(await password).toEqual({ ok: true });
  expect(await move()).toEqual(usage);

  // The question in the frame says what it does, and a wrong password starts nothing.
  const asked = call('confirm', { kind: 'move-on', target: 'alice', id: null }, owner);
  await expect(prompt.getByText('You move the account alice on to a new key')).toBeVisible();
  await prompt.getByLabel('Current password').fill('a guess');
  await prompt.getByLabel('New password', { exact: true }).fill('the script’s own');
  await prompt.getByLabel('New password again').fill('the script’s own');
  await prompt.getByRole('button', { name: 'Confirm' }).click();
  await expect(prompt.getByText('This is not your password.')).toBeVisible();
  await page.keyboard.press('Escape');
  expect(await asked).toMatchObject({ ok: false, code: 'cancelled' });
  expect(await move()).toEqual(usage);

  // Confirmed by the person, the request is the worker's: a script can put no key or password of its own into it.
  const confirmed = call('confirm', { kind: 'move-on', target: 'alice', id: null }, owner);
  await prompt.getByLabel('Current password').fill(alice.password);
  await prompt.getByLabel('New password', { exact: true }).fill('another horse battery');
  await prompt.getByLabel('New password again').fill('another horse battery');
  await prompt.getByRole('button', { name: 'Confirm' }).click();
  expect(await confirmed).toEqual({ ok: true });
  const nonce = (await api('POST', '/proof-nonce')).body;
  const sign = (operation: string, body: object) =>
    call('signPendingProof', {
      operation,
      body: JSON.stringify(body),
      replaces: nonce['version'],
      session: nonce['session'],
      nonce: nonce['nonce'],
    });
  const own = { accountKey: 'A'.repeat(43), revocations: [{ id: somebody, statement: 'AAAA' }] };
  for (const operation of ['PUT /users/me/account-key', 'PUT /users/me/password', 'DELETE /user']) {
    expect(await sign(operation, own)).toEqual(usage);
  }
  // The relay takes it without a proof from nobody.
  expect(await api('PUT', '/users/me/account-key', own)).toMatchObject({ status: 422 });
  expect((await api('GET', '/vault')).body).toMatchObject({ version: 1 });
  expect((await api('GET', '/devices')).body).toHaveLength(1);
});
