import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type {
  Block,
  Contact,
  ContactRequest,
  ConversationSummary,
  GroupSummary,
  LogEntry,
  Notification,
  SentRequest,
} from '../../contract/index.ts';
import { limits } from '../../contract/index.ts';
import { countRequests, groupCounts } from '../../src/repositories/quotas.ts';
import { revocationOf, signedName } from '../devices.ts';
import { base64Url, befriend, onAnotherDevice, type PersonOnDevice } from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  groupLog,
  log,
  messageBody,
  putReceipt,
  receiptBody,
  receiptsOf,
  send,
  sendToGroup,
  seqs,
} from './conversation.ts';
import {
  aino,
  conversationId,
  eero,
  eventsFor,
  relay,
  start,
  stranger,
  submit,
  withTwoPeople,
} from './twoPeople.ts';

withTwoPeople();

const block = (person: PersonOnDevice, other: PersonOnDevice) => person.call('PUT', `/blocks/${other.id}`);
const unblock = (person: PersonOnDevice, other: PersonOnDevice) =>
  person.call('DELETE', `/blocks/${other.id}`);
const blocksOf = async (person: PersonOnDevice) => (await person.call<Block[]>('GET', '/blocks')).body;
const notificationsOf = async (person: PersonOnDevice) =>
  (await person.call<Notification[]>('GET', '/notifications')).body;
const conversationsOf = async (person: PersonOnDevice) =>
  (await person.call<ConversationSummary[]>('GET', '/conversations')).body;
const groupsOf = async (person: PersonOnDevice) => (await person.call<GroupSummary[]>('GET', '/groups')).body;
const welcomesOf = async (person: PersonOnDevice) =>
  (await person.call<{ conversationId: string }[]>('GET', '/welcomes')).body;
const requestsOf = async (person: PersonOnDevice) =>
  (await person.call<ContactRequest[]>('GET', '/contacts/requests')).body;

describe('the list of blocked people', () => {
  it('has whoever was blocked, once, until they are unblocked', async () => {
    const { id, username } = eero;
    for (const _time of [1, 2]) expect((await block(aino, eero)).status).toBe(204);
    expect(await blocksOf(aino)).toEqual([{ id, username, created_at: expect.any(String) }]);
    expect(await blocksOf(eero)).toEqual([]);
    expect((await unblock(aino, eero)).status).toBe(204);
    expect(await blocksOf(aino)).toEqual([]);
    expect(await unblock(aino, eero)).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });

  it('takes neither oneself nor nobody', async () => {
    expect(await block(aino, aino)).toMatchObject({ status: 422 });
    const nobody = { ...eero, id: '00000000-0000-4000-8000-000000000000' };
    expect(await block(aino, nobody)).toMatchObject({ status: 404 });
  });

  it('tells the own devices alone that it has changed', async () => {
    for (const action of [block, unblock]) {
      const events = await eventsFor([aino, eero], () => action(aino, eero));
      expect(events.map(([, { type }]) => type)).toEqual(['contacts', 'blocks', 'group-invitations']);
      expect(new Set(events.map(([id]) => id))).toEqual(new Set([aino.id]));
    }
  });
});

it('a person can block a thousand others, and no more', async () => {
  const { db } = relay.relay.database;
  const { password_hash, password_salt } = await db
    .selectFrom('users')
    .select(['password_hash', 'password_salt'])
    .where('id', '=', eero.id)
    .executeTakeFirstOrThrow();
  const others = Array.from({ length: limits.blocksPerUser - 1 }, () => randomUUID());
  const names = (id: string) => ({ username: id, username_key: id, email: id, email_key: id, full_name: '' });
  const credentials = {
    password_hash,
    password_salt,
    password_ops_limit: 3,
    password_mem_limit: 134_217_728,
  };
  for (const id of others) {
    const person = { id, ...names(id), ...credentials, consented_at: 0, created_at: 0 };
    await db.insertInto('users').values(person).execute();
  }
  const rows = others.map((blocked_id) => ({
    user_id: aino.id,
    blocked_id,
    seen_seq: 0,
    seen_epoch: 0,
    created_at: 0,
  }));
  await db.insertInto('blocks').values(rows).execute();
  expect((await block(aino, eero)).status).toBe(204);
  expect(await block(aino, stranger)).toMatchObject({ status: 409, body: { code: 'limit-reached' } });
  expect(await blocksOf(aino)).toHaveLength(limits.blocksPerUser);
});

