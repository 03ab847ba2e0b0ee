import type { servedRoutes as routes } from '../../contract/served.ts';
import type { Examples } from './example.ts';
import { account, contacts } from './examples/account.ts';
import { conversations, groups } from './examples/conversations.ts';
import { devices, files, history, notifications } from './examples/devices.ts';

type Routes = typeof routes;

/** The subjects of the calls, in the order of reading. */
const sections = {
  Account: account,
  Devices: devices,
  Contacts: contacts,
  Conversations: conversations,
  Groups: groups,
  Notifications: notifications,
  History: history,
  Files: files,
} as const;
export type Section = keyof typeof sections;
export const sectionNames = Object.keys(sections) as Section[];

/** An example of every call: one without is a type error. */
export const examples: Examples = {
  ...account,
  ...devices,
  ...contacts,
  ...conversations,
  ...groups,
  ...notifications,
  ...history,
  ...files,
};

export function sectionOf(name: keyof Routes): Section {
  const found = sectionNames.find((section) => name in sections[section]);
  if (found === undefined) throw new Error(`${name} is in no section.`);
  return found;
}
