import { randomUUID } from 'node:crypto';
import { type IncomingEvent, type LogEntry, type SentMessage, topics } from '../../contract/index.ts';
import { base64Url, type Person, type TestRelay } from '../helpers.ts';

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

export const send = (from: Person, to: { id: string }, body: ReturnType<typeof messageBody>) =>
  from.call<SentMessage>('POST', `/messages/user/${to.id}`, body);

export const log = async (person: Person, other: { id: string }, query = '') =>
  (await person.call<LogEntry[]>('GET', `/messages/user/${other.id}${query}`)).body;

export const seqs = (entries: readonly { seq: number }[]) => entries.map((entry) => entry.seq);

/** What these people's devices are told while `action` runs, with whom was told. */
export async function toldBy(
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
