import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ClaimedKeyPackage, WelcomeItem } from '../../contract/index.ts';
import { base64Url, befriend, onAnotherDevice, type Person } from '../helpers.ts';
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
  forbidden,
  groupId,
  groupsOf,
  member,
  notFound,
  relay,
  saidIn,
  stranger,
  welcomeFor,
  withGroupPeople,
} from './groupPeople.ts';

withGroupPeople();

describe('adding a member', () => {
  it('stores the commit, the Welcome and the membership together', async () => {
    const body = { ...commitBody(0, welcomeFor(member)), sealedName: base64Url(60) };
    const answer = await addMember(creator, groupId, member, body);
    expect(answer).toMatchObject({ status: 201, body: { seq: 1, epoch: 0 } });
    expect((await details(member)).body).toMatchObject({
      name: body.sealedName,
      name_epoch: 1,
      member_count: 2,
      last_seq: 1,
    });
    expect((await member.call<WelcomeItem[]>('GET', '/welcomes')).body).toMatchObject([
      { conversationId: `group:${groupId}`, epoch: 1, seq: 1, welcome: body.welcomes[0]?.welcome },
    ]);
    expect((await member.call('GET', `/conversations/group:${groupId}/group-info`)).body).toEqual({
      epoch: 1,
      groupInfo: body.groupInfo,
    });
  });

  it('publishes the list, the Welcome to the new members, and the commit, in this order', async () => {
    await addFirst();
    const body = commitBody(1, welcomeFor(contact));
    let events: [string, { type: string }][] = [];
    const said = await saidIn(groupId, async () => {
      events = await eventsFor([creator, member, contact], () => addMember(creator, groupId, contact, body));
    });
    const typesFor = ({ id }: Person) => events.filter(([to]) => to === id).map(([, event]) => event.type);
    expect(typesFor(contact)).toEqual(['groups', 'welcome', 'available']);
    for (const person of [creator, member]) expect(typesFor(person)).toEqual(['groups', 'available']);
    expect(said).toMatchObject([{ type: 'commit', groupId, seq: 2, epoch: 1, content: body.commit }]);
  });

  it("is the creator's alone", async () => {
    await addFirst();
    await befriend(member, stranger);
    expect(await addMember(member, groupId, stranger, commitBody(1))).toMatchObject(forbidden);
    expect(await groupsOf(stranger)).toEqual([]);
    expect(seqs(await groupLog(creator, groupId))).toEqual([1]);
  });

  it('is for contacts who are not members yet', async () => {
    await addFirst();
    const refusals = [
      [stranger, { status: 403, body: { code: 'not-a-contact' } }],
      [{ id: randomUUID() }, notFound],
      [member, { status: 409, body: { code: 'already-member' } }],
    ] as const;
    for (const [person, refusal] of refusals) {
      expect(await addMember(creator, groupId, person, commitBody(1))).toMatchObject(refusal);
    }
    expect((await details(creator)).body.member_count).toBe(2);
    expect(seqs(await groupLog(creator, groupId))).toEqual([1]);
  });

  it.each([
    ['of a stale epoch', () => commitBody(0), 409, 'stale-epoch'],
    [
      "with a Welcome for a stranger's device",
      () => commitBody(1, welcomeFor(stranger)),
      422,
      'invalid-request',
    ],
  ])('by a commit %s adds nobody', async (_what, body, status, code) => {
    await addFirst();
    expect(await addMember(creator, groupId, contact, body())).toMatchObject({ status, body: { code } });
    expect((await details(creator)).body.member_count).toBe(2);
    expect(await groupsOf(contact)).toEqual([]);
    expect((await stranger.call('GET', '/welcomes')).body).toEqual([]);
  });

  it('happens once, however often it is asked for at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => addFirst()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await details(creator)).body.member_count).toBe(2);
    expect(seqs(await groupLog(creator, groupId))).toEqual([1]);
  });
});