describe('a message of somebody who is blocked', () => {
  it('is answered as any other, told to the sender alone, and makes no notification', async () => {
    await start();
    const before = (await send(eero, aino, messageBody(1))).body;
    const known = (await notificationsOf(aino)).length;
    await block(aino, eero);
    let answer: Awaited<ReturnType<typeof send>> | null = null;
    const events = await eventsFor([aino, eero], async () => {
      answer = await send(eero, aino, messageBody(1));
    });
    expect(answer).toMatchObject({ status: 201, body: { seq: before.seq + 1, epoch: 1 } });
    expect(Object.keys((answer as unknown as { body: object }).body)).toEqual(Object.keys(before));
    expect(events).toMatchObject([[eero.id, { type: 'message', seq: before.seq + 1 }]]);
    expect(await notificationsOf(aino)).toHaveLength(known);
    expect(seqs(await log(eero, aino))).toEqual([1, 2, 3]);
  });

  it('is in no list, page or digest of the person who blocked them, nor are commits', async () => {
    await start();
    await block(aino, eero);
    await send(eero, aino, messageBody(1));
    await submit(eero, commitBody(1));
    expect(await conversationsOf(aino)).toMatchObject([{ conversationId, lastSeq: 1, epoch: 1 }]);
    expect(await conversationsOf(eero)).toMatchObject([{ conversationId, lastSeq: 3, epoch: 2 }]);
    for (const query of ['', '?after=0', '?before=4', '?after=1'])
      expect(seqs(await log(aino, eero, query))).toEqual(query === '?after=1' ? [] : [1]);
    const digests = await aino.call<{ seq: number }[]>(
      'GET',
      `/conversations/${conversationId}/digests?after=0&before=9`,
    );
    expect(seqs(digests.body)).toEqual([1]);
    expect(await aino.call('GET', `/conversations/${conversationId}/group-info`)).toMatchObject({
      status: 404,
    });
  });

  it('comes once they are unblocked, whole and in its place, and the devices are told of it', async () => {
    await start();
    await block(aino, eero);
    const body = messageBody(1);
    await send(eero, aino, body);
    await submit(eero, commitBody(1));
    const events = await eventsFor([aino, eero], () => unblock(aino, eero));
    expect(events).toContainEqual([aino.id, { type: 'available', conversationId, seq: 3 }]);
    expect(await log(aino, eero)).toMatchObject([
      { seq: 1, kind: 'commit' },
      { seq: 2, content: body.content },
      { seq: 3, kind: 'commit' },
    ] satisfies Partial<LogEntry>[]);
    expect(await log(aino, eero)).toEqual(
      (await log(eero, aino)).map((entry) => ({ ...entry, receiver_id: expect.any(String) })),
    );
    expect((await send(aino, eero, messageBody(2))).status).toBe(201);
  });

  it('has no answer meanwhile: whoever has blocked somebody writes them nothing', async () => {
    await start();
    await block(aino, eero);
    expect(await send(aino, eero, messageBody(1))).toMatchObject({
      status: 403,
      body: { code: 'not-a-contact' },
    });
    expect(await submit(aino, commitBody(1))).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
  });
});

describe('a conversation that somebody who is blocked starts', () => {
  it('is not there for the person who blocked them, nor is its Welcome', async () => {
    await block(aino, eero);
    const welcome = { deviceIds: [aino.deviceId], welcome: base64Url(900) };
    expect((await submit(eero, commitBody(0, [welcome]))).status).toBe(201);
    expect(await conversationsOf(aino)).toEqual([]);
    expect(await welcomesOf(aino)).toEqual([]);
    await unblock(aino, eero);
    expect(await conversationsOf(aino)).toMatchObject([{ conversationId, lastSeq: 1 }]);
    expect(await welcomesOf(aino)).toMatchObject([{ conversationId }]);
  });
});

it('receipts go neither way while somebody is blocked', async () => {
  await start();
  await send(eero, aino, messageBody(1));
  await block(aino, eero);
  const events = await eventsFor([aino, eero], async () => {
    expect((await putReceipt(aino, conversationId, receiptBody(aino, conversationId, 2))).status).toBe(204);
    expect((await putReceipt(eero, conversationId, receiptBody(eero, conversationId, 1))).status).toBe(204);
  });
  expect(events.map(([id]) => id)).toEqual([eero.id]);
  expect(await receiptsOf(eero, conversationId)).toMatchObject([{ userId: eero.id }]);
});

