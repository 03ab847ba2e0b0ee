import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ContactRequest,
  directConversationId,
  limits,
  type Notification,
} from '../../contract/index.ts';
import {
  befriend,
  type Person,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  messageBody,
  send,
  sendToGroup,
  submitCommit,
} from './conversation.ts';

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
});

const list = async (person: Person) => (await person.call<Notification[]>('GET', '/notifications')).body;
const notFound = { status: 404, body: { code: 'not-found' } };

/** Makes the two contacts who have started to talk, and clears what came of that. */
async function startTalking(): Promise<void> {
  await befriend(aino, eero);
  await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(0));
  for (const person of [aino, eero]) {
    for (const { id } of await list(person)) await person.call('DELETE', `/notifications/${id}`);
  }
}

describe('a contact request', () => {
  it('is notified to its receiver, and its acceptance to its sender', async () => {
    await aino.call('POST', `/contacts/request/${eero.id}`);
    expect(await list(eero)).toEqual([
      {
        id: expect.any(String),
        type: 'contact_request',
        sender_id: aino.id,
        content: aino.username,
        created_at: new Date(now).toISOString(),
        read: false,
      },
    ]);
    expect(await list(aino)).toEqual([]);
    const [request] = (await eero.call<ContactRequest[]>('GET', '/contacts/requests')).body;
    await eero.call('POST', `/contacts/accept/${request?.id}`);
    expect(await list(eero)).toMatchObject([{ type: 'contact_request', read: true }]);
    expect(await list(aino)).toMatchObject([
      { type: 'contact_accepted', sender_id: eero.id, content: eero.username, read: false },
    ]);
  });

  it('that crosses one the other way is an acceptance', async () => {
    await aino.call('POST', `/contacts/request/${eero.id}`);
    await eero.call('POST', `/contacts/request/${aino.id}`);
    expect(await list(aino)).toMatchObject([{ type: 'contact_accepted', sender_id: eero.id, read: false }]);
    expect(await list(eero)).toMatchObject([{ type: 'contact_request', sender_id: aino.id, read: true }]);
  });

  it('that is declined is read, and the sender hears nothing; sent again it is unread again', async () => {
    for (const _time of [1, 2]) {
      await aino.call('POST', `/contacts/request/${eero.id}`);
      expect(await list(eero)).toMatchObject([{ type: 'contact_request', read: false }]);
      const [request] = (await eero.call<ContactRequest[]>('GET', '/contacts/requests')).body;
      await eero.call('POST', `/contacts/reject/${request?.id}`);
      expect(await list(eero)).toMatchObject([{ type: 'contact_request', read: true }]);
    }
    expect(await list(aino)).toEqual([]);
  });

  it('pushes the oldest out when there are too many', async () => {
    const { db } = relay.relay.database;
    const [first, last] = [await signUp(relay), await signUp(relay)];
    await first.call('POST', `/contacts/request/${eero.id}`);
    now += 1000;
    const others = Array.from({ length: limits.notificationsMax - 1 }, () => anybody());
    await db.insertInto('users').values(others).execute();
    await db
      .insertInto('notifications')
      .values(
        others.map(({ id }) => ({
          id: randomUUID(),
          user_id: eero.id,
          sender_id: id,
          type: 'contact_request' as const,
          created_at: now,
          read_at: null,
        })),
      )
      .execute();
    expect(await list(eero)).toHaveLength(limits.notificationsMax);
    now += 1000;
    await last.call('POST', `/contacts/request/${eero.id}`);
    const left = await list(eero);
    expect(left).toHaveLength(limits.notificationsMax);
    expect(left[0]?.sender_id).toBe(last.id);
    expect(left.some(({ sender_id: senderId }) => senderId === first.id)).toBe(false);
    const stored = await db.selectFrom('notifications').select('id').where('user_id', '=', eero.id).execute();
    expect(stored).toHaveLength(limits.notificationsMax);
  });
});

