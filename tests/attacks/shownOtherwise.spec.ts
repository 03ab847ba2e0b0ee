import { becomeContacts, type Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';
import { framesTo, saveView, toldOf, viewsOn } from './support/views.ts';

const MINUTE = 60_000;
const group = 'Saturday sailors';

interface Entry {
  readonly id: string;
  readonly created_at: number;
}

/** An entry of the only conversation of its kind: the last one but so many. */
function entry(relay: RunningRelay, kind: 'direct' | 'group', fromTheEnd: number): Entry {
  const sql = `select id, created_at from entries where conversation_id like ? order by seq desc limit 1 offset ?`;
  return relay.inDatabase((db) => db.prepare(sql).get(`${kind}:%`, fromTheEnd) as Entry);
}

/** @returns the time that the relay says from then on */
function changeTime(relay: RunningRelay, { created_at, id }: Entry, difference: number): string {
  const time = created_at + difference;
  relay.inDatabase((db) => db.prepare('update entries set created_at = ? where id = ?').run(time, id));
  return new Date(time).toISOString();
}

/** Gives another ciphertext in the place of an entry. */
function alter(relay: RunningRelay, { id }: Entry): void {
  relay.inDatabase((db) => {
    const { content } = db.prepare('select content from entries where id = ?').get(id) as { content: Buffer };
    const altered = Buffer.from(content);
    altered[altered.length - 1]! ^= 1;
    db.prepare('update entries set content = ? where id = ?').run(altered, id);
  });
}

/** Has two entries that follow each other come the other way round. */
function exchange(relay: RunningRelay, one: Entry, other: Entry): void {
  relay.inDatabase((db) => {
    const seqOf = ({ id }: Entry) =>
      (db.prepare('select seq from entries where id = ?').get(id) as { seq: number }).seq;
    const [first, second] = [seqOf(one), seqOf(other)];
    const move = db.prepare('update entries set seq = ? where id = ?');
    move.run(-1, one.id);
    move.run(first, other.id);
    move.run(second, one.id);
  });
}

const bubble = ({ messages }: Person, text: string) =>
  messages.getByRole('article').filter({ hasText: text });
const differs = ({ messages }: Person, other: Person) =>
  messages.getByText(`You and ${other.username} were shown different conversations.`).first();
const waits = ({ page }: Person) => page.getByRole('region', { name: 'Sending waits' });
const timesOf = async (person: Person, text: string) =>
  bubble(person, text)
    .locator('time')
    .evaluateAll((times) => times.map((time) => time.getAttribute('datetime')));

async function away({ page }: Person): Promise<void> {
  await page.goto('about:blank');
}

async function back(person: Person): Promise<void> {
  await person.page.goto('/dashboard');
  await person.onDashboard();
}

test('who is shown other times or other entries than the others sees that, and a group goes on', async ({
  newBrowser,
  relay,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  const { person: carol } = await newBrowser('carol');
  for (const person of [alice, bob, carol]) await person.signUp();
  await becomeContacts(alice, bob);
  await becomeContacts(alice, carol);
  await alice.openChat(bob);
  await bob.openChat(alice);
  await alice.send('Are we sailing?');
  await bob.sees('Are we sailing?');
  await bob.send('We are.');
  await alice.sees('We are.');

  await test.step('times that the relay makes up stand beside the sender’s, or give way to it', async () => {
    await away(bob);
    const frames = framesTo(alice.page);
    await alice.page.reload();
    await alice.onDashboard();
    await alice.openChat(bob);
    for (const [i, text] of ['At nine.', 'At the pier.'].entries()) {
      await alice.send(text);
      await toldOf(frames, i + 1);
    }
    const madeUp = changeTime(relay, entry(relay, 'direct', 1), -180 * MINUTE);
    const close = changeTime(relay, entry(relay, 'direct', 0), 2 * MINUTE);
    await back(bob);
    await bob.openChat(alice);
    await bob.sees('At nine.', 'At the pier.');
    const [sent, sentLast] = [await timesOf(alice, 'At nine.'), await timesOf(alice, 'At the pier.')];
    await expect(bubble(bob, 'At nine.')).toContainText('by alice’s clock');
    expect(await timesOf(bob, 'At nine.')).toEqual([madeUp, ...sent]);
    await expect(bubble(bob, 'At the pier.')).not.toContainText('clock');
    expect(await timesOf(bob, 'At the pier.')).toEqual(sentLast);
    expect(sentLast).not.toContain(close);
  });

  await test.step('in a direct conversation, each is asked once before sending on', async () => {
    await away(bob);
    const frames = framesTo(alice.page);
    await alice.page.reload();
    await alice.onDashboard();
    await alice.openChat(bob);
    for (const [i, text] of ['Take the oars.', 'NOT the red ones.', 'And a lamp.'].entries()) {
      await alice.send(text);
      await toldOf(frames, i + 1);
    }
    alter(relay, entry(relay, 'direct', 1));
    await back(bob);
    await bob.openChat(alice);
    await bob.sees('Take the oars.', 'And a lamp.');
    await expect(bob.message('NOT the red ones.')).toHaveCount(0);
    await expect(differs(bob, alice)).toBeVisible();
    await expect(differs(alice, bob)).toBeVisible();
    for (const [one, other, text] of [
      [bob, alice, 'I take the red ones.'],
      [alice, bob, 'Which did I say?'],
    ] as const) {
      await one.send(text);
      await waits(one).getByRole('button', { name: 'Send anyway' }).click();
      await other.sees(text);
    }
    for (const [one, other, text] of [
      [bob, alice, 'The ones by the door.'],
      [alice, bob, 'Let us talk.'],
    ] as const) {
      await one.send(text);
      await other.sees(text);
      await expect(waits(one)).toHaveCount(0);
    }
  });

  await test.step('in a group, all are told, nobody is asked, and two views show where they part', async () => {
    await alice.createGroup(group);
    await alice.addMember(bob);
    await alice.addMember(carol);
    for (const person of [bob, carol]) await person.openGroup(group);
    for (const person of [alice, bob, carol]) {
      await person.send(`${person.username} is here.`);
      for (const other of [alice, bob, carol]) await other.sees(`${person.username} is here.`);
    }
    for (const person of [alice, bob, carol]) {
      await expect(person.messages.getByText('were shown different conversations')).toHaveCount(0);
    }
    await away(carol);
    await alice.send('Shall we leave her the boat?');
    await bob.sees('Shall we leave her the boat?');
    await bob.send('Never.');
    await alice.sees('Never.');
    exchange(relay, entry(relay, 'group', 1), entry(relay, 'group', 0));

    await back(carol);
    await carol.openGroup(group);
    await carol.sees('Never.', 'Shall we leave her the boat?');
    await expect(differs(carol, bob)).toBeVisible();
    for (const person of [alice, bob]) await expect(differs(person, carol)).toBeVisible();
    for (const person of [carol, alice, bob]) {
      await person.send(`${person.username} goes on.`);
      for (const other of [alice, bob, carol]) await other.sees(`${person.username} goes on.`);
      await expect(waits(person)).toHaveCount(0);
    }

    for (const { messages } of [alice, carol]) {
      await messages.getByText('Why?').first().click();
      await messages.getByRole('button', { name: 'Compare with another browser' }).first().click();
    }
    const views = viewsOn(carol.page);
    await views.locator('input[type=file]').setInputFiles(await saveView(alice.page));
    await expect(views.getByText(/^At no\. \d+ of the conversation, the two part\.$/)).toBeVisible();
    await expect(views.getByText('Shall we leave her the boat?').first()).toBeVisible();
  });
});
