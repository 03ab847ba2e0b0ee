import { certificateOf } from '#relay/test/devices.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { otherNamesAtom } from '#src/store/names.ts';
import type { Random } from '../../seams/random.ts';
import { pass, passUntil } from '../../seams/time.ts';
import { places } from '../checks.ts';
import { type LogOfRelay, logsOfRelay } from '../log.ts';
import type { Person, Seat } from '../people.ts';
import type { Tab } from '../profile.ts';
import { keyIn } from '../settle.ts';
import type { World } from '../world.ts';
import { noticed, ofAccount, seatsIn, shownBy, type Told } from './noticed.ts';

const second = 1_000;

interface Friends {
  readonly seat: Seat;
  readonly tab: Tab;
  readonly log: LogOfRelay;
  readonly other: Person;
}

/** Two who have a conversation of their own, as one of them sees it. */
async function friends(world: World, random: Random): Promise<Friends | null> {
  const found = places(world, await logsOfRelay(world.relay)).flatMap(({ log, seat, tab }) => {
    const other = world.people.find(({ id }) => id !== seat.person.id && log.userIds.includes(id));
    return log.id.startsWith('direct:') && other !== undefined ? [{ log, other, seat, tab }] : [];
  });
  return found.length === 0 ? null : random.pick(found);
}

/** Rows that say that somebody's devices are under a key of the relay's own; a new browser of a contact's is asked to write. */
export async function inventKey(world: World, random: Random): Promise<Told | null> {
  const found = await friends(world, random);
  if (found === null) return null;
  const { other, seat } = found;
  // By now the account's state has all that the browsers so far know of the contact.
  await pass(60 * second);
  const { db } = world.relay.relay.database;
  const devices = await db.selectFrom('devices').select('id').where('user_id', '=', other.id).execute();
  for (const { id } of devices) {
    const certificate = Buffer.from(certificateOf(other.id, id), 'base64url');
    await db.updateTable('devices').set({ certificate }).where('id', '=', id).execute();
  }
  const before = await shownBy(world);
  const again = world.newSeat(seat.person);
  await world.signIn(again);
  const [tab] = again.tabs;
  if (tab === undefined) return null;
  await world.finish(tab, 'read', () => tab.actions.openChat(other.id));
  await pass(20 * second);
  return noticed(world, 'inventedKey', again, before, { ...ofAccount, onVictim: () => other.id });
}

/** Rows that call each of two people by the other's name. */
export async function exchangeNames(world: World, random: Random): Promise<Told | null> {
  const found = await friends(world, random);
  const third = world.people.find(({ id }) => id !== found?.other.id && id !== found?.seat.person.id);
  if (found === null || third === undefined) return null;
  const { other, seat } = found;
  for (const [{ id }, name] of [
    [other, 'nobody'],
    [third, other.name],
    [other, third.name],
  ] as const) {
    const { db } = world.relay.relay.database;
    await db.updateTable('users').set({ username: name, username_key: name }).where('id', '=', id).execute();
  }
  seat.profile.killTabs();
  const tab = world.openTab(seat);
  await world.finish(tab, 'start', () => tab.session.resume());
  const isSaid = () => tab.store.get(otherNamesAtom).has(other.id);
  await passUntil(isSaid, 60 * second);
  const shown = tab.store.get(contactsAtom).items.find(({ id }) => id === other.id)?.username;
  return {
    lie: 'exchangedNames',
    byVictim: isSaid() ? ["the server's name beside"] : [],
    byOthers: [],
    isBelieved: shown === third.name,
  };
}

/** Rows by which everybody has everything, and has read it, while the other one is away. */
export async function forgeReceipts(world: World, random: Random): Promise<Told | null> {
  const found = await friends(world, random);
  if (found === null) return null;
  const { log, other, seat, tab } = found;
  for (const away of seatsIn(world).filter(({ person }) => person === other)) away.profile.killTabs();
  world.say(seat, tab, keyIn(log.id, seat), log.id);
  await passUntil(() => world.isIdle, 60 * second);
  await pass(10 * second);
  const now = (await logsOfRelay(world.relay)).find(({ id }) => id === log.id);
  if (now === undefined || now.lastSeq <= log.lastSeq) return null;
  const { db } = world.relay.relay.database;
  const { id, lastSeq } = now;
  await db.updateTable('participants').set({ read_seq: lastSeq }).where('conversation_id', '=', id).execute();
  await db.updateTable('receipts').set({ position: lastSeq }).where('conversation_id', '=', id).execute();
  tab.line.interrupt();
  await pass(10 * second);
  await world.finish(tab, 'read', () => tab.actions.openChat(other.id));
  await pass(20 * second);
  const { receipts } = await tab.crypto.conversation(id);
  const isBelieved = receipts.some(
    ({ deliveredSeq, userId }) => userId === other.id && deliveredSeq >= lastSeq,
  );
  return { lie: 'forgedReceipts', byVictim: [], byOthers: [], isBelieved };
}
