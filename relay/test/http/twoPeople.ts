import { afterAll, beforeAll, beforeEach } from 'vitest';
import { directConversationId } from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { type CommitBody, commitBody, recordEvents, submitCommit } from './conversation.ts';

/** For the file that calls {@link withTwoPeople}: a relay, and for each test two contacts and a stranger, nobody known before. */
export let relay: TestRelay;
export let aino: PersonOnDevice;
export let eero: PersonOnDevice;
export let stranger: PersonOnDevice;
/** Aino's and Eero's, not started yet. */
export let conversationId: string;

export function withTwoPeople(): void {
  beforeAll(async () => {
    relay = await startTestRelay();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    [aino, eero, stranger] = await Promise.all([
      signUpOnDevice(relay),
      signUpOnDevice(relay),
      signUpOnDevice(relay),
    ]);
    await befriend(aino, eero);
    conversationId = directConversationId(aino.id, eero.id);
  });
}

export const submit = (person: Person, body: CommitBody, id = conversationId) =>
  submitCommit(person, id, body);
export const start = () =>
  submit(aino, commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]));
export const eventsFor = (people: readonly Person[], action: () => Promise<unknown>) =>
  recordEvents(relay, people, action);
