import { directConversationId, groupConversationId, selfConversationId } from '#src/net/contract.ts';
import { groupKeyOf } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import type { MessageView } from '#workers/api/cryptoApi.ts';
import type { Random } from '../seams/random.ts';
import { pass, turn } from '../seams/time.ts';
import { copyStorage } from './disk.ts';
import { fairWeather, foulWeather } from './network.ts';
import { type Person, type Said, type Seat, textsOf } from './people.ts';
import type { Tab } from './profile.ts';
import type { World } from './world.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const mostSeats = 3;
const mostGroups = 3;
/** A clock that is off by more than KeyPackages allow for would be refused, and rightly. */
const mostSkew = 6 * hour;

interface Place {
  readonly key: string;
  readonly conversationId: string;
}

/** Plays one step with what it acts on. */
type Act = (world: World, random: Random) => Promise<void> | void;

const signedIn = (world: World): Seat[] =>
  world.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);

interface Spot {
  readonly seat: Seat;
  readonly tab: Tab;
}

function someSeat(world: World, random: Random): Spot | null {
  const seats = signedIn(world);
  if (seats.length === 0) return null;
  const seat = random.pick(seats);
  return { seat, tab: random.pick(seat.tabs) };
}

/** The chats that a tab shows and can write in. */
function placesOf(tab: Tab): Place[] {
  const own = tab.userId ?? '';
  const direct = tab.store
    .get(contactsAtom)
    .items.map(({ id }) => ({ key: id, conversationId: directConversationId(own, id) }));
  const groups = tab.store
    .get(groupsAtom)
    .items.filter(({ ended, left }) => !ended && !left)
    .map(({ id }) => ({ key: groupKeyOf(id), conversationId: groupConversationId(id) }));
  // As many words in groups as between two, however many people one knows.
  return groups.length === 0
    ? direct
    : [...direct, ...direct.flatMap(() => groups).slice(0, direct.length * 2)];
}

const say: Act = (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const places = placesOf(found.tab);
  if (places.length === 0) return;
  const { conversationId, key } = random.pick(places);
  world.say(found.seat, found.tab, key, conversationId);
};

const note: Act = (world, random) => {
  const found = someSeat(world, random);
  const own = found?.seat.person.id ?? '';
  if (found !== null && own !== '') world.say(found.seat, found.tab, own, selfConversationId(own));
};

interface Shown extends Place {
  readonly message: MessageView;
  readonly said: Said;
}

/** One of the newest messages of some chat that has any; null where none has. */
async function someMessage(world: World, { seat, tab }: Spot, random: Random): Promise<Shown | null> {
  const own = seat.person.id;
  const places = [...placesOf(tab), { key: own, conversationId: selfConversationId(own) }];
  const first = random.below(places.length);
  for (const place of [...places.slice(first), ...places.slice(0, first)]) {
    const asked = tab.crypto.messages(place.conversationId, { limit: 20 }).catch(() => []);
    const messages = await Promise.race([asked, tab.death.then(() => [])]);
    const shown = messages.flatMap((message) => {
      const { content } = message;
      const said = content.kind === 'text' && world.said.find((one) => textsOf(one).includes(content.text));
      return said ? [{ ...place, message, said }] : [];
    });
    if (shown.length > 0) return random.pick(shown);
  }
  return null;
}

const emojis = ['👍️', '❤️', '😂'];

/** Answers a message, reacts to it, takes that back, or edits or deletes it where it is the person's own. */
const change: Act = async (world, random) => {
  const found = someSeat(world, random);
  const shown = found && (await someMessage(world, found, random));
  if (found === null || shown === null) return;
  const { seat, tab } = found;
  const { conversationId, key, message, said } = shown;
  const of = message.messageId;
  const roll = random.fraction();
  if (roll < 0.2) return world.say(seat, tab, key, conversationId, of);
  const isOwn = said.seat.person === seat.person;
  if (isOwn && roll < 0.4) return world.change(seat, tab, key, said, { kind: 'edit', of, text: '' });
  if (isOwn && roll < 0.6) return world.change(seat, tab, key, said, { kind: 'deletion', of });
  const emoji = random.pick(emojis);
  const isTaken =
    message.reactions?.some((one) => one.emoji === emoji && one.userIds.includes(seat.person.id)) === true;
  world.change(seat, tab, key, said, { kind: 'reaction', of, emoji, isTaken });
};

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
  const copy = await copyStorage(seat.profile.indexedDB);
  await say(world, random);
  await pass(10 * second);
  seat.profile.killTabs();
  for (const given of world.given) if (given.seat === seat && !kept.includes(given)) given.mayBeLost = true;
  seat.profile.indexedDB = copy;
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
  for (const [name, value] of seat.profile.storage.entries) copy.profile.storage.setItem(name, value);
  copy.status = 'in';
  copy.deviceId = seat.deviceId;
  await openTab(world, copy);
};

const turnClock: Act = (world, random) => {
  const { profile } = random.pick(world.seats);
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