describe('a message', () => {
  it('is notified once for its sender, however many follow, and says who and nothing else', async () => {
    await startTalking();
    await send(aino, eero, messageBody(1));
    const [first] = await list(eero);
    now += 60_000;
    await send(aino, eero, messageBody(1));
    expect(await list(eero)).toEqual([
      {
        id: first?.id,
        type: 'message',
        sender_id: aino.id,
        content: aino.username,
        created_at: new Date(now).toISOString(),
        read: false,
      },
    ]);
    expect(await list(aino)).toEqual([]);
  });

  it('that is repeated, refused or a commit notifies nobody', async () => {
    await startTalking();
    const body = messageBody(1);
    await send(aino, eero, body);
    for (const { id } of await list(eero)) await eero.call('DELETE', `/notifications/${id}`);
    await send(aino, eero, body);
    await send(aino, eero, messageBody(7));
    await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(1));
    expect(await list(eero)).toEqual([]);
  });

  it('is read when the message is, unless another has come after it', async () => {
    await startTalking();
    const first = (await send(aino, eero, messageBody(1))).body;
    now += 1000;
    const second = (await send(aino, eero, messageBody(1))).body;
    await eero.call('PUT', `/messages/${first.id}/read`);
    expect(await list(eero)).toMatchObject([{ read: false }]);
    await eero.call('PUT', `/messages/${second.id}/read`);
    expect(await list(eero)).toMatchObject([{ read: true }]);
    now += 1000;
    await send(aino, eero, messageBody(1));
    expect(await list(eero)).toMatchObject([{ read: false }]);
  });

  it('to a group notifies nobody', async () => {
    await startTalking();
    const groupId = await createGroup(aino);
    await addMember(aino, groupId, eero, commitBody(0));
    expect((await sendToGroup(aino, groupId, messageBody(1))).status).toBe(201);
    expect(await list(eero)).toEqual([]);
  });
});

describe('notifications', () => {
  it('come newest first, under the name that their sender has now', async () => {
    await startTalking();
    const other = await signUp(relay);
    await other.call('POST', `/contacts/request/${eero.id}`);
    now += 1000;
    await send(aino, eero, messageBody(1));
    expect((await list(eero)).map(({ content }) => content)).toEqual([aino.username, other.username]);
  });

  it('are marked as read one by one or all at once', async () => {
    const others = [await signUp(relay), await signUp(relay), await signUp(relay)];
    for (const other of others) await other.call('POST', `/contacts/request/${eero.id}`);
    const [first] = await list(eero);
    for (const _time of [1, 2]) {
      expect((await eero.call('POST', `/notifications/read/${first?.id}`)).status).toBe(204);
    }
    const unread = (await list(eero)).filter(({ read }) => !read);
    expect(unread.map(({ id }) => id)).not.toContain(first?.id);
    expect(unread).toHaveLength(2);
    expect((await eero.call('POST', '/notifications/read-all')).status).toBe(204);
    expect((await list(eero)).every(({ read }) => read)).toBe(true);
  });

  it('are deleted one by one, and a second time not found', async () => {
    await aino.call('POST', `/contacts/request/${eero.id}`);
    const [notification] = await list(eero);
    expect((await eero.call('DELETE', `/notifications/${notification?.id}`)).status).toBe(204);
    expect(await list(eero)).toEqual([]);
    expect(await eero.call('DELETE', `/notifications/${notification?.id}`)).toMatchObject(notFound);
  });

  it("are their person's alone", async () => {
    await aino.call('POST', `/contacts/request/${eero.id}`);
    const [notification] = await list(eero);
    for (const id of [notification?.id, randomUUID()]) {
      expect(await aino.call('POST', `/notifications/read/${id}`)).toMatchObject(notFound);
      expect(await aino.call('DELETE', `/notifications/${id}`)).toMatchObject(notFound);
    }
    await aino.call('POST', '/notifications/read-all');
    expect(await list(eero)).toMatchObject([{ id: notification?.id, read: false }]);
  });
});

/** Somebody who can't log in, for where only the number of people counts. */
function anybody() {
  const id = randomUUID();
  return {
    id,
    username: id,
    username_key: id,
    email: id,
    email_key: id,
    full_name: 'Anybody',
    password_hash: '',
    password_salt: new Uint8Array(16),
    password_ops_limit: 3,
    password_mem_limit: 8192,
    consented_at: now,
    created_at: now,
  };
}
