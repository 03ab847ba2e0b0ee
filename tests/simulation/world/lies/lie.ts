import { olderVaultAtom } from '#src/store/keys.ts';
import type { Random } from '../../seams/random.ts';
import { pass, passUntil } from '../../seams/time.ts';
import { alarms, places, undecryptable } from '../checks.ts';
import { logsOfRelay } from '../log.ts';
import type { Liar } from '../network.ts';
import type { Seat } from '../people.ts';
import type { Tab } from '../profile.ts';
import { keyIn } from '../settle.ts';
import type { World } from '../world.ts';
import { type Lie, type LogLie, logLiar, logLies } from './lies.ts';

const second = 1_000;
const rounds = 3;

export interface Told {
  readonly lie: Lie;
  /** What the device that was lied to shows, without names of persons. */
  readonly byVictim: readonly string[];
  readonly byOthers: readonly string[];
}

/** Lies to somebody, and lets everybody talk on. @returns null where there was nothing to lie about */
export async function tell(world: World, lie: Lie, random: Random): Promise<Told | null> {
  if (lie === 'vaultRollback') return rollVaultBack(world, random);
  if (lie === 'stateRollback') return rollStateBack(world, random);
  if (lie === 'lastResort') return lastResort(world, random);
  return tellOfLog(world, lie, random);
}

const seatsIn = (world: World): Seat[] =>
  world.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);

async function tellOfLog(world: World, lie: LogLie, random: Random): Promise<Told | null> {
  const logs = (await logsOfRelay(world)).filter(({ id }) => !id.startsWith('self:'));
  const found = places(world, logs).filter(({ log, seat }) =>
    seatsIn(world).some(({ person }) => person !== seat.person && log.userIds.includes(person.id)),
  );
  if (found.length === 0) return null;
  const { log, seat, tab } = random.pick(found);
  for (const other of seat.profile.tabs.filter((one) => one !== tab)) other.kill();
  const witnesses = seatsIn(world).filter(
    ({ person }) => person !== seat.person && log.userIds.includes(person.id),
  );
  tab.line.cut();
  const say = (one: Seat, its: Tab) => world.say(one, its, keyIn(log.id, one), log.id);
  if (logLies[lie].kind === 'commit') {
    // A new device comes in, by a commit.
    const [joining] = witnesses;
    if (joining === undefined) return null;
    await world.signIn(world.newSeat(joining.person));
    await pass(20 * second);
  }
  for (let words = 0; words < 2; words += 1) {
    for (const witness of witnesses) {
      const [its] = witness.tabs;
      if (its !== undefined) say(witness, its);
      await pass(2 * second);
    }
  }
  await pass(10 * second);
  const now = (await logsOfRelay(world)).find(({ id }) => id === log.id);
  const { lastSeq } = await tab.crypto.conversation(log.id);
  const lastCommit = now?.entries.findLast(({ kind }) => kind === 'commit')?.seq ?? 0;
  // In an epoch that has ended nothing can be left out: no message compares it any more.
  const unread = (now?.entries ?? []).filter(({ kind, sender_id, seq }) => {
    const isOpen = kind === 'commit' || (seq > lastCommit && sender_id !== seat.person.id);
    return kind === logLies[lie].kind && seq > lastSeq && isOpen;
  });
  const candidates = lie === 'reorder' ? unread.slice(0, -1) : unread;
  if (candidates.length === 0) return null;
  const entry = { ...random.pick(candidates), conversationId: log.id };
  const before = await shownBy(world);
  tab.line.liar = logLiar(lie, entry, seat.person.id, log.userIds, random);
  tab.line.mend();
  tab.networkChanged();
  await passUntil(() => tab.isConnected, 60 * second);
  await pass(20 * second);
  for (let round = 0; round < rounds; round += 1) {
    for (const witness of witnesses) {
      const [its] = witness.tabs;
      if (its !== undefined) say(witness, its);
      await pass(5 * second);
    }
    const { isDoubted } = await tab.crypto.conversation(log.id);
    const peer = keyIn(log.id, seat);
    if (isDoubted) await world.finish(tab, 'send anyway', () => tab.actions.sendAnyway(peer));
    say(seat, tab);
    await pass(10 * second);
  }
  return noticed(world, lie, seat, before);
}

/** What everybody is told of, by browser. */
async function shownBy(world: World): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for (const line of [...(await alarms(world)), ...(await undecryptable(world))]) {
    const [name = '', what = ''] = line.split(': ');
    shown.set(name, [...(shown.get(name) ?? []), what.replace(/ in \S+$/, '')]);
  }
  return shown;
}

async function noticed(world: World, lie: Lie, victim: Seat, before: Map<string, string[]>): Promise<Told> {
  const now = await shownBy(world);
  const fresh = (name: string) => (now.get(name) ?? []).slice(before.get(name)?.length ?? 0);
  const others = [...now.keys()].filter((name) => name !== victim.profile.name);
  return {
    lie,
    byVictim: [...new Set(fresh(victim.profile.name))],
    byOthers: [...new Set(others.flatMap(fresh))],
  };
}

function answering(path: string, said: unknown): Liar {
  return {
    answer: async (method, url, body) => (method === 'GET' && url === path ? said : body),
    event: (event) => event,
    acknowledged: (seq) => seq,
  };
}

async function rollVaultBack(world: World, random: Random): Promise<Told | null> {
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
  return noticed(world, 'vaultRollback', seat, before);
}

/** The state from before somebody was verified: the device puts its own in its place, and keeps the mark. */
async function rollStateBack(world: World, random: Random): Promise<Told | null> {
  const seat = random.pick(seatsIn(world));
  const [tab] = seat.tabs;
  const other = world.people.find((person) => person !== seat.person);
  if (tab === undefined || other === undefined) return null;
  const former = await askAs(world, seat, '/api/account-state');
  const isMarked = await world.finish(tab, 'verify', async () => {
    const { current } = await tab.actions.loadSafetyNumbers(other.id);
    await tab.actions.setVerified(other.id, current, true);
  });
  if (!isMarked) return null;
  const since = world.trace.puts('/api/account-state');
  tab.line.liar = answering('/api/account-state', former);
  tab.line.interrupt();
  await pass(60 * second);
  const isPutBack = world.trace.puts('/api/account-state') > since;
  return { lie: 'stateRollback', byVictim: isPutBack ? ['puts its own state back'] : [], byOthers: [] };
}

async function lastResort(world: World, random: Random): Promise<Told | null> {
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
  return noticed(world, 'lastResort', seat, before);
}

async function askAs(world: World, seat: Seat, url: string): Promise<unknown> {
  const token = [...seat.profile.storage.entries.values()].find((value) => value.split('.').length === 3);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await world.relay.relay.app.inject({ method: 'GET', url, headers });
  return answer.json();
}
