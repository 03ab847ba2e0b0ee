import { directConversationId, groupConversationId } from '#src/net/contract.ts';
import { groupsAtom } from '#src/store/groups.ts';
import type { Random } from '../seams/random.ts';
import { pass, turn } from '../seams/time.ts';
import { copyStorage } from './disk.ts';
import { change, draft, file, forward, mute, note, pin, say, star, timer } from './messageSteps.ts';
import { fairWeather, foulWeather } from './network.ts';
import type { Person, Seat } from './people.ts';
import { type Act, placesOf, signedIn, someSeat } from './spots.ts';
import type { World } from './world.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const mostSeats = 3;
const mostGroups = 3;
/** A clock that is off by more than KeyPackages allow for would be refused, and rightly. */
const mostSkew = 6 * hour;

const read: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const { tab } = found;
  const place = random.pick([...placesOf(tab), null]);
  const isGroup = place?.key.startsWith('group-') === true;
  world.begin(tab, 'read', () => {
    if (place === null) return tab.actions.openChat(null);
    return isGroup
      ? tab.actions.openGroup(place.key.slice('group-'.length))
      : tab.actions.openChat(place.key);
  });
};

const createGroup: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null || (world.events.get('create a group') ?? 0) >= mostGroups) return;
  const { tab } = found;
  world.begin(tab, 'create a group', () => tab.actions.createGroup(`Group ${random.below(1000)}`));
};

const addMember: Act = (world, random) => {
  for (const seat of signedIn(world)) {
    const [tab] = seat.tabs;
    const own =
      tab?.store
        .get(groupsAtom)
        .items.filter(({ creatorId, ended }) => creatorId === seat.person.id && !ended) ?? [];
    if (tab === undefined || own.length === 0) continue;
    const group = random.pick(own);
    const members = new Set(group.members.map(({ userId }) => userId));
    const absent = world.people.filter(({ id }) => !members.has(id) && id !== seat.person.id);
    if (absent.length === 0) continue;
    const ids = random.chance(0.4) ? absent.map(({ id }) => id) : [random.pick(absent).id];
    world.begin(tab, 'add', () => tab.actions.addGroupMembers(group.id, ids));
    return;
  }
};

const leave: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const { seat, tab } = found;
  const groups = tab.store.get(groupsAtom).items.filter(({ creatorId, ended, members }) => {
    return creatorId !== seat.person.id && !ended && members.length > 2;
  });
  if (groups.length === 0) return;
  const { id } = random.pick(groups);
  const conversationId = groupConversationId(id);
  const thief = await world.steal(seat, conversationId);
  for (const own of seat.person.seats) world.mayLose(own, conversationId);
  world.begin(
    tab,
    'leave',
    () => tab.actions.leaveGroup(id),
    () => world.thieves.push(thief),
  );
};

const secondDevice: Act = async (world, random) => {
  const people = world.people.filter(({ seats }) => seats.length < mostSeats);
  if (people.length === 0) return;
  await world.signIn(world.newSeat(random.pick(people)));
};

const revoke: Act = async (world, random) => {
  const owners = world.people.filter(
    ({ seats }) => seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0).length > 1,
  );
  if (owners.length === 0) return;
  const person = random.pick(owners);
  const [keeper, gone] = person.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);
  const [tab] = keeper?.tabs ?? [];
  if (keeper === undefined || gone === undefined || tab === undefined) return;
  // Either may be another device by now, or both the same one: in two places.
  for (const seat of [keeper, gone]) await world.noteDevice(seat);
  const { deviceId } = gone;
  if (deviceId === null || deviceId === keeper.deviceId) return;
  const thief = await world.steal(gone, null);
  for (const seat of person.seats.filter((one) => one.deviceId === deviceId)) world.mayLose(seat);
  const isDone = await world.finish(tab, 'revoke', () => tab.actions.revokeDevice(deviceId));
  if (!isDone) return;
  world.thieves.push(thief);
  gone.status = 'revoked';
};

const lock: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  await world.finish(found.tab, 'lock', () => found.tab.actions.logOut());
  found.seat.profile.killTabs();
  found.seat.status = 'out';
};

const comeBack: Act = async (world, random) => {
  const away = world.seats.filter(({ status, tabs }) => status !== 'revoked' && tabs.length === 0);
  if (away.length === 0) return;
  const seat = random.pick(away);
  const isAsked = seat.profile.tabs.some(({ askedWhy }) => askedWhy !== null);
  if (seat.status === 'out' || isAsked) return world.signIn(seat);
  await openTab(world, seat);
};

async function openTab(world: World, seat: Seat): Promise<void> {
  const tab = world.openTab(seat);
  await world.finish(tab, 'start', () => tab.session.resume());
}

const anotherTab: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null || found.seat.profile.tabs.length > 1) return;
  await openTab(world, found.seat);
};

const bothStart: Act = (world, random) => {
  const here = world.people.filter(({ tabs }) => tabs.length > 0);
  if (here.length < 2) return;
  const one = random.pick(here);
  const other = random.pick(here.filter((person) => person !== one));
  const id = directConversationId(one.id, other.id);
  const speak = (person: Person, to: Person) => {
    const seat = random.pick(person.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0));
    world.say(seat, random.pick(seat.tabs), to.id, id);
  };
  speak(one, other);
  speak(other, one);
};

const offline: Act = (world, random) => {
  const found = someSeat(world, random);
  for (const tab of found?.seat.profile.tabs ?? []) {
    tab.line.cut();
    if (random.chance(0.5)) tab.networkChanged();
  }
};

