import { describe, expect, it } from 'vitest';
import { base64Url, type Person } from '../helpers.ts';
import {
  addMember,
  commitBody,
  groupLog,
  messageBody,
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

  it("shows what oneself has read, and of one's own messages whether everybody has", async () => {
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
    expect(said).toMatchObject([{ ...event, readerId: member.id, seq: 3 }]);
    expect(events).toMatchObject([[member.id, event]]);
    expect(await Promise.all([creator, member, contact].map(isRead))).toEqual([false, true, false]);
    await contact.call('PUT', `/messages/${id}/read`);
    expect(await isRead(creator)).toBe(true);
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
