import type { Page } from '@playwright/test';
import { sent } from '../../relay/test/parts.ts';
import { twoFriends } from '../e2e/support/friends.ts';
import type { Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';
import { callWorker, keepPorts } from './support/ports.ts';

interface Row {
  readonly conversation_id: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly epoch: number;
  readonly last_seq: number;
  readonly sealed: Buffer;
  readonly signature: Buffer;
}

/** The receipt of a person's device in the only conversation, and how far that has come by now. */
function receiptAt(relay: RunningRelay, { username }: Person): Row {
  const row = relay.inDatabase((db) =>
    db
      .prepare(
        `select conversation_id, device_id, devices.user_id, receipts.epoch, last_seq, sealed, signature
       from receipts join devices on devices.id = device_id join users on users.id = devices.user_id
       join conversations on conversations.id = conversation_id where username = ?`,
      )
      .get(username),
  ) as Row | undefined;
  if (row === undefined) throw new Error('no receipt');
  return row;
}

/** Has everybody have read everything, by all that the relay's database can say. */
function claimAllRead(relay: RunningRelay): void {
  relay.inDatabase((db) =>
    db.exec(`
    update participants set read_seq = (select last_seq from conversations where id = conversation_id);
    update receipts set position = (select last_seq from conversations where id = conversation_id);
  `),
  );
}

/** Asks the relay for something by a session's token and nothing else. @returns the status and code of the answer */
async function byTokenAlone(page: Page, token: string, method: string, path: string, data: object) {
  const { body, type } = sent(method, new URL(path).pathname.replace('/api', ''), data);
  const answer = await page.request.fetch(path, {
    method,
    data: Buffer.from(body),
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
  });
  const { code } = (await answer.json()) as { code?: string };
  return { status: answer.status(), code };
}

test('Delivered and Read are said by who has the message, and by no edited row, script or stolen token', async ({
  newBrowser,
  relay,
}) => {
  const { alice, aliceBrowser, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const bubble = (text: string) => alice.messages.getByRole('article').filter({ hasText: text });
  await alice.openChat(bob);
  await alice.send('The bill is on its way.');
  await expect(bubble('on its way')).toContainText('Delivered');
  await bob.openChat(alice);
  await bob.sees('The bill is on its way.');
  await expect(bubble('on its way')).toContainText('Read');

  const token = await bob.page.evaluate(() => localStorage.getItem('token') ?? '');
  await bob.page.goto('about:blank');
  await alice.send('Pay it by Friday.');
  await expect(bubble('by Friday')).toContainText('Sent');

  await test.step('with the relay’s rows edited', async () => {
    claimAllRead(relay);
    await aliceBrowser.addInitScript(keepPorts);
    const given = alice.page.waitForResponse((response) => response.url().endsWith('/receipts'));
    await alice.page.reload();
    await alice.onDashboard();
    await alice.openChat(bob);
    await given;
    await expect(bubble('on its way')).toContainText('Read');
    await expect(bubble('by Friday')).toContainText('Sent');
  });

  await test.step('with a script that tells the worker so', async () => {
    const { conversation_id: id, device_id: deviceId, user_id: userId, ...row } = receiptAt(relay, bob);
    const text = (bytes: Buffer) => Buffer.from(bytes).toString('base64url');
    const receipt = { userId, deviceId, epoch: row.epoch, position: row.last_seq };
    const made = { ...receipt, sealed: text(row.sealed), signature: text(row.signature) };
    const call = (method: string, ...args: unknown[]) => alice.page.evaluate(callWorker, { method, args });
    expect(await call('setReadPosition', id, 'peer', row.last_seq)).toMatchObject({
      ok: false,
      code: 'usage',
    });
    const isRead = { receipts: [expect.objectContaining({ readSeq: row.last_seq })] };
    for (const one of [made, { ...made, sealed: 'A'.repeat(124) }, { ...made, signature: 'A'.repeat(86) }]) {
      const answer = await call('takeReceipts', id, [one], true);
      expect(answer).toMatchObject({ ok: true, value: { events: [] } });
      expect(answer).not.toMatchObject({ value: { state: isRead } });
    }
    await expect(bubble('by Friday')).toContainText('Sent');
  });

  await test.step('with the token of the session that would have read it', async () => {
    const { conversation_id: id, epoch, last_seq: position, sealed } = receiptAt(relay, bob);
    const path = `${new URL('/api/conversations', relay.url).href}/${id}`;
    const signature = 'A'.repeat(86);
    const made = { epoch, position, sealed: Buffer.from(sealed).toString('base64url'), signature };
    expect(await byTokenAlone(alice.page, token, 'PUT', `${path}/receipt`, made)).toEqual({
      status: 403,
      code: 'forbidden',
    });
    // A commit that nobody could follow would stop the conversation.
    const garbage = { epoch, commit: 'AAAA', groupInfo: 'AAAA', welcomes: [], signature };
    expect(await byTokenAlone(alice.page, token, 'POST', `${path}/commits`, garbage)).toEqual({
      status: 403,
      code: 'forbidden',
    });
    await expect(bubble('by Friday')).toContainText('Sent');
    await alice.send('And the tip.');
    await expect(bubble('And the tip.')).toContainText('Sent');
  });

  await test.step('until it is true', async () => {
    await bob.page.goto('/dashboard');
    await bob.onDashboard();
    await bob.openChat(alice);
    await bob.sees('Pay it by Friday.');
    await expect(bubble('by Friday')).toContainText('Read');
  });
});
