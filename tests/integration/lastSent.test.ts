import { expect, it } from 'vitest';
import { createRetentionJob } from '../../relay/src/jobs/retention.ts';
import { Metrics } from '../../relay/src/metrics/metrics.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import type { RelayCopy } from '../../src/store/proof.ts';
import { type Tab, troubles, until, untilConnected } from './support/browser.ts';
import { annaAnd } from './support/people.ts';
import { browsers, newBrowser, relay, startRelay, withRelay } from './support/world.ts';

withRelay();

async function annaAndBert() {
  const [anna, bert] = await annaAnd(newBrowser, ['bert'] as const);
  await untilConnected(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  return { anna, bert };
}

async function write(anna: Tab, bert: Tab, text: string): Promise<void> {
  await anna.actions.sendMessage(bert.userId, text);
  await until(() => bert.lines(anna.userId).at(-1), `received: ${text}`);
  await until(() => anna.lines(bert.userId).at(-1), `sent: ${text}`);
  await until(async () => (await anna.crypto.outbox()).length, 0);
}

async function copyFor(tab: Tab): Promise<RelayCopy | undefined> {
  return (await tab.actions.lastSent())?.copy;
}

it('one’s last text is shown as the relay has it, byte for byte what was sent, and reading it changes nothing', async () => {
  const { anna, bert } = await annaAndBert();
  expect(await anna.actions.lastSent()).toBeNull();
  await write(anna, bert, 'Dinner at eight, by the harbour?');
  const before = await anna.crypto.conversations();
  const last = await anna.actions.lastSent();
  const { copy, text } = last ?? {};
  expect(text).toMatchObject({ key: bert.userId, text: 'Dinner at eight, by the harbour?', isEdited: false });
  expect(copy).toMatchObject({ kind: 'bytes', match: 'same', hasText: false });
  if (copy?.kind !== 'bytes') throw new Error('no bytes');
  const stored = await relay.relay.database.db
    .selectFrom('entries')
    .select(['content', 'id'])
    .where('conversation_id', '=', text?.conversationId ?? '')
    .where('seq', '=', text?.seq ?? 0)
    .executeTakeFirstOrThrow();
  expect(Buffer.from(copy.bytes).equals(stored.content)).toBe(true);
  expect(copy.fields.map(({ name, value }) => [name, value])).toEqual([
    ['version', 'mls10'],
    ['wireFormat', 'mls_private_message'],
    ['groupId', text?.conversationId],
    ['epoch', String(copy.entry.epoch)],
    ['contentType', 'application'],
    ['authenticatedData', stored.id],
  ]);
  expect(await anna.crypto.conversations()).toEqual(before);

  // A relay that has changed a byte since.
  const changed = Buffer.from(stored.content);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const { db } = relay.relay.database;
  await db.updateTable('entries').set({ content: changed }).where('id', '=', stored.id).execute();
  expect(await copyFor(anna)).toMatchObject({ kind: 'bytes', match: 'different' });
  // Bert has received it, and has sent nothing.
  expect(await bert.actions.lastSent()).toBeNull();
  expect(troubles(...browsers)).toEqual([]);
});

it('of a text that everybody has received the relay keeps a digest, which is that of what was sent', async () => {
  const { anna, bert } = await annaAndBert();
  await write(anna, bert, 'one');
  const hour = 60 * 60 * 1000;
  const retain = createRetentionJob({
    database: relay.relay.database,
    retention: { days: 90, historyDays: null },
    clock: () => Date.now() + hour,
    metrics: new Metrics(),
    log: relay.relay.app.log,
  });
  await until(async () => {
    await retain.run();
    return (await copyFor(anna))?.kind;
  }, 'digest');
  expect(await copyFor(anna)).toMatchObject({ match: 'same', digest: expect.stringMatching(/^[\w-]{43}$/) });
});

it('the relay shows nothing of it to who was taken out of the group, and says nothing while it is away', async () => {
  const { anna, bert } = await annaAndBert();
  const groupId = await anna.actions.createGroup('Early birds');
  await anna.actions.addGroupMembers(groupId, [bert.userId]);
  await bert.actions.openGroup(groupId);
  await bert.actions.sendMessage(groupKeyOf(groupId), 'Here I am');
  await until(() => anna.chat(groupKeyOf(groupId)).state?.unread, 1);
  await until(async () => (await copyFor(bert))?.kind, 'bytes');
  await anna.actions.deleteGroup(groupId);
  await until(async () => (await copyFor(bert))?.kind, 'refused');
  await relay.close();
  expect(await copyFor(bert)).toEqual({ kind: 'unreachable' });
  await startRelay();
});
