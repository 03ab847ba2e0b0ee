import type { Locator } from '@playwright/test';
import { digestOf } from '../../relay/src/repositories/entryDigest.ts';
import { findsNoBarriers } from '../e2e/support/axe.ts';
import { becomeContacts, type Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test, type World } from '../e2e/support/test.ts';

const name = 'Early birds';
const question = ({ page }: Person): Locator => page.getByText('Was everybody here invited?');
const answer = async ({ page }: Person, label: string) =>
  page.getByRole('button', { name: label, exact: true }).click();

interface Row {
  readonly conversation_id: string;
  readonly seq: number;
  readonly id: string;
  readonly epoch: number;
  readonly sender_id: string;
  readonly sender_device_id: string;
  readonly created_at: number;
  readonly content: string;
}

/** Deletes what a person's last commit in a group says, and keeps its digest, as a relay does with what is old. */
function deleteLastCommit(relay: RunningRelay, { username }: Person): void {
  relay.inDatabase((db) => {
    const sql = `select entries.*, hex(content) as content from entries join users on users.id = sender_id
      where kind = 'commit' and conversation_id like 'group:%' and username = ? order by seq desc limit 1`;
    const [row] = db.prepare(sql).all(username) as Row[];
    if (row === undefined) throw new Error('no commit');
    const digest = digestOf({
      conversationId: row.conversation_id,
      seq: row.seq,
      id: row.id,
      kind: 'commit',
      epoch: row.epoch,
      senderId: row.sender_id,
      senderDeviceId: row.sender_device_id,
      content: Buffer.from(row.content, 'hex'),
      createdAt: row.created_at,
      digest: null,
    });
    db.prepare('update entries set content = ?, digest = ? where id = ?').run(
      Buffer.alloc(0),
      digest,
      row.id,
    );
  });
}

/** Bob and Alice's phone were away while her laptop added Dora, and read nothing of who did. */
async function comeBack(newBrowser: World['newBrowser'], relay: RunningRelay) {
  const { person: laptop } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  const { person: dora } = await newBrowser('dora');
  const { person: phone } = await newBrowser('alice');
  await Promise.all([laptop, bob, dora].map((person) => person.signUp()));
  await becomeContacts(laptop, bob);
  await becomeContacts(laptop, dora);
  await phone.logIn();
  await laptop.createGroup(name);
  await laptop.addMember(bob);
  await laptop.send('Five o’clock at the pier.');
  for (const person of [bob, phone]) {
    await person.openGroup(name);
    await person.sees('Five o’clock at the pier.');
    await person.page.goto('about:blank');
  }
  await laptop.addMember(dora);
  // Hers is the last commit then, and whoever comes back finds no word of Alice's in the tree.
  await dora.openGroup(name);
  await dora.send('Good morning');
  await laptop.sees('Good morning');
  deleteLastCommit(relay, laptop);
  for (const person of [bob, phone]) {
    await person.page.goto('/dashboard');
    await person.openGroup(name);
    await expect(question(person)).toBeVisible();
    await person.send(`Who is Dora? asks ${person.username}.`);
  }
  for (const person of [laptop, dora]) {
    for (const asked of ['alice', 'bob'])
      await expect(person.message(`Who is Dora? asks ${asked}.`)).toHaveCount(0);
  }
  return { laptop, phone, bob, dora };
}

test('whoever finds somebody in a group may send anyway, and its creator take them out', async ({
  newBrowser,
  relay,
}) => {
  const { laptop, phone, bob, dora } = await comeBack(newBrowser, relay);
  await expect(bob.page.getByText(/Only alice can add people/)).toBeVisible();
  await findsNoBarriers(bob.page);
  await answer(bob, 'Send anyway');
  await expect(question(bob)).toHaveCount(0);
  for (const person of [laptop, dora]) await person.sees('Who is Dora? asks bob.');

  await expect(phone.page.getByText(/If you added them in another browser/)).toBeVisible();
  await answer(phone, 'Remove');
  await expect(question(phone)).toHaveCount(0);
  // She is no member by the keys, and still one by the relay's list, which holds back what is written until she has left.
  await expect(phone.page.getByText('Cannot read yet: has no keys:')).toContainText('dora');
  await dora.leaveGroup(name);
  for (const person of [laptop, bob]) await person.sees('Who is Dora? asks alice.');
  await expect(dora.message('Who is Dora? asks alice.')).toHaveCount(0);
});

test('what waits because somebody was found in a group goes as its creator keeps them', async ({
  newBrowser,
  relay,
}) => {
  const { phone, laptop, bob, dora } = await comeBack(newBrowser, relay);
  await answer(phone, 'Keep');
  await expect(question(phone)).toHaveCount(0);
  // Bob's browser was asked too, and has the creator's word now.
  await expect(question(bob)).toHaveCount(0);
  for (const person of [laptop, dora])
    await person.sees('Who is Dora? asks alice.', 'Who is Dora? asks bob.');
});