const online: Act = (world) => {
  for (const { profile } of world.seats) {
    for (const tab of profile.tabs.filter(({ line }) => line.isCut)) {
      tab.line.mend();
      tab.networkChanged();
    }
  }
};

const interrupt: Act = (world, random) => someSeat(world, random)?.tab.line.interrupt();

const weather: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const { line } = found.tab;
  line.weather = line.weather === fairWeather ? foulWeather : fairWeather;
};

/** Kills a tab in the middle of whatever it is doing: so many turns of the event loop after something was begun. */
const kill: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  if (random.chance(0.7)) await say(world, random);
  const before = random.below(40);
  for (let turns = 0; turns < before; turns += 1) await turn();
  if (random.chance(0.3)) await pass(random.below(150));
  found.tab.kill();
};

const tear: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  found.tab.disk.tearIn = 1 + random.below(12);
};

const fill: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  found.tab.disk.isFull = true;
};

const makeRoom: Act = (world) => {
  for (const { profile } of world.seats) for (const { disk } of profile.tabs) disk.isFull = false;
};

/** The browser clears its storage. What it had not sent is gone, and it becomes a device like any new one. */
const vanish: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const { seat } = found;
  seat.profile.killTabs();
  world.mayLose(seat);
  const { IDBFactory } = await import('fake-indexeddb');
  seat.profile.indexedDB = new IDBFactory();
  seat.profile.pieces = new IDBFactory();
  await openTab(world, seat);
  await pass(5 * second);
  if (seat.tabs.length === 0) await world.signIn(seat);
};

/** Storage is put back as it was a while ago. What was written since is gone. */
const restore: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const { seat } = found;
  await world.noteTwoPlaces(seat);
  const kept = world.given.filter(({ isKept }) => isKept);
  const [copy, pieces] = [await copyStorage(seat.profile.indexedDB), await copyStorage(seat.profile.pieces)];
  await say(world, random);
  await pass(10 * second);
  seat.profile.killTabs();
  for (const given of world.given) if (given.seat === seat && !kept.includes(given)) given.mayBeLost = true;
  seat.profile.indexedDB = copy;
  seat.profile.pieces = pieces;
  await openTab(world, seat);
};

/** A profile is copied, and both are used: what either is asked for, its owner does. */
const clone: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null || found.seat.person.seats.length >= mostSeats) return;
  const { seat } = found;
  await world.noteTwoPlaces(seat);
  const copy = world.newSeat(seat.person);
  copy.profile.indexedDB = await copyStorage(seat.profile.indexedDB);
  copy.profile.pieces = await copyStorage(seat.profile.pieces);
  for (const [name, value] of seat.profile.storage.entries) copy.profile.storage.setItem(name, value);
  copy.status = 'in';
  copy.deviceId = seat.deviceId;
  await openTab(world, copy);
};

const turnClock: Act = (world, random) => {
  const { profile } = random.pick(world.seats);
  profile.isClockTurned = true;
  profile.clockSkew = Math.round((random.fraction() * 2 - 1) * mostSkew);
};

const wait: Act = (_world, random) => pass(random.below(3 * minute));

/** The relay deletes what everybody has received, as it does once an hour. */
const retain: Act = async (world) => {
  if ((await world.relay.retain()) > 0) world.count('content is deleted at the relay');
};

/** Every kind of step, with how often it comes among the others. */
export const steps = {
  say: { act: say, weight: 34 },
  note: { act: note, weight: 4 },
  change: { act: change, weight: 16 },
  forward: { act: forward, weight: 4 },
  file: { act: file, weight: 5 },
  timer: { act: timer, weight: 4 },
  pin: { act: pin, weight: 4 },
  star: { act: star, weight: 4 },
  draft: { act: draft, weight: 5 },
  mute: { act: mute, weight: 3 },
  read: { act: read, weight: 12 },
  createGroup: { act: createGroup, weight: 3 },
  addMember: { act: addMember, weight: 6 },
  leave: { act: leave, weight: 4 },
  secondDevice: { act: secondDevice, weight: 2.5 },
  revoke: { act: revoke, weight: 1.5 },
  lock: { act: lock, weight: 1 },
  comeBack: { act: comeBack, weight: 6 },
  anotherTab: { act: anotherTab, weight: 2 },
  bothStart: { act: bothStart, weight: 5 },
  offline: { act: offline, weight: 3 },
  online: { act: online, weight: 3 },
  interrupt: { act: interrupt, weight: 3 },
  weather: { act: weather, weight: 4 },
  kill: { act: kill, weight: 5 },
  tear: { act: tear, weight: 2 },
  fill: { act: fill, weight: 1 },
  makeRoom: { act: makeRoom, weight: 1.5 },
  vanish: { act: vanish, weight: 0.8 },
  turnClock: { act: turnClock, weight: 1 },
  wait: { act: wait, weight: 3 },
  restore: { act: restore, weight: 0.7 },
  clone: { act: clone, weight: 0.7 },
  retain: { act: retain, weight: 2 },
} as const satisfies Record<string, { act: Act; weight: number }>;

export type StepName = keyof typeof steps;

export function drawStep(random: Random, without: readonly StepName[]): StepName {
  const names = (Object.keys(steps) as StepName[]).filter((name) => !without.includes(name));
  const total = names.reduce((sum, name) => sum + steps[name].weight, 0);
  let at = random.fraction() * total;
  for (const name of names) {
    at -= steps[name].weight;
    if (at < 0) return name;
  }
  return 'wait';
}
