import { describe, expect, it } from 'vitest';
import { base64Url, type Person, signUp } from '../helpers.ts';
import {
  addMember,
  commitBody,
  groupLog,
  messageBody,
  putReceipt,
  receiptBody,
  receiptsOf,
  sendToGroup,
  seqs,
  submitCommit,
} from './conversation.ts';
import {
  addFirst,
  contact,
  creator,
  details,
  eventsFor,
  groupId,
  member,
  relay,
  saidIn,
  welcomeFor,
  withGroupPeople,
} from './groupPeople.ts';

withGroupPeople();

describe('the log of a group', () => {
  it('takes messages of every member, once each, in the current epoch', async () => {
    await addFirst();
    const body = messageBody(1);
    const first = await sendToGroup(member, groupId, body);
    expect(first).toMatchObject({ status: 201, body: { id: body.messageId, seq: 2, epoch: 1 } });
    expect((await sendToGroup(member, groupId, body)).body).toEqual(first.body);
    expect(await sendToGroup(creator, groupId, body)).toMatchObject({
      status: 409,
      body: { code: 'message-id-taken' },
    });
    expect(await sendToGroup(creator, groupId, messageBody(2))).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 1 },
    });
    expect(await groupLog(creator, groupId)).toMatchObject([
      { seq: 1, kind: 'commit', group_id: groupId, receiver_id: null },
      {
        seq: 2,
        kind: 'application',
        sender_id: member.id,
        group_id: groupId,
        receiver_id: null,
        content: body.content,
      },
    ]);
  });

  it('is delivered on the topic of the group, and announced on the topic of every member', async () => {
    await addFirst();
    const body = messageBody(1);
    let events: unknown[] = [];
    const said = await saidIn(groupId, async () => {
      events = await eventsFor([creator, member, contact], () => sendToGroup(member, groupId, body));
    });
    const conversationId = `group:${groupId}`;
    expect(said).toMatchObject([
      { type: 'message', conversationId, groupId, messageId: body.messageId, content: body.content },
    ]);
    expect(new Map(events as [string, unknown][])).toEqual(
      new Map([
        [creator.id, { type: 'available', conversationId, seq: 2 }],
        [member.id, { type: 'available', conversationId, seq: 2 }],
      ]),
    );
  });

  it('begins for a member with the commit that added them', async () => {
    await addFirst();
    for (let count = 0; count < 3; count++) await sendToGroup(creator, groupId, messageBody(1));
    await addMember(creator, groupId, contact, commitBody(1, welcomeFor(contact)));
    await sendToGroup(creator, groupId, messageBody(2));
    expect(seqs(await groupLog(contact, groupId))).toEqual([5, 6]);
    expect(seqs(await groupLog(contact, groupId, '?after=0'))).toEqual([5, 6]);
    expect(seqs(await groupLog(contact, groupId, '?before=5'))).toEqual([]);
    expect(seqs(await groupLog(member, groupId))).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await contact.call('GET', '/conversations')).body).toMatchObject([
      { conversationId: `group:${groupId}`, lastSeq: 6, readSeq: 5 },
    ]);
  });

  it('shows what oneself has read, and says nothing of what others have', async () => {
    await addFirst();
    await addMember(creator, groupId, contact, commitBody(1, welcomeFor(contact)));
    const { id } = (await sendToGroup(creator, groupId, messageBody(2))).body;
    const isRead = async (person: Person) => (await groupLog(person, groupId)).at(-1)?.is_read;
    let events: [string, unknown][] = [];
    const said = await saidIn(groupId, async () => {
      events = await eventsFor([creator, member, contact], async () => {
        expect((await member.call('PUT', `/messages/${id}/read`)).status).toBe(204);
      });
    });
    const event = { type: 'delivered', conversationId: `group:${groupId}`, messageId: id };
    expect(said).toEqual([]);
    expect(events).toMatchObject([[member.id, { ...event, readerId: member.id, seq: 3 }]]);
    expect(await Promise.all([creator, member, contact].map(isRead))).toEqual([false, true, false]);
    await contact.call('PUT', `/messages/${id}/read`);
    expect(await Promise.all([creator, member, contact].map(isRead))).toEqual([false, true, true]);
  });

  it('has receipts, told to who has the chat open, and gone with who leaves', async () => {
    await addFirst();
    const conversationId = `group:${groupId}`;
    const body = receiptBody(member, conversationId, 1);
    let events: unknown[] = [];
    const said = await saidIn(groupId, async () => {
      events = await eventsFor([creator, member], () => putReceipt(member, conversationId, body));
    });
    const receipt = { userId: member.id, deviceId: member.deviceId, ...body };
    expect(said).toEqual([{ type: 'receipt', conversationId, ...receipt }]);
    expect(events).toEqual([]);
    expect(await receiptsOf(creator, conversationId)).toEqual([receipt]);
    await member.call('DELETE', `/group/${groupId}/leave`, { statement: base64Url(100) });
    expect(await receiptsOf(creator, conversationId)).toEqual([]);
    expect(await putReceipt(member, conversationId, body)).toMatchObject({ status: 404 });
  });

  it('of more than 32 people has no receipts', async () => {
    await addFirst();
    const { db } = relay.relay.database;
    const conversationId = `group:${groupId}`;
    const people = await Promise.all(Array.from({ length: 31 }, () => signUp(relay)));
    const [last, ...others] = people.map(({ id }) => ({
      conversation_id: conversationId,
      user_id: id,
      read_seq: 0,
    }));
    if (last === undefined) throw new Error('nobody');
    await db.insertInto('participants').values(others).execute();
    const body = receiptBody(member, conversationId, 1);
    expect((await putReceipt(member, conversationId, body)).status).toBe(204);
    await db.insertInto('participants').values(last).execute();
    expect(await putReceipt(member, conversationId, body)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  });

  it('takes the commits of every member, with a new sealed name or without', async () => {
    await addFirst();
    const named = { ...commitBody(1), sealedName: base64Url(60) };
    expect(await submitCommit(member, `group:${groupId}`, named)).toMatchObject({ status: 201 });
    expect(await submitCommit(creator, `group:${groupId}`, commitBody(2))).toMatchObject({ status: 201 });
    expect((await details(creator)).body).toMatchObject({ name: named.sealedName, name_epoch: 2 });
  });

  it('alone takes a sealed name: a direct conversation refuses one', async () => {
    const [lower, higher] = [creator.id, member.id].sort();
    const body = { ...commitBody(0), sealedName: base64Url(60) };
    expect(await submitCommit(creator, `direct:${lower}:${higher}`, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
    expect((await creator.call('GET', '/conversations')).body).toEqual([]);
  });
});
