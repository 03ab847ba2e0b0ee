import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ConversationSummary, GroupSummary } from '../../contract/index.ts';
import { nonceFor, signedEnding } from '../devices.ts';
import { base64Url, call, logIn, onAnotherDevice, type PersonOnDevice, signUp } from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  messageBody,
  sendToGroup,
  submitCommit,
} from './conversation.ts';
import {
  addFirst,
  contact,
  creator,
  details,
  eventsFor,
  forbidden,
  groupId,
  groupsOf,
  member,
  notFound,
  relay,
  stranger,
  withGroupPeople,
} from './groupPeople.ts';

withGroupPeople();

describe('a group', () => {
  it('is created with its creator as the only member, under the name as it was sealed, and told of once it has begun', async () => {
    const [id, sealedName] = [randomUUID(), base64Url(60)];
    const events = await eventsFor([creator], async () => {
      expect(await creator.call('POST', '/group', { groupId: id, sealedName })).toMatchObject({
        status: 201,
        body: { id },
      });
    });
    expect(events).toEqual([]);
    const summary = {
      id,
      name: sealedName,
      name_epoch: 0,
      creator_id: creator.id,
      member_count: 1,
      created_at: expect.any(String),
    };
    const members = [{ id: creator.id, user: { id: creator.id, username: creator.username } }];
    expect((await details(creator, id)).body).toEqual({ ...summary, members, departed: [], last_seq: 0 });
    expect((await creator.call('GET', `/group/${id}/members`)).body).toEqual(members);
    expect((await creator.call<GroupSummary[]>('GET', '/groups')).body).toContainEqual(summary);
    const begun = await eventsFor([creator], () => submitCommit(creator, `group:${id}`, commitBody(0)));
    expect(begun[0]).toEqual([creator.id, { type: 'groups' }]);
  });

  it('is created once under an id: again by its creator changes nothing, by others is refused', async () => {
    const before = (await details(creator)).body;
    const body = { groupId, sealedName: base64Url(60) };
    expect(await creator.call('POST', '/group', body)).toMatchObject({ status: 201, body: { id: groupId } });
    expect(await stranger.call('POST', '/group', body)).toMatchObject({
      status: 409,
      body: { code: 'group-exists' },
    });
    expect((await details(creator)).body).toEqual(before);
    expect(await groupsOf(stranger)).toEqual([]);
  });

  it('has its name sealed again by any member for the epoch it is in, once', async () => {
    await addFirst();
    const put = (person: PersonOnDevice, epoch: number, sealedName: string) =>
      person.call('PUT', `/group/${groupId}/name`, { epoch, sealedName });
    const [first, second] = [base64Url(60), base64Url(60)];
    for (const epoch of [0, 2]) {
      expect(await put(member, epoch, first)).toMatchObject({
        status: 409,
        body: { code: 'stale-epoch', epoch: 1 },
      });
    }
    const events = await eventsFor([creator, member, stranger], () => put(member, 1, first));
    const recipientIds = events.map(([id]) => id).toSorted();
    expect(recipientIds).toEqual([creator.id, member.id].toSorted());
    expect(events.every(([, event]) => event.type === 'groups')).toBe(true);
    expect(await eventsFor([creator, member], () => put(creator, 1, second))).toEqual([]);
    expect((await details(creator)).body).toMatchObject({ name: first, name_epoch: 1 });
    expect(await put(stranger, 1, second)).toMatchObject(notFound);

    const commit = { ...commitBody(1), sealedName: second };
    expect((await submitCommit(creator, `group:${groupId}`, commit)).status).toBe(201);
    expect((await details(member)).body).toMatchObject({ name: second, name_epoch: 2 });
    expect((await put(member, 1, first)).status).toBe(409);
  });

  it('lists its members by name, to each of them', async () => {
    await addFirst();
    await addMember(creator, groupId, contact, commitBody(1));
    const byName = [creator, member, contact]
      .toSorted((one, other) => (one.username < other.username ? -1 : 1))
      .map(({ id, username }) => ({ id, user: { id, username } }));
    for (const person of [creator, member, contact]) {
      const answer = await person.call('GET', `/group/${groupId}/members`);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual(byName);
    }
  });

  it('does not exist for who is no member of it', async () => {
    await addFirst();
    const nothing = await stranger.call('GET', `/group/${randomUUID()}`);
    for (const person of [stranger, contact]) {
      expect(await details(person)).toMatchObject({ status: 404, body: nothing.body });
      expect(await person.call('GET', `/group/${groupId}/members`)).toMatchObject(notFound);
      expect(await person.call('GET', `/messages/group/${groupId}`)).toMatchObject(notFound);
      expect(await sendToGroup(person, groupId, messageBody(1))).toMatchObject(notFound);
      expect(await submitCommit(person, `group:${groupId}`, commitBody(1))).toMatchObject(notFound);
      expect(await person.call('GET', `/conversations/group:${groupId}/group-info`)).toMatchObject(notFound);
      expect(await addMember(person, groupId, stranger, commitBody(1))).toMatchObject(notFound);
      expect(await person.call('DELETE', `/group/${groupId}/leave`)).toMatchObject(notFound);
      expect(await person.call('DELETE', `/group/${groupId}`)).toMatchObject(notFound);
      expect(await groupsOf(person)).toEqual([]);
    }
  });

  it('starts with its first commit', async () => {
    const conversationId = `group:${groupId}`;
    expect(await creator.call('GET', `/conversations/${conversationId}/group-info`)).toMatchObject(notFound);
    expect((await creator.call('GET', '/conversations')).body).toEqual([]);
    expect(await sendToGroup(creator, groupId, messageBody(1))).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 0 },
    });
    expect(await submitCommit(creator, conversationId, commitBody(0))).toMatchObject({
      status: 201,
      body: { seq: 1, epoch: 0 },
    });
    expect((await creator.call<ConversationSummary[]>('GET', '/conversations')).body).toEqual([
      { conversationId, epoch: 1, lastSeq: 1, readSeq: 0, peerReadSeq: null },
    ]);
  });
});

