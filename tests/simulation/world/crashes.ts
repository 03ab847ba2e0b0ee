import { directConversationId, groupConversationId } from '#src/net/contract.ts';
import { groupKeyOf } from '#src/store/chats.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { Random } from '../seams/random.ts';
import { passUntil } from '../seams/time.ts';
import { alarms, check, inWords, lastWords } from './checks.ts';
import { copyStorage } from './disk.ts';
import type { OperationName } from './operations.ts';
import type { Person, Seat } from './people.ts';
import type { PointKind } from './points.ts';
import type { Tab } from './profile.ts';
import { comeBack, untilRest } from './settle.ts';
import { timer as timerOf } from './wishes.ts';
import { World } from './world.ts';

/**
 * Brings the world, which is at rest, to where an operation can begin.
 * @returns the browser that crashes, and what it does, or has done to it, in that tab
 */
type Operation = (cast: Cast) => Promise<{
  readonly seat: Seat;
  readonly act: (tab: Tab) => Promise<void>;
}>;

export interface CrashPlan {
  readonly seed: string;
  readonly crash: OperationName;
  /** Every so many points one is tried; 1 for all. */
  readonly every: number;
  /** The first one that is tried, from 1; drawn from the seed, unless given. */
  readonly first?: number;
}

export interface CrashOutcome {
  /** The points at which the tab was killed. */
  readonly tried: number;
  /** The points of the operation when nothing killed it. */
  readonly points: number;
  readonly byKind: ReadonlyMap<PointKind, number>;
  /** With the number of the point before each. */
  readonly wrong: readonly string[];
  readonly hash: string;
}

const second = 1_000;
const minute = 60 * second;
/** After an operation is done, what it has set going (receipts, events, the next commit) goes on for as long. */
const aftermath = 6 * second;
const mostPoints = 5_000;
const people = 3;
/** Seconds after which messages disappear. */
const timer = 30;
const fileBytes = 2_000;

/** Three people with a browser each, and a group that the first has created, in which the second is. */
class Cast {
  readonly world: World;
  groupId = '';
  #names = 0;
  #hasTimer = false;
  #recoveryKey = '';

  constructor(world: World) {
    this.world = world;
  }

  seat(at: number): Seat {
    return this.world.people[at]?.seats.find(({ status }) => status !== 'revoked') as Seat;
  }

  tab(at: number): Tab {
    return this.seat(at).tabs[0] as Tab;
  }

  id(at: number): string {
    return this.world.people[at]?.id ?? '';
  }

  /** Says something from one to another, or in the group. */
  say(at: number, to: number | 'group', tab = this.tab(at)): void {
    const key = to === 'group' ? groupKeyOf(this.groupId) : this.id(to);
    const id = to === 'group' ? this.conversationId : directConversationId(this.id(at), this.id(to));
    this.world.say(this.seat(at), tab, key, id);
  }

  get conversationId(): string {
    return groupConversationId(this.groupId);
  }

  isMember(at: number): boolean {
    const groups = this.tab(at).store.get(groupsAtom).items;
    return groups.some(({ ended, id, left }) => id === this.groupId && !ended && !left);
  }

  async begin(): Promise<void> {
    await this.create();
    for (const to of [1, 2]) this.say(0, to);
    this.say(1, 2);
    await untilRest(this.world, 'before the first crash');
  }

  /** A new group in the place of the one before. */
  async create(): Promise<void> {
    const tab = this.tab(0);
    if (this.groupId !== '') {
      for (const seat of this.world.seats) this.world.mayLose(seat, this.conversationId);
      await this.world.finish(tab, 'delete a group', () => tab.actions.deleteGroup(this.groupId));
    }
    const create = async () => {
      this.groupId = await tab.actions.createGroup('Skerry');
    };
    await this.world.finish(tab, 'create a group', create);
    await this.world.finish(tab, 'add', () => tab.actions.addGroupMembers(this.groupId, [this.id(1)]));
  }

