import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Contact, type ContactRequest, type SentRequest } from '../../contract/index.ts';
import { declinesTaken } from '../../src/contacts/contacts.ts';
import { befriend, type Person, signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { recordEvents, recordSignals } from './conversation.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());

type Requested = { id: string; status: string; message: string };
const ask = (from: Person, to: { id: string }, path = '/contacts/request') =>
  from.call<Requested>('POST', `${path}/${to.id}`);
const contactsOf = async (person: Person) =>
  (await person.call<Contact[]>('GET', '/contacts')).body.map((contact) => contact.id);
const receivedBy = async (person: Person, path = '/contacts/requests') =>
  (await person.call<ContactRequest[]>('GET', path)).body;
const sentBy = async (person: Person) =>
  (await person.call<SentRequest[]>('GET', '/contacts/sent-requests')).body;

/** Records the events of these people's devices, and the hub's signals, while `action` runs. */
async function eventsFor(people: readonly Person[], action: () => Promise<unknown>) {
  let events: Awaited<ReturnType<typeof recordEvents>> = [];
  const signals = await recordSignals(relay, async () => {
    events = await recordEvents(relay, people, action);
  });
  return { events, signals };
}

it('a contact has an id and a username, and a search result the email as well, masked for who has not typed it', async () => {
  const [one, other] = [await signUp(relay), await signUp(relay)];
  const { id, username, email } = other;
  const found = async (q: string) => (await one.call('GET', `/users/search?q=${encodeURIComponent(q)}`)).body;
  expect(await found(email)).toEqual([{ id, username, email }]);
  expect(await found(username)).toEqual([{ id, username, email: 'u•••@•••.org' }]);
  await befriend(one, other);
  expect((await one.call<Contact[]>('GET', '/contacts')).body).toMatchObject([{ id, username }]);
});

describe('a contact request', () => {
  it.each([
    ['/contacts/request', '/contacts/requests', '/contacts/accept'],
    ['/contact/request', '/contact/requests', '/contact/accept'],
  ])('is sent at %s, listed at %s and accepted at %s', async (askPath, listPath, acceptPath) => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    const sent = await eventsFor([one, other], async () => {
      expect(await ask(one, other, askPath)).toMatchObject({
        status: 201,
        body: { status: 'pending', message: 'Contact request sent successfully' },
      });
    });
    expect(sent.signals).toEqual([]);
    expect(sent.events).toEqual([
      [one.id, { type: 'contacts', lists: ['sent-requests'] }],
      [other.id, { type: 'contacts', lists: ['requests'] }],
    ]);

    const [request] = await receivedBy(other, listPath);
    expect(request).toMatchObject({ from_user: { id: one.id, username: one.username, email: one.email } });
    expect(await sentBy(one)).toMatchObject([
      { id: request?.id, to_user: { id: other.id, username: other.username } },
    ]);
    expect(await receivedBy(one, listPath)).toEqual([]);
    expect(await sentBy(other)).toEqual([]);
    expect(await contactsOf(one)).toEqual([]);

    const accepted = await eventsFor([one, other], async () => {
      expect(await other.call('POST', `${acceptPath}/${request?.id}`)).toMatchObject({
        status: 200,
        body: { contact: { id: one.id, username: one.username, email: one.email } },
      });
    });
    expect(accepted.signals).toEqual([{ type: 'contacts-changed', userIds: [other.id, one.id] }]);
    expect(accepted.events).toEqual([
      [other.id, { type: 'contacts', lists: ['contacts', 'requests'] }],
      [one.id, { type: 'contacts', lists: ['contacts', 'sent-requests'] }],
    ]);
    expect(await contactsOf(one)).toEqual([other.id]);
    expect(await contactsOf(other)).toEqual([one.id]);
    expect(await receivedBy(other, listPath)).toEqual([]);
    expect(await sentBy(one)).toEqual([]);
  });

  it('is withdrawn by its sender alone, who so can ask no more often than one who is declined', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    const withdraw = (person: Person, to: Person) => person.call('DELETE', `/contacts/request/${to.id}`);
    const unread = async () =>
      (await other.call<{ read: boolean }[]>('GET', '/notifications')).body.map(({ read }) => !read);
    expect(await withdraw(one, other)).toMatchObject({ status: 404, body: { code: 'not-found' } });
    for (let time = 0; time < declinesTaken; time += 1) {
      expect((await ask(one, other)).status).toBe(201);
      expect(await withdraw(other, one)).toMatchObject({ status: 404 });
      const { events } = await eventsFor([one, other], async () => {
        expect((await withdraw(one, other)).status).toBe(204);
      });
      expect(events).toEqual([
        [one.id, { type: 'contacts', lists: ['sent-requests'] }],
        [other.id, { type: 'contacts', lists: ['requests'] }],
      ]);
      expect([await receivedBy(other), await sentBy(one), await unread()]).toEqual([[], [], [false]]);
    }
    expect(await ask(one, other)).toMatchObject({ status: 413, body: { code: 'quota', quota: 'requests' } });
    expect((await ask(other, one)).status).toBe(201);
  });

  it.each(['/contacts/reject', '/contact/deny'])('is declined at %s, and may be sent again', async (path) => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    const { id } = (await ask(one, other)).body;
    const declined = await eventsFor([one, other], async () => {
      expect((await other.call('POST', `${path}/${id}`)).status).toBe(204);
    });
    expect(declined.signals).toEqual([]);
    expect(declined.events).toEqual([
      [other.id, { type: 'contacts', lists: ['requests'] }],
      [one.id, { type: 'contacts', lists: ['sent-requests'] }],
    ]);
    expect(await sentBy(one)).toEqual([]);
    expect(await contactsOf(one)).toEqual([]);
    expect((await ask(one, other)).status).toBe(201);
  });

  it('that crosses one the other way accepts it', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    const { id } = (await ask(one, other)).body;
    expect(await ask(other, one)).toMatchObject({
      status: 201,
      body: { id, status: 'accepted', message: 'Contact request accepted successfully!' },
    });
    expect(await contactsOf(one)).toEqual([other.id]);
    expect(await receivedBy(other)).toEqual([]);
  });

  it('sent by both at once makes them contacts', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    const answers = await Promise.all([ask(one, other), ask(other, one)]);
    expect(answers.map((answer) => answer.body.status).sort()).toEqual(['accepted', 'pending']);
    expect(await contactsOf(one)).toEqual([other.id]);
  });

  it('is refused when repeated, to a contact, to oneself and to nobody', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    await ask(one, other);
    expect(await ask(one, other)).toMatchObject({ status: 409, body: { code: 'request-exists' } });
    await ask(other, one);
    expect(await ask(one, other)).toMatchObject({ status: 409, body: { code: 'already-contacts' } });
    expect(await ask(one, one)).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(await ask(one, { id: randomUUID() })).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(await ask(one, { id: 'nobody' })).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });

  it('is answered by its receiver alone', async () => {
    const [one, other, stranger] = [await signUp(relay), await signUp(relay), await signUp(relay)];
    const { id } = (await ask(one, other)).body;
    for (const person of [one, stranger]) {
      for (const action of ['accept', 'reject']) {
        expect(await person.call('POST', `/contacts/${action}/${id}`)).toMatchObject({
          status: 404,
          body: { code: 'not-found' },
        });
      }
    }
    expect(await receivedBy(other)).toHaveLength(1);
  });
});

describe('a contact', () => {
  it('is removed for both, and may be asked again', async () => {
    const [one, other] = [await signUp(relay), await signUp(relay)];
    await befriend(one, other);
    const removed = await eventsFor([one, other], async () => {
      expect((await one.call('DELETE', `/contacts/${other.id}`)).status).toBe(204);
    });
    expect(removed.signals).toEqual([{ type: 'contacts-changed', userIds: [one.id, other.id] }]);
    expect(removed.events).toHaveLength(2);
    expect(await contactsOf(one)).toEqual([]);
    expect(await contactsOf(other)).toEqual([]);
    expect(await one.call('DELETE', `/contacts/${other.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    expect((await ask(one, other)).status).toBe(201);
  });

  it('is removed without touching the other contacts of the two', async () => {
    const [one, two, three] = [await signUp(relay), await signUp(relay), await signUp(relay)];
    await befriend(one, two);
    await befriend(two, three);
    await two.call('DELETE', `/contacts/${three.id}`);
    expect(await contactsOf(two)).toEqual([one.id]);
    expect(await contactsOf(three)).toEqual([]);
  });
});
