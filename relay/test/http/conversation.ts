import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import {
  type IncomingEvent,
  type LogEntry,
  type Receipt,
  type SentMessage,
  topics,
} from '../../contract/index.ts';
import type { Signal } from '../../src/realtime/hub.ts';
import { signedReceipt } from '../devices.ts';
import { base64Url, type Person, type PersonOnDevice, type TestRelay } from '../helpers.ts';

/** A commit whose contents are as opaque as they are to the relay. */
export const commitBody = (epoch: number, welcomes: { deviceIds: string[]; welcome: string }[] = []) => ({
  epoch,
  commit: base64Url(500),
  welcomes,
  groupInfo: base64Url(800),
});
export type CommitBody = ReturnType<typeof commitBody>;

export const submitCommit = (person: Person, conversationId: string, body: CommitBody) =>
  person.call<SentMessage>('POST', `/conversations/${conversationId}/commits`, body);

export const messageBody = (epoch: number, messageId: string = randomUUID()) => ({
  messageId,
  epoch,
  content: base64Url(300),
});

/** A receipt of the first epoch, or of another. */
export const receiptBody = (device: PersonOnDevice, conversationId: string, position: number, epoch = 1) =>
  signedReceipt(device, conversationId, { epoch, position, sealed: base64Url(93) });

export const putReceipt = (person: Person, conversationId: string, body: ReturnType<typeof receiptBody>) =>
  person.call('PUT', `/conversations/${conversationId}/receipt`, body);

export const receiptsOf = async (person: Person, conversationId: string) =>
  (await person.call<Receipt[]>('GET', `/conversations/${conversationId}/receipts`)).body;

export const send = (from: Person, to: { id: string }, body: ReturnType<typeof messageBody>) =>
  from.call<SentMessage>('POST', `/messages/user/${to.id}`, body);

export const log = async (person: Person, other: { id: string }, query = '') =>
  (await person.call<LogEntry[]>('GET', `/messages/user/${other.id}${query}`)).body;

/** A group that nobody has been added to yet, and whose conversation has not been started. */
export async function createGroup(creator: Person): Promise<string> {
  const groupId = randomUUID();
  const answer = await creator.call('POST', '/group', { groupId, sealedName: base64Url(60) });
  if (answer.status !== 201) throw new Error(`creating the group answered ${answer.status}`);
  return groupId;
}

/** The creator adds a contact, in the epoch given. */
export const addMember = (
  creator: Person,
  groupId: string,
  person: { id: string },
  body: CommitBody & { sealedName?: string; treeHash?: string },
) =>
  creator.call<SentMessage>('POST', `/group/${groupId}/add`, {
    user_id: person.id,
    ...body,
  });

export const sendToGroup = (from: Person, groupId: string, body: ReturnType<typeof messageBody>) =>
  from.call<SentMessage>('POST', `/messages/group/${groupId}`, body);

export const groupLog = async (person: Person, groupId: string, query = '') =>
  (await person.call<LogEntry[]>('GET', `/messages/group/${groupId}${query}`)).body;

export const seqs = (entries: readonly { seq: number }[]) => entries.map((entry) => entry.seq);

/** Records the events of these people's devices while `action` runs, each with its recipient's id. */
export async function recordEvents(
  { relay }: Pick<TestRelay, 'relay'>,
  people: readonly Person[],
  action: () => Promise<unknown>,
): Promise<[string, IncomingEvent][]> {
  const events: [string, IncomingEvent][] = [];
  const stops = people.map(({ id }) =>
    relay.services.hub.subscribe(topics.userMessages(id), (payload) =>
      events.push([id, JSON.parse(payload) as IncomingEvent]),
    ),
  );
  await action();
  for (const stop of stops) stop();
  return events;
}

/** Records the signals of a relay, about whomever they are, while `action` runs. */
export async function recordSignals(
  { relay }: Pick<TestRelay, 'relay'>,
  action: () => Promise<unknown>,
): Promise<readonly Signal[]> {
  const signal = vi.spyOn(relay.services.hub, 'signal');
  await action();
  const signals = signal.mock.calls.map(([each]) => each);
  signal.mockRestore();
  return signals;
}
