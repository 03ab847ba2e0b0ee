import { certificateOf, privateKeyOf } from '../../relay/test/devices.ts';
import type { Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';
import { callWorker, keepPorts } from './support/ports.ts';

interface Answer {
  readonly value: readonly unknown[];
}

interface Sealed {
  readonly sealed: string;
}

interface Segment extends Sealed {
  readonly hash: string;
}

interface Stored extends Sealed {
  readonly segments: readonly Segment[];
}

/** Two more than there is room for in a segment. */
const people = 66;
const idOf = (at: number) => `c0a1c0a1-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;

/** Has a browser meet people who are at no relay, by the door of its worker, and put them into the account state. */
async function meets({ page }: Person, from: number, to: number, accountKey = 'account'): Promise<void> {
  const ids = Array.from({ length: to - from }, (_, i) => idOf(from + i));
  await Promise.all(
    ids.map((id) => {
      const certificate = certificateOf(id, id, privateKeyOf(accountKey, id));
      return page.evaluate(callWorker, { method: 'observeDevices', args: [id, [certificate]] });
    }),
  );
  await page.reload();
}

/** Returns how many people a browser's worker knows. */
async function known({ page }: Person): Promise<number> {
  const { value } = (await page.evaluate(callWorker, { method: 'contactTrust', args: [] })) as Answer;
  return value.length;
}

/** The account state of the only person as the relay has it, in hexadecimal. */
function stateAt(relay: RunningRelay): Stored {
  return relay.inDatabase((db) => {
    const [state] = db.prepare('select hex(sealed) as sealed from account_states').all() as Sealed[];
    const segments = db.prepare('select hash, hex(sealed) as sealed from account_state_segments').all();
    return { sealed: state?.sealed ?? '', segments: segments as Segment[] };
  });
}

/** Counts what the person's browsers have told each other. */
function toldAt(relay: RunningRelay): number {
  const sql = "select seq from entries where kind = 'application' and conversation_id like 'self:%'";
  return relay.inDatabase((db) => db.prepare(sql).all().length);
}

/** Puts another state in its place, under the same version. */
function give(relay: RunningRelay, { sealed, segments }: Stored): void {
  const bytes = (hex: string) => Buffer.from(hex, 'hex');
  relay.inDatabase((db) => {
    const [user] = db.prepare('select id from users').all() as { id: string }[];
    db.exec('delete from account_state_segments');
    db.prepare('update account_states set sealed = ? where user_id = ?').run(bytes(sealed), user!.id);
    const insert = db.prepare('insert into account_state_segments (user_id, hash, sealed) values (?, ?, ?)');
    for (const segment of segments) insert.run(user!.id, segment.hash, bytes(segment.sealed));
  });
}

const lies: readonly [string, (now: Stored, former: Stored) => Stored][] = [
  ['leaves out a segment', ({ sealed, segments }) => ({ sealed, segments: segments.slice(1) })],
  ['brings back a former one', ({ sealed }, { segments }) => ({ sealed, segments })],
  ['brings back the former head', ({ segments }, { sealed }) => ({ sealed, segments })],
];

test('account data of which the relay exchanges a part is told of in the browser that it gives it to, and in the others', async ({
  newBrowser,
  relay,
}) => {
  const { person: laptop } = await newBrowser('alice');
  await laptop.page.addInitScript(keepPorts);
  await laptop.signUp();
  await meets(laptop, 0, people);
  await expect.poll(() => stateAt(relay).segments.length).toBe(2);
  const former = stateAt(relay);
  await meets(laptop, 0, 1, 'another account');
  await expect.poll(() => stateAt(relay).segments).not.toEqual(former.segments);
  // Each says to the other what the relay has given it by then.
  const { person: phone, context: phoneBrowser } = await newBrowser('alice');
  await phone.logIn();
  await expect.poll(() => toldAt(relay)).toBe(2);
  await phoneBrowser.close();

  const on = ({ page }: Person) => page.getByRole('region', { name: 'Older account data' });
  for (const [what, lie] of lies) {
    await test.step(`which ${what}`, async () => {
      const { person: tablet, context } = await newBrowser('alice');
      await tablet.page.addInitScript(keepPorts);
      // It would put the state right as it is told of the new browser, perhaps before that one has read it.
      await laptop.page.goto('about:blank');
      const told = toldAt(relay);
      give(relay, lie(stateAt(relay), former));
      await tablet.logIn();
      await expect.poll(() => toldAt(relay)).toBeGreaterThan(told);
      await laptop.page.goto('/dashboard');
      await expect(on(tablet)).toContainText('has given this browser older account data');
      await expect(on(laptop)).toContainText('than it had given to this browser before');
      // Together they know everybody still.
      await expect.poll(() => known(tablet)).toBe(people);
      await on(laptop).getByRole('button', { name: 'Dismiss' }).click();
      await expect(on(laptop)).toHaveCount(0);
      await context.close();
    });
  }
});