describe('adding several members', () => {
  const addAll = (people: readonly { id: string }[], body: object) =>
    creator.call('POST', `/group/${groupId}/add`, { user_ids: people.map(({ id }) => id), ...body });
  const memberCount = async () => (await details(creator)).body.member_count;

  it('takes one commit for all of them', async () => {
    const body = commitBody(0, welcomeFor(member, contact));
    expect(await addAll([member, contact, member], body)).toMatchObject({ status: 201, body: { seq: 1 } });
    expect(await memberCount()).toBe(3);
    for (const person of [member, contact]) {
      expect(await groupsOf(person)).toEqual([groupId]);
      expect((await person.call<WelcomeItem[]>('GET', '/welcomes')).body).toHaveLength(1);
    }
  });

  it('adds nobody when one of them can’t be added', async () => {
    const body = commitBody(0, welcomeFor(member));
    expect(await addAll([member, stranger], body)).toMatchObject({ body: { code: 'not-a-contact' } });
    expect(await addAll([], body)).toMatchObject({ body: { code: 'invalid-request' } });
    expect(await creator.call('POST', `/group/${groupId}/add`, body)).toMatchObject({
      body: { code: 'invalid-request' },
    });
    expect(await memberCount()).toBe(1);
  });

  it('passes over who is a member, whose devices the tree may have lost', async () => {
    await addFirst();
    expect(await addAll([member], commitBody(1, welcomeFor(member)))).toMatchObject({ status: 201 });
    expect(seqs(await groupLog(member, groupId))).toEqual([1, 2]);
    expect(await addAll([member, contact], commitBody(2, welcomeFor(contact)))).toMatchObject({
      status: 201,
    });
    expect(await memberCount()).toBe(3);
    expect(seqs(await groupLog(contact, groupId))).toEqual([3]);
  });
});

