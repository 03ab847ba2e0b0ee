import { routeAt, textOf } from '#relay/test/parts.ts';
import { olderVaultAtom } from '#src/store/keys.ts';
import { trustAtom } from '#src/store/trust.ts';
import type { Random } from '../../seams/random.ts';
import { pass, passUntil } from '../../seams/time.ts';
import type { Liar } from '../network.ts';
import type { Seat } from '../people.ts';
import type { World } from '../world.ts';
import { noticed, ofAccount, seatsIn, shownBy, type Told } from './noticed.ts';

const second = 1_000;

function answering(path: string, said: unknown): Liar {
  return {
    answer: async (method, url, body) => (method === 'GET' && url === path ? said : body),
    event: (event) => event,
    acknowledged: (seq) => seq,
  };
}

export async function rollVaultBack(world: World, random: Random): Promise<Told | null> {
  const seats = seatsIn(world);
  if (seats.length === 0) return null;
  const seat = random.pick(seats);
  const [tab] = seat.tabs;
  if (tab === undefined) return null;
  const before = await shownBy(world);
  const former = await askAs(world, seat, '/api/vault');
  tab.typist.knows(seat.person.password, `${seat.person.password}, newer`);
  if (!(await world.finish(tab, 'change the password', () => tab.actions.changePassword()))) return null;
  await pass(5 * second);
  tab.line.liar = answering('/api/vault', former);
  tab.line.interrupt();
  await passUntil(() => tab.store.get(olderVaultAtom), 60 * second);
  return noticed(world, 'vaultRollback', seat, before, ofAccount);
}

/**
 * The row from before somebody was verified, for everybody who asks. The device that knows better puts its own in its place: a browser
 * that is new, and has only what the relay has, shows the mark.
 */
export async function rollStateBack(world: World, random: Random): Promise<Told | null> {
  const seat = random.pick(seatsIn(world));
  const [tab] = seat.tabs;
  const other = world.people.find((person) => person !== seat.person);
  if (tab === undefined || other === undefined) return null;
  const { db } = world.relay.relay.database;
  const stored = db.selectFrom('account_states').selectAll().where('user_id', '=', seat.person.id);
  const former = await stored.executeTakeFirst();
  const isMarked = await world.finish(tab, 'verify', async () => {
    const { current } = await tab.actions.loadSafetyNumbers(other.id);
    await tab.actions.setVerified(other.id, current, true);
  });
  if (!isMarked || former === undefined) return null;
  await pass(60 * second);
  if (Buffer.from((await stored.executeTakeFirstOrThrow()).sealed).equals(former.sealed)) return null;
  const { sealed, version } = former;
  await db
    .updateTable('account_states')
    .set({ sealed, version })
    .where('user_id', '=', seat.person.id)
    .execute();
  for (const { line } of world.people.flatMap(({ tabs }) => tabs)) line.interrupt();
  await pass(60 * second);
  const again = world.newSeat(seat.person);
  await world.signIn(again);
  const [newTab] = again.tabs;
  const isThere = () => (newTab?.store.get(trustAtom).get(other.id)?.verifiedAt ?? null) !== null;
  await passUntil(isThere, 60 * second);
  return {
    lie: 'stateRollback',
    byVictim: isThere() ? ['the mark is there again'] : [],
    byOthers: [],
  };
}

export async function lastResort(world: World, random: Random): Promise<Told | null> {
  const seat = random.pick(seatsIn(world));
  const [tab] = seat.tabs;
  const other = world.people.find((person) => person !== seat.person);
  if (tab === undefined || other === undefined) return null;
  const before = await shownBy(world);
  await world.relay.relay.database.db.deleteFrom('key_packages').execute();
  await world.finish(tab, 'create a group', async () => {
    const id = await tab.actions.createGroup('Last resort');
    await tab.actions.addGroupMembers(id, [other.id]);
  });
  await pass(20 * second);
  return noticed(world, 'lastResort', seat, before, ofAccount);
}

async function askAs(world: World, seat: Seat, url: string): Promise<unknown> {
  const token = [...seat.profile.storage.entries.values()].find((value) => value.split('.').length === 3);
  const headers = { authorization: `Bearer ${token}` };
  const { headers: answered, rawPayload } = await world.relay.relay.app.inject({
    method: 'GET',
    url,
    headers,
  });
  const parts = routeAt('GET', url.slice('/api'.length))?.responseParts;
  return JSON.parse(textOf(rawPayload, String(answered['content-type']), parts));
}
