import { expect, it } from 'vitest';
import { groupKeyOf } from '../../src/store/chats.ts';
import { type Browser, type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd, groupOf, textsOf, untilMembers, untilSent, untilTogether } from './support/people.ts';
import { browsers, newBrowser, withRelay } from './support/world.ts';

const runs = Number(process.env['GROUP_INTERLEAVINGS'] ?? 2);
const firstSeed = Number(process.env['GROUP_INTERLEAVINGS_SEED'] ?? Date.now() % 1_000_000);
const steps = 40;

withRelay();

/** Mulberry32: the same story for the same seed, as far as the network lets it. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Person {
  readonly name: string;
  readonly browser: Browser;
  tab: Tab;
  isMember: boolean;
  said: number;
}

it.each(Array.from({ length: runs }, (_, run) => firstSeed + run))(
  'random comings, goings, talk, lost connections and dying tabs end in one epoch with every message (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    const tabs = await annaAnd(newBrowser, ['bert', 'carl', 'dora', 'ella'] as const);
    const names = ['anna', 'bert', 'carl', 'dora', 'ella'];
    const people: Person[] = tabs.map((tab, index) => {
      const [name, browser] = [names[index], browsers[index]];
      if (name === undefined || browser === undefined) throw new Error('five people');
      return { name, browser, tab, isMember: false, said: 0 };
    });
    const [anna, ...others] = people;
    if (anna === undefined) throw new Error('no creator');
    anna.isMember = true;
    const id = await anna.tab.actions.createGroup('Sailing club');
    const key = groupKeyOf(id);
    const members = () => people.filter(({ isMember }) => isMember);
    const said: string[] = [];

    async function add(person: Person | undefined): Promise<void> {
      if (person === undefined || person.isMember || anna === undefined) return;
      await anna.tab.actions.addGroupMembers(id, [person.tab.userId]);
      await until(() => person.tab.chat(key).state?.status, 'joined');
      await person.tab.actions.openGroup(id);
      person.isMember = true;
    }

    async function say(person: Person | undefined): Promise<void> {
      if (person === undefined) return;
      person.said += 1;
      const text = `${person.name} ${person.said}`;
      said.push(text);
      await person.tab.actions.sendMessage(key, text);
    }

    async function leave(person: Person | undefined): Promise<void> {
      if (person === undefined || members().length < 3) return;
      // Messages that a person has not sent go with them.
      await untilSent(key, person.tab);
      person.isMember = false;
      await person.tab.actions.leaveGroup(id);
    }

    async function die(person: Person | undefined): Promise<void> {
      if (person === undefined) return;
      person.tab.kill();
      person.tab = person.browser.openTab();
      await person.tab.resume();
      await person.tab.actions.openGroup(id);
    }

    for (const person of others.slice(0, 2)) await add(person);
    let coming: Promise<void> = Promise.resolve();
    for (let step = 0; step < steps; step += 1) {
      const roll = random();
      if (roll < 0.6) await say(pick(members()));
      else if (roll < 0.72) {
        await coming;
        coming = add(pick(others.filter(({ isMember }) => !isMember)));
      } else if (roll < 0.8) {
        await coming;
        await leave(pick(others.filter(({ isMember }) => isMember)));
      } else if (roll < 0.92) {
        const tab = pick(members())?.tab;
        if (random() < 0.5) tab?.cutMqtt();
        else tab?.restoreMqtt();
      } else {
        await coming;
        await die(pick(members()));
      }
    }
    await coming;
    for (const { tab } of people) tab.restoreMqtt();
    const present = members().map(({ tab }) => tab);
    await untilConnected(...present);

    await untilSent(key, ...present);
    await untilMembers(
      id,
      members().map(({ name }) => name),
      ...present,
    );
    await untilTogether(id, ...present);
    await until(() => textsOf(anna.tab, key).toSorted(), said.toSorted());
    const all = anna.tab.chat(key).messages;
    for (const tab of present) {
      // A member who came later, or came back, has everything since, and nothing from before.
      const joinedSeq = tab.chat(key).state?.joinedSeq ?? 0;
      const since = all.filter(({ seq }) => (seq ?? 0) > joinedSeq).map(({ messageId }) => messageId);
      await until(() => tab.chat(key).messages.map(({ messageId }) => messageId), since);
      expect(textsOf(tab, key)).toEqual(textsOf(anna.tab, key).slice(all.length - since.length));
      expect(groupOf(tab, id)?.mismatch).toBeNull();
    }
    for (const { isMember, tab } of people) expect(groupOf(tab, id) !== undefined).toBe(isMember);
    expect(people.flatMap(({ tab }) => tab.toastTexts)).toEqual([]);
  },
);