describe('a contact request of somebody who is blocked', () => {
  it('is pending for them, and neither listed nor notified nor answered until they are unblocked', async () => {
    await block(aino, stranger);
    const known = (await notificationsOf(aino)).length;
    const asked = await stranger.call<{ id: string }>('POST', `/contacts/request/${aino.id}`);
    expect(asked).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect((await stranger.call<SentRequest[]>('GET', '/contacts/sent-requests')).body).toHaveLength(1);
    expect(await requestsOf(aino)).toEqual([]);
    expect(await notificationsOf(aino)).toHaveLength(known);
    for (const answer of ['accept', 'reject'])
      expect((await aino.call('POST', `/contacts/${answer}/${asked.body.id}`)).status).toBe(404);
    await unblock(aino, stranger);
    expect(await requestsOf(aino)).toMatchObject([{ id: asked.body.id }]);
  });

  it('leaves the list when its sender is blocked, who is not told', async () => {
    await stranger.call('POST', `/contacts/request/${aino.id}`);
    const events = await eventsFor([stranger], () => block(aino, stranger));
    expect(events).toEqual([]);
    expect(await requestsOf(aino)).toEqual([]);
    expect((await stranger.call<SentRequest[]>('GET', '/contacts/sent-requests')).body).toHaveLength(1);
  });

  it('takes no place of those that others can send', async () => {
    await stranger.call('POST', `/contacts/request/${aino.id}`);
    const { db } = relay.relay.database;
    expect(await countRequests(db, 'to_user_id', aino.id)).toBe(1);
    await block(aino, stranger);
    expect(await countRequests(db, 'to_user_id', aino.id)).toBe(0);
    expect(await countRequests(db, 'from_user_id', stranger.id)).toBe(1);
  });

  it('is not crossed by one of the person who blocked them', async () => {
    await stranger.call('POST', `/contacts/request/${aino.id}`);
    await block(aino, stranger);
    expect(await aino.call('POST', `/contacts/request/${stranger.id}`)).toMatchObject({ status: 422 });
  });

  it('may be the acceptance of an earlier one, which notifies nobody', async () => {
    const asked = await aino.call<{ id: string }>('POST', `/contacts/request/${stranger.id}`);
    await block(aino, stranger);
    const known = (await notificationsOf(aino)).length;
    expect((await stranger.call('POST', `/contacts/accept/${asked.body.id}`)).status).toBe(200);
    expect(await notificationsOf(aino)).toHaveLength(known);
  });
});