  /** Has messages between two disappear, from the first time on. */
  async setTimer(at: number, to: number): Promise<void> {
    if (this.#hasTimer) return;
    this.#hasTimer = true;
    const conversationId = directConversationId(this.id(at), this.id(to));
    const [seat, tab, key] = [this.seat(at), this.tab(at), this.id(to)];
    this.world.wish({ seat, tab, conversationId }, timerOf(conversationId), String(timer), () =>
      tab.actions.setMessageTimer(key, timer),
    );
    await untilRest(this.world, 'with a timer');
  }

  async rename(at: number, tab: Tab): Promise<void> {
    this.#names += 1;
    const { name } = this.seat(at).person;
    const change = { username: `${name}${this.#names}`, email: `${name}@example.org` };
    await this.world.finish(tab, 'rename', () => tab.actions.updateProfile(change));
  }

  /** Has somebody leave the group, if they are in it. */
  async leave(at: number): Promise<void> {
    if (!this.isMember(at)) return;
    for (const seat of this.world.people[at]?.seats ?? []) this.world.mayLose(seat, this.conversationId);
    const tab = this.tab(at);
    await this.world.finish(tab, 'leave', () => tab.actions.leaveGroup(this.groupId));
  }

  /** A browser of somebody's that nobody has signed in on; the one of before is taken out of use. */
  async newSeat(at: number): Promise<Seat> {
    const person = this.world.people[at] as Person;
    const [first, former] = person.seats.filter(({ status }) => status !== 'revoked');
    const [tab] = first?.tabs ?? [];
    if (former !== undefined && tab !== undefined) {
      const { deviceId } = former;
      this.world.mayLose(former);
      if (deviceId !== null) await this.world.finish(tab, 'revoke', () => tab.actions.revokeDevice(deviceId));
      former.profile.killTabs();
      former.status = 'revoked';
      await untilRest(this.world, 'without the browser of before');
    }
    return this.world.newSeat(person);
  }

  /** Makes a recovery key, unless the person has one. */
  async keepRecoveryKey(at: number): Promise<void> {
    if (this.#recoveryKey !== '') return;
    const { person } = this.seat(at);
    const tab = this.tab(at);
    tab.typist.type = ({ recoveryKey }) => {
      this.#recoveryKey = recoveryKey ?? this.#recoveryKey;
      return { password: person.password, newPassword: null };
    };
    await this.world.finish(tab, 'recovery key', () => tab.actions.setUpRecoveryKey());
    tab.typist.knows(person.password);
  }

  /** Logs out in all browsers of somebody's. */
  async logOut(at: number): Promise<void> {
    for (const seat of this.world.people[at]?.seats ?? []) {
      const [tab] = seat.tabs;
      if (tab === undefined) continue;
      await this.world.finish(tab, 'lock', () => tab.actions.logOut());
      seat.profile.killTabs();
    }
  }

  /** The password that it sets is the one of before, so that a browser that heard of no answer knows which it is. */
  async recover(seat: Seat, tab: Tab): Promise<void> {
    const { name, password } = seat.person;
    const input = { identifier: name, recoveryKey: this.#recoveryKey, password };
    const isDone = await this.world.finish(tab, 'recover', () => tab.actions.recover(input));
    if (!isDone && !tab.isDead) this.world.wrong.push('the recovery key opens nothing');
    if (tab.userId === null) return;
    seat.status = 'in';
    await this.world.noteDevice(seat);
  }

  /** Adds somebody, if they aren't there. */
  async add(at: number): Promise<void> {
    if (this.isMember(at)) return;
    const tab = this.tab(0);
    await this.world.finish(tab, 'add', () => tab.actions.addGroupMembers(this.groupId, [this.id(at)]));
  }
}

/** Each operation that changes keys, the log or an outbox. */
const operations = {
  /** Encrypts and sends in a direct conversation, and is acknowledged. */
  send: async (cast) => ({
    seat: cast.seat(1),
    act: async (tab) => cast.say(1, 0, tab),
  }),
  /** A member's first message, which its own commit goes before. */
  async commit(cast) {
    await cast.create();
    await untilRest(cast.world, 'in a new group');
    return { seat: cast.seat(1), act: async (tab) => cast.say(1, 'group', tab) };
  },
  /** Adds somebody, whom the relay hands the KeyPackages of. */
  async add(cast) {
    await cast.leave(2);
    await untilRest(cast.world, 'without the third');
    return { seat: cast.seat(0), act: () => cast.add(2) };
  },
  /** Removes somebody who left, as a message to the group has to be preceded by that. */
  async remove(cast) {
    await cast.add(2);
    await untilRest(cast.world, 'with the third');
    const act = async (tab: Tab) => {
      await cast.leave(2);
      if (!tab.isDead) cast.say(0, 'group', tab);
    };
    return { seat: cast.seat(0), act };
  },
  /** Joins by Welcome. */
  async join(cast) {
    await cast.leave(2);
    await untilRest(cast.world, 'without the third');
    return { seat: cast.seat(2), act: () => cast.add(2) };
  },
  /** Signs another name, which the others are told. */
  rename: async (cast) => ({ seat: cast.seat(2), act: (tab) => cast.rename(2, tab) }),
  /** Receives and reads, and says so in a receipt. */
  acknowledge: async (cast) => ({
    seat: cast.seat(1),
    async act(tab) {
      cast.say(0, 1);
      await cast.world.finish(tab, 'read', () => tab.actions.openChat(cast.id(0)));
    },
  }),
  /** Seals a file, uploads it, queues its message, and sends that. */
  sendFile: async (cast) => ({
    seat: cast.seat(1),
    act(tab) {
      const place = { conversationId: directConversationId(cast.id(0), cast.id(1)), key: cast.id(0) };
      return cast.world.sendFile(cast.seat(1), tab, place, new Uint8Array(fileBytes));
    },
  }),
  /** Receives and reads a message with a timer, which runs out, and erases it. */
  async expire(cast) {
    await cast.setTimer(0, 1);
    const act = async (tab: Tab) => {
      cast.say(0, 1);
      await cast.world.finish(tab, 'read', () => tab.actions.openChat(cast.id(0)));
      // So that it is known as one that disappears, before it has.
      await cast.world.look();
      await passUntil(() => tab.isDead, (timer + 10) * second);
    };
    return { seat: cast.seat(1), act };
  },
  /** Storage that was put back is opened, is asked for the password, and becomes a new device in every conversation. */
  async restore(cast) {
    const { world } = cast;
    const seat = cast.seat(1);
    await world.noteTwoPlaces(seat);
    const copy = await copyStorage(seat.profile.indexedDB);
    cast.say(1, 0);
    await untilRest(world, 'before storage is put back');
    world.mayLose(seat);
    seat.profile.killTabs();
    seat.profile.indexedDB = copy;
    const act = async (tab: Tab) => {
      await world.finish(tab, 'start', () => tab.session.resume());
      await passUntil(() => tab.isDead || tab.hasLostSession, minute);
      if (tab.isDead) return;
      tab.kill();
      await world.signIn(seat);
    };
    return { seat, act };
  },
  /** Another browser of somebody's logs in, and becomes a device of every conversation. */
  async logIn(cast) {
    const { world } = cast;
    const seat = await cast.newSeat(1);
    return { seat, act: () => world.signIn(seat) };
  },
  /** Another browser recovers the account by the recovery key, and ends the sessions of the others. */
  async recover(cast) {
    await cast.keepRecoveryKey(1);
    const seat = await cast.newSeat(1);
    await cast.logOut(1);
    return { seat, act: (tab) => cast.recover(seat, tab) };
  },
} as const satisfies Record<OperationName, Operation>;

/**
 * Begins an operation again and again in one world, and kills the browser at its first point, its second, and so on, until it
 * comes to its end before. Each time the browser is opened again, and everything has to come to rest.
 */
export async function playCrashes({ crash, every, first: given, seed }: CrashPlan): Promise<CrashOutcome> {
  const world = await World.create(seed, people);
  const cast = new Cast(world);
  const byKind = new Map<PointKind, number>();
  let tried = 0;
  let points = 0;
  try {
    await cast.begin();
    // A run that tries some of the points tries others with another seed.
    const first = given ?? 1 + new Random(`${seed}/first`).below(every);
    for (let at = first; world.wrong.length === 0 && at < mostPoints; at += every) {
      const { act, seat } = await operations[crash](cast);
      const known = world.wrong.length;
      const counter = seat.profile.points;
      const tab = seat.profile.tabs[0] ?? world.openTab(seat);
      counter.arm(at);
      await act(tab);
      // The operation may have to be taken up by another tab of this browser, or by somebody else.
      await passUntil(() => counter.killedAt !== null, aftermath);
      const kind = counter.disarm();
      if (kind === null) points = counter.reached;
      else {
        tried += 1;
        byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
        await world.look();
      }
      await comeBack(world);
      await untilRest(world, 'after a crash');
      name(world.wrong, known, `${crash} ${at}`);
      if (kind === null) break;
    }
    if (world.wrong.length === 0) await lastWords(world);
    await world.look();
    await check(world);
    const raised = (await alarms(world)).map((alarm) => `a false alarm: ${inWords(alarm)}`);
    return { tried, points, byKind, wrong: [...world.wrong, ...raised], hash: world.trace.digest() };
  } finally {
    await world.end();
  }
}

/** Puts the operation and the point before the faults that are new. */
function name(wrong: string[], from: number, what: string): void {
  for (let at = from; at < wrong.length; at += 1) wrong[at] = `${what}: ${wrong[at]}`;
}
