import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  ClaimedKeyPackage,
  ConversationSummary,
  GroupDetails,
  GroupSummary,
  WelcomeItem,
} from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  logIn,
  onAnotherDevice,
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
  groupLog,
  messageBody,
  sendToGroup,
  seqs,
  submitCommit,
  toldBy,
} from './conversation.ts';

let relay: TestRelay;
let creator: PersonOnDevice;
let member: PersonOnDevice;
let contact: PersonOnDevice;
let stranger: PersonOnDevice;
let groupId: string;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  [creator, member, contact, stranger] = await Promise.all([
    signUpOnDevice(relay),
    signUpOnDevice(relay),
    signUpOnDevice(relay),
    signUpOnDevice(relay),
  ]);
  await befriend(creator, member);
  await befriend(creator, contact);
  groupId = await createGroup(creator);
});

const welcomeFor = (...people: PersonOnDevice[]) => [
  { deviceIds: people.map((person) => person.deviceId), welcome: base64Url(900) },
];
/** Adds `member` by the group's first commit, so that its epoch is 1 afterwards. */
const addFirst = () => addMember(creator, groupId, member, commitBody(0, welcomeFor(member)));
const details = (person: Person, id = groupId) => person.call<GroupDetails>('GET', `/group/${id}`);
const groupsOf = async (person: Person) =>
  (await person.call<GroupSummary[]>('GET', '/groups')).body.map(({ id }) => id);
const told = (people: readonly Person[], action: () => Promise<unknown>) => toldBy(relay, people, action);
const notFound = { status: 404, body: { code: 'not-found' } };
const forbidden = { status: 403, body: { code: 'forbidden' } };

/** What is said on the group's topic while `action` runs. */
async function saidIn(id: string, action: () => Promise<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  const stop = relay.relay.services.hub.subscribe(`group/${id}/messages`, (payload) =>
    events.push(JSON.parse(payload)),
  );
  await action();
  stop();
  return events;
}

describe('a group', () => {
  it('is created with its creator as the only member, under the name as it was sealed', async () => {
    const [id, sealedName] = [randomUUID(), base64Url(60)];
    const events = await told([creator], async () => {
      expect(await creator.call('POST', '/group', { groupId: id, sealedName })).toMatchObject({
        status: 201,
        body: { id },
      });
    });
    expect(events).toEqual([[creator.id, { type: 'groups' }]]);
    const summary = {
      id,
      name: sealedName,
      name_epoch: 0,
      creator_id: creator.id,
      member_count: 1,
      created_at: expect.any(String),
    };
    const members = [{ id: creator.id, user: { id: creator.id, username: creator.username } }];
    expect((await details(creator, id)).body).toEqual({ ...summary, members, departed: [] });
    expect((await creator.call('GET', `/group/${id}/members`)).body).toEqual(members);
    expect((await creator.call<GroupSummary[]>('GET', '/groups')).body).toContainEqual(summary);
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

describe('adding a member', () => {
  it('stores the commit, the Welcome and the membership together', async () => {
    const body = { ...commitBody(0, welcomeFor(member)), sealedName: base64Url(60) };
    const answer = await addMember(creator, groupId, member, body);
    expect(answer).toMatchObject({ status: 201, body: { seq: 1, epoch: 0 } });
    expect(new Set(answer.body.members.map(({ id }) => id))).toEqual(new Set([creator.id, member.id]));
    expect((await details(member)).body).toMatchObject({
      name: body.sealedName,
      name_epoch: 1,
      member_count: 2,
    });
    expect((await member.call<WelcomeItem[]>('GET', '/welcomes')).body).toMatchObject([
      { conversationId: `group:${groupId}`, epoch: 1, seq: 1, welcome: body.welcomes[0]?.welcome },
    ]);
    expect((await member.call('GET', `/conversations/group:${groupId}/group-info`)).body).toEqual({
      epoch: 1,
      groupInfo: body.groupInfo,
    });
  });

  it('tells the list, the Welcome to whom it lets in, and the commit, in this order', async () => {
    await addFirst();
    const body = commitBody(1, welcomeFor(contact));
    let events: [string, { type: string }][] = [];
    const said = await saidIn(groupId, async () => {
      events = await told([creator, member, contact], () => addMember(creator, groupId, contact, body));
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

  it('is told on the topic of the group, and that there is something on the topic of every member', async () => {
    await addFirst();
    const body = messageBody(1);
    let events: unknown[] = [];
    const said = await saidIn(groupId, async () => {
      events = await told([creator, member, contact], () => sendToGroup(member, groupId, body));
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
      events = await told([creator, member, contact], async () => {
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

  it('is the only one with a name', async () => {
    const [lower, higher] = [creator.id, member.id].sort();
    const body = { ...commitBody(0), sealedName: base64Url(60) };
    expect(await submitCommit(creator, `direct:${lower}:${higher}`, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
    expect((await creator.call('GET', '/conversations')).body).toEqual([]);
  });
});

describe('leaving', () => {
  it('ends everything for who leaves, and nothing for the others', async () => {
    await addFirst();
    const { id } = (await sendToGroup(creator, groupId, messageBody(1))).body;
    const elsewhere = await onAnotherDevice(relay, member);
    const events = await told([creator, member], async () => {
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

  it('is forgotten with the next adding of the same person', async () => {
    await addFirst();
    await member.call('DELETE', `/group/${groupId}/leave`, { statement: base64Url(300) });
    await addMember(creator, groupId, member, commitBody(1, welcomeFor(member)));
    expect((await details(creator)).body.departed).toEqual([]);
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

  it("is not the creator's", async () => {
    await addFirst();
    expect(await creator.call('DELETE', `/group/${groupId}/leave`)).toMatchObject(forbidden);
    expect((await details(creator)).status).toBe(200);
  });

  it('is not for good', async () => {
    await addFirst();
    await member.call('DELETE', `/group/${groupId}/leave`);
    expect(await addMember(creator, groupId, member, commitBody(1, welcomeFor(member)))).toMatchObject({
      status: 201,
    });
    expect(seqs(await groupLog(member, groupId))).toEqual([2]);
    expect((await member.call('DELETE', `/group/${groupId}/leave`)).status).toBe(204);
  });
});

describe('deleting a group', () => {
  it('removes it with its log, for everybody', async () => {
    await addFirst();
    const body = messageBody(1);
    await sendToGroup(member, groupId, body);
    const events = await told([creator, member], async () => {
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

it('what changes a group’s keys needs a device; looking, leaving and deleting do not', async () => {
  await addFirst();
  const [noDevice, memberWithout] = [await logIn(relay, creator), await logIn(relay, member)];
  const required = { status: 403, body: { code: 'device-required' } };
  expect(await (await signUp(relay)).call('POST', '/group', {})).toMatchObject(required);
  expect(await addMember(noDevice, groupId, contact, commitBody(1))).toMatchObject(required);
  expect(await sendToGroup(noDevice, groupId, messageBody(1))).toMatchObject(required);
  expect((await details(noDevice)).status).toBe(200);
  expect((await memberWithout.call('DELETE', `/group/${groupId}/leave`)).status).toBe(204);
  expect((await noDevice.call('DELETE', `/group/${groupId}`)).status).toBe(204);
});