describe('leaving a group', () => {
  it('ends everything for who leaves, and nothing for the others', async () => {
    await addFirst();
    const { id } = (await sendToGroup(creator, groupId, messageBody(1))).body;
    const elsewhere = await onAnotherDevice(relay, member);
    const events = await eventsFor([creator, member], async () => {
      expect((await member.call('DELETE', `/group/${groupId}/leave`)).status).toBe(204);
    });
    expect(new Map(events)).toEqual(
      new Map([
        [creator.id, { type: 'groups' }],
        [member.id, { type: 'groups' }],
      ]),
    );
    for (const session of [member, elsewhere]) {
      expect(await details(session)).toMatchObject(notFound);
      expect(await session.call('GET', `/messages/group/${groupId}`)).toMatchObject(notFound);
      expect(await sendToGroup(session, groupId, messageBody(1))).toMatchObject(notFound);
      expect(await submitCommit(session, `group:${groupId}`, commitBody(1))).toMatchObject(notFound);
      expect(await session.call('PUT', `/messages/${id}/read`)).toMatchObject(notFound);
      expect((await session.call('GET', '/conversations')).body).toEqual([]);
      expect((await session.call('GET', '/welcomes')).body).toEqual([]);
    }
    expect((await details(creator)).body.members.map((one) => one.id)).toEqual([creator.id]);
    expect(await sendToGroup(creator, groupId, messageBody(1))).toMatchObject({ status: 201 });
  });

  it('leaves a statement for the others, until a commit has taken the leaves out', async () => {
    await addFirst();
    await addMember(creator, groupId, contact, commitBody(1, welcomeFor(contact)));
    const statement = base64Url(300);
    expect((await member.call('DELETE', `/group/${groupId}/leave`, { statement })).status).toBe(204);
    const departed = async (person: Person) => (await details(person)).body.departed;
    const left = [{ user_id: member.id, statement }];
    expect(await departed(creator)).toEqual(left);
    expect(await departed(contact)).toEqual(left);

    const conversationId = `group:${groupId}`;
    // A commit that was on its way, and one of an epoch that is over.
    expect(await submitCommit(contact, conversationId, commitBody(2))).toMatchObject({ status: 201 });
    const removal = { ...commitBody(3), removed: [member.id] };
    expect(await submitCommit(contact, conversationId, { ...removal, epoch: 2 })).toMatchObject({
      status: 409,
    });
    expect(await departed(creator)).toEqual(left);
    expect(await submitCommit(contact, conversationId, removal)).toMatchObject({ status: 201 });
    expect(await departed(creator)).toEqual([]);
  });

  it("keeps the statement for the person's own devices, also when the leaves are gone", async () => {
    await addFirst();
    const leaveStatement = (person: Person) => person.call('GET', `/group/${groupId}/departure`);
    const none = { status: 200, body: { statement: null } };
    expect(await leaveStatement(member)).toMatchObject(none);
    const statement = base64Url(300);
    await member.call('DELETE', `/group/${groupId}/leave`, { statement });
    const removal = { ...commitBody(1), removed: [member.id] };
    expect(await submitCommit(creator, `group:${groupId}`, removal)).toMatchObject({ status: 201 });
    expect(await leaveStatement(await onAnotherDevice(relay, member))).toMatchObject({
      status: 200,
      body: { statement },
    });
    for (const other of [creator, contact]) expect(await leaveStatement(other)).toMatchObject(none);
  });

  it('is forgotten with the next adding of the same person', async () => {
    await addFirst();
    await member.call('DELETE', `/group/${groupId}/leave`, { statement: base64Url(300) });
    await addMember(creator, groupId, member, commitBody(1, welcomeFor(member)));
    expect((await details(creator)).body.departed).toEqual([]);
    expect(await member.call('GET', `/group/${groupId}/departure`)).toMatchObject({
      status: 200,
      body: { statement: null },
    });
  });

  it('takes no statement beyond its limit, and none in a direct conversation', async () => {
    await addFirst();
    const statement = base64Url(1025);
    expect(await member.call('DELETE', `/group/${groupId}/leave`, { statement })).toMatchObject({
      body: { code: 'invalid-request' },
    });
    const [lower, higher] = [creator.id, member.id].sort();
    const body = { ...commitBody(0), removed: [member.id] };
    expect(await submitCommit(creator, `direct:${lower}:${higher}`, body)).toMatchObject({
      body: { code: 'invalid-request' },
    });
    expect((await details(member)).status).toBe(200);
  });

  it('is refused to the creator', async () => {
    await addFirst();
    expect(await creator.call('DELETE', `/group/${groupId}/leave`)).toMatchObject(forbidden);
    expect((await details(creator)).status).toBe(200);
  });

  it('lets the person be added again', async () => {
    await addFirst();
    await member.call('DELETE', `/group/${groupId}/leave`);
    expect(await addMember(creator, groupId, member, commitBody(1, welcomeFor(member)))).toMatchObject({
      status: 201,
    });
    expect(seqs(await groupLog(member, groupId))).toEqual([2]);
    expect((await member.call('DELETE', `/group/${groupId}/leave`)).status).toBe(204);
  });
});

it('fellow members see each other’s devices and claim their KeyPackages, until one of them leaves', async () => {
  await addFirst();
  await addMember(creator, groupId, contact, commitBody(1, welcomeFor(contact)));
  await contact.call('POST', '/key-packages', { keyPackages: [base64Url(300), base64Url(300)] });
  const devices = () => member.call('GET', `/users/${contact.id}/devices`);
  const claim = () => member.call<ClaimedKeyPackage[]>('POST', `/users/${contact.id}/key-packages/claim`);
  expect((await devices()).body).toEqual([{ id: contact.deviceId, certificate: contact.certificate }]);
  expect((await claim()).body).toMatchObject([{ deviceId: contact.deviceId }]);
  await contact.call('DELETE', `/group/${groupId}/leave`);
  expect(await devices()).toMatchObject(notFound);
  expect(await claim()).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
});
