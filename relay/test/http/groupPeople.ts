import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { GroupDetails, GroupSummary } from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup, recordEvents } from './conversation.ts';

/** For the file that calls {@link withGroupPeople}: a relay, and for each test a group whose creator has two contacts, and a stranger. */
export let relay: TestRelay;
export let creator: PersonOnDevice;
export let member: PersonOnDevice;
export let contact: PersonOnDevice;
export let stranger: PersonOnDevice;
export let groupId: string;

export function withGroupPeople(): void {
  beforeAll(async () => {
    relay = await startTestRelay();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    [creator, member, contact, stranger] = await Promise.all([
      signUpOnDevice(relay),
      signUpOnDevice(relay),
      signUpOnDevice(relay),
      signUpOnDevice(relay),
    ]);
    await befriend(creator, member);
    await befriend(creator, contact);
    groupId = await createGroup(creator);
  });
}

export const welcomeFor = (...people: PersonOnDevice[]) => [
  { deviceIds: people.map((person) => person.deviceId), welcome: base64Url(900) },
];
/** Adds `member` by the group's first commit, so that its epoch is 1 afterwards. */
export const addFirst = () => addMember(creator, groupId, member, commitBody(0, welcomeFor(member)));
export const details = (person: Person, id = groupId) => person.call<GroupDetails>('GET', `/group/${id}`);
export const groupsOf = async (person: Person) =>
  (await person.call<GroupSummary[]>('GET', '/groups')).body.map(({ id }) => id);
export const eventsFor = (people: readonly Person[], action: () => Promise<unknown>) =>
  recordEvents(relay, people, action);
export const notFound = { status: 404, body: { code: 'not-found' } };
export const forbidden = { status: 403, body: { code: 'forbidden' } };

/** Records the events on the group's topic while `action` runs. */
export async function saidIn(id: string, action: () => Promise<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  const stop = relay.relay.services.hub.subscribe(`group/${id}/messages`, (payload) =>
    events.push(JSON.parse(payload)),
  );
  await action();
  stop();
  return events;
}
