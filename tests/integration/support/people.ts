import { type ConversationKey, groupKeyOf } from '#src/store/chats.ts';
import { type Group, groupsAtom } from '#src/store/groups.ts';
import { type Browser, befriend, type Tab, until, untilConnected } from './browser.ts';

/** Anna, and one tab for each name. */
export type People<Names extends readonly string[]> = [Tab, ...{ [Index in keyof Names]: Tab }];

/** Anna and her contacts, signed in and connected, each in a browser of their own. */
export async function annaAnd<Names extends readonly string[]>(
  newBrowser: () => Browser,
  names: Names,
  { withoutMqtt = false } = {},
): Promise<People<Names>> {
  const anna = await newBrowser().openTab().signUp('anna');
  const others: Tab[] = [];
  for (const name of names) {
    const tab = await newBrowser().openTab().signUp(name);
    if (!withoutMqtt) await untilConnected(anna, tab);
    await befriend(anna, tab);
    others.push(tab);
  }
  // One tab for each name, in their order.
  return [anna, ...(others as { [Index in keyof Names]: Tab })];
}

export function groupOf(tab: Tab, groupId: string): Group | undefined {
  return tab.store.get(groupsAtom).items.find(({ id }) => id === groupId);
}

/** Waits until the members of a group are these, by the keys, with their names from the relay. */
export async function untilMembers(
  groupId: string,
  expected: readonly string[],
  ...tabs: Tab[]
): Promise<void> {
  const names = (tab: Tab) => groupOf(tab, groupId)?.members.map(({ username }) => username ?? '?');
  for (const tab of tabs) await until(() => names(tab), [...expected]);
}

export async function untilLines(tab: Tab, groupId: string, expected: readonly string[]): Promise<void> {
  await until(() => tab.lines(groupKeyOf(groupId)), [...expected]);
}

/** Returns what a chat says, in its order, whatever became of each message. */
export function textsOf(tab: Tab, key: ConversationKey): string[] {
  return tab.lines(key).map((line) => line.replace(/^\w+: /, ''));
}

/** Waits until nothing waits to be sent. What does stands where it was written, and moves once the relay numbers it. */
export async function untilSent(key: ConversationKey, ...tabs: Tab[]): Promise<void> {
  const unsent = (tab: Tab) => tab.lines(key).filter((line) => /^(sending|failed)/.test(line));
  for (const tab of tabs) await until(() => unsent(tab), []);
}

/** The epoch that each is in, and where in the log. */
export function positions(groupId: string, ...tabs: Tab[]): string[] {
  return tabs.map((tab) => {
    const state = tab.chat(groupKeyOf(groupId)).state;
    return `${state?.status} ${state?.epoch} ${state?.lastSeq}`;
  });
}

export async function untilTogether(groupId: string, ...tabs: Tab[]): Promise<void> {
  await until(() => new Set(positions(groupId, ...tabs)).size, 1);
}