describe('a group that somebody who is blocked adds one to', () => {
  const welcomed = (to: PersonOnDevice) => ({ deviceIds: [to.deviceId], welcome: base64Url(900) });

  it('is out of sight until they are unblocked, and its other members see no difference', async () => {
    await block(aino, eero);
    const third = stranger;
    await befriend(eero, third);
    const groupId = await createGroup(eero);
    const events = await eventsFor([aino], async () => {
      const added = await addMember(eero, groupId, aino, commitBody(0, [welcomed(aino)]));
      expect(added).toMatchObject({ status: 201 });
      const seen = (await eero.call<{ id: string }[]>('GET', `/group/${groupId}/members`)).body;
      expect(seen.map(({ id }) => id)).toContain(aino.id);
      await addMember(eero, groupId, third, commitBody(1, [welcomed(third)]));
      await sendToGroup(third, groupId, messageBody(2));
    });
    expect(events).toEqual([]);
    const members = (await third.call<{ id: string }[]>('GET', `/group/${groupId}/members`)).body;
    expect(members.map(({ id }) => id)).toContain(aino.id);
    expect(await addMember(eero, groupId, aino, commitBody(2))).toMatchObject({
      body: { code: 'already-member' },
    });
    expect(await groupsOf(aino)).toEqual([]);
    expect(await conversationsOf(aino)).toEqual([]);
    expect(await welcomesOf(aino)).toEqual([]);
    for (const path of [`/group/${groupId}`, `/messages/group/${groupId}`])
      expect((await aino.call('GET', path)).status).toBe(404);
    expect(await sendToGroup(aino, groupId, messageBody(2))).toMatchObject({ status: 404 });

    await unblock(aino, eero);
    expect(await groupsOf(aino)).toMatchObject([{ id: groupId }]);
    expect(await welcomesOf(aino)).toMatchObject([{ conversationId: `group:${groupId}` }]);
    expect(seqs(await groupLog(aino, groupId))).toEqual([1, 2, 3]);
  });

  it('stays in sight if one was in it before, with the messages of everybody', async () => {
    const groupId = await createGroup(eero);
    await addMember(eero, groupId, aino, commitBody(0, [welcomed(aino)]));
    await block(aino, eero);
    const events = await eventsFor([aino], () => sendToGroup(eero, groupId, messageBody(1)));
    expect(events).toMatchObject([[aino.id, { type: 'available' }]]);
    expect(seqs(await groupLog(aino, groupId))).toEqual([1, 2]);
  });

  it('is as full of people and devices for its other members as any: names, and revoked devices', async () => {
    const tablet = await onAnotherDevice(relay, aino);
    await block(aino, eero);
    const third = stranger;
    await befriend(eero, third);
    const groupId = await createGroup(eero);
    await addMember(eero, groupId, aino, commitBody(0));
    await addMember(eero, groupId, third, commitBody(1));
    await aino.call('PUT', '/users/me/name', { signed_name: signedName(aino, aino.username) });
    const statement = revocationOf(aino, tablet.deviceId);
    await aino.call('DELETE', `/devices/${tablet.deviceId}`, { statement });
    expect((await third.call('GET', '/revoked-devices')).body).toMatchObject([{ id: tablet.deviceId }]);
    expect((await third.call('POST', '/users/names', { user_ids: [aino.id] })).body).toMatchObject([
      { user_id: aino.id },
    ]);
    // Nor does who has it held back see anybody by it.
    expect((await aino.call('POST', '/users/names', { user_ids: [third.id] })).body).toEqual([]);
  });

  it('comes once its creator is gone, whom nobody can unblock', async () => {
    await block(aino, eero);
    const third = stranger;
    await befriend(eero, third);
    const [shared, empty] = [await createGroup(eero), await createGroup(eero)];
    for (const groupId of [shared, empty]) await addMember(eero, groupId, aino, commitBody(0));
    await addMember(eero, shared, third, commitBody(1));
    const events = await eventsFor([aino], () => eero.call('DELETE', '/user'));
    expect(events).toContainEqual([aino.id, { type: 'welcome', conversationId: `group:${shared}` }]);
    expect(await groupsOf(aino)).toMatchObject([{ id: shared }]);
  });

  it('takes no place of those that others can add one to, as it can not be left', async () => {
    await block(aino, eero);
    await addMember(eero, await createGroup(eero), aino, commitBody(0));
    const { db } = relay.relay.database;
    const counted = async (creator: PersonOnDevice) =>
      (await groupCounts(db, [aino.id], creator.id)).get(aino.id) ?? 0;
    expect(await counted(stranger)).toBe(0);
    // For whoever is blocked it counts as ever.
    expect(await counted(eero)).toBe(1);
    await unblock(aino, eero);
    expect(await counted(stranger)).toBe(1);
  });

  it('is not one that the person who blocked them adds them to', async () => {
    await block(aino, eero);
    const groupId = await createGroup(aino);
    expect(await addMember(aino, groupId, eero, commitBody(0))).toMatchObject({
      status: 403,
      body: { code: 'not-a-contact' },
    });
  });
});

it('a contact stays one, in both lists, while blocked', async () => {
  await block(aino, eero);
  for (const person of [aino, eero])
    expect((await person.call<Contact[]>('GET', '/contacts')).body).toHaveLength(1);
});

it('neither of two people sees the status of the other while one is blocked', async () => {
  const { contacts } = (await import('./twoPeople.ts')).relay.relay.services;
  await block(aino, eero);
  for (const person of [aino, eero]) expect(await contacts.visibleIdsOf(person.id)).toEqual([]);
  await unblock(aino, eero);
  expect(await contacts.visibleIdsOf(aino.id)).toEqual([eero.id]);
  expect(await contacts.visibleIdsOf(eero.id)).toEqual([aino.id]);
});