describe('deleting a group', () => {
  it('removes it with its log, for everybody', async () => {
    await addFirst();
    const body = messageBody(1);
    await sendToGroup(member, groupId, body);
    const events = await eventsFor([creator, member], async () => {
      expect((await creator.call('DELETE', `/group/${groupId}`)).status).toBe(204);
    });
    expect(new Set(events.map(([id]) => id))).toEqual(new Set([creator.id, member.id]));
    for (const person of [creator, member]) {
      expect(await details(person)).toMatchObject(notFound);
      expect(await person.call('GET', `/messages/group/${groupId}`)).toMatchObject(notFound);
      expect(await sendToGroup(person, groupId, body)).toMatchObject(notFound);
      expect((await person.call('GET', '/welcomes')).body).toEqual([]);
      expect(await groupsOf(person)).toEqual([]);
    }
  });

  it("is the creator's alone", async () => {
    await addFirst();
    expect(await member.call('DELETE', `/group/${groupId}`)).toMatchObject(forbidden);
    expect((await details(member)).status).toBe(200);
  });
});

describe('ending a group', () => {
  it.each([
    ['delete', '', () => creator],
    ['leave', '/leave', () => member],
  ] as const)(
    'to %s it takes the signature of the device: a token alone ends none',
    async (ending, path, who) => {
      await addFirst();
      const person = who();
      const otherGroup = await createGroup(creator);
      const tablet = await onAnotherDevice(relay, person);
      const conversationId = `group:${groupId}`;
      const [nonce, ofTablet] = [await nonceFor(relay, person.token), await nonceFor(relay, tablet.token)];
      const signed = signedEnding(person, ending, conversationId, nonce);
      const end = (token: string, body: object) =>
        call(relay, 'DELETE', `/group/${groupId}${path}`, { token, body });
      const others = [
        { nonce, signature: base64Url(64) },
        { ...signed, nonce: ofTablet },
        signedEnding(tablet, ending, conversationId, nonce),
        signedEnding(stranger, ending, conversationId, nonce),
        signedEnding({ ...person, id: stranger.id }, ending, conversationId, nonce),
        signedEnding(person, ending, `group:${otherGroup}`, nonce),
        signedEnding(person, ending === 'delete' ? 'leave' : 'delete', conversationId, nonce),
        signedEnding(person, ending, conversationId, ofTablet),
        signedEnding(person, ending, conversationId, base64Url(32)),
      ];
      for (const other of others) expect(await end(person.token, other)).toMatchObject(forbidden);
      expect(await end(tablet.token, signed)).toMatchObject(forbidden);
      for (const part of [{}, { nonce }, { signature: signed.signature }])
        expect(await end(person.token, part)).toMatchObject({
          status: 422,
          body: { code: 'invalid-request' },
        });
      expect(await groupsOf(person)).toContain(groupId);

      expect((await end(person.token, signed)).status).toBe(204);
      expect(await groupsOf(person)).not.toContain(groupId);
    },
  );

  it('takes what the device has signed once: who was added again does not leave by it', async () => {
    await addFirst();
    const signed = signedEnding(member, 'leave', `group:${groupId}`, await nonceFor(relay, member.token));
    const again = () =>
      call(relay, 'DELETE', `/group/${groupId}/leave`, { token: member.token, body: signed });
    expect((await again()).status).toBe(204);
    expect((await addMember(creator, groupId, member, commitBody(1))).status).toBe(201);
    expect(await again()).toMatchObject(forbidden);
    expect(await groupsOf(member)).toContain(groupId);
  });
});

it('what changes or ends a group needs a device; looking does not', async () => {
  await addFirst();
  const [noDevice, memberWithout] = [await logIn(relay, creator), await logIn(relay, member)];
  const required = { status: 403, body: { code: 'device-required' } };
  expect(await (await signUp(relay)).call('POST', '/group', {})).toMatchObject(required);
  expect(await addMember(noDevice, groupId, contact, commitBody(1))).toMatchObject(required);
  expect(await sendToGroup(noDevice, groupId, messageBody(1))).toMatchObject(required);
  expect((await details(noDevice)).status).toBe(200);
  expect(await memberWithout.call('DELETE', `/group/${groupId}/leave`, {})).toMatchObject(required);
  expect(await noDevice.call('DELETE', `/group/${groupId}`, {})).toMatchObject(required);
  expect(await groupsOf(member)).toEqual([groupId]);
});
