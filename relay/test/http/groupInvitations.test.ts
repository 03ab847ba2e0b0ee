import { describe, expect, it } from 'vitest';
import type { AccountData, GroupInvitation } from '../../contract/index.ts';
import { groupInvitationLifetime } from '../../src/groups/invitations.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import { personQuotas } from '../../src/personQuotas.ts';
import { befriend, logIn, type PersonOnDevice } from '../helpers.ts';
import { addMember, commitBody, createGroup, submitCommit } from './conversation.ts';
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
  welcomeFor,
  withGroupPeople,
} from './groupPeople.ts';

withGroupPeople();

const askFirst = (person: PersonOnDevice, asked_first = true) =>
  person.call('PUT', '/users/me/asked-first', { asked_first });
const invite = (people: readonly PersonOnDevice[], id = groupId, from = creator) =>
  from.call<{ asked: string[] }>('POST', `/group/${id}/invitations`, {
    user_ids: people.map((person) => person.id),
  });
const invitationsOf = async (person: PersonOnDevice) =>
  (await person.call<GroupInvitation[]>('GET', '/group-invitations')).body;
const accept = (person: PersonOnDevice, id = groupId) => person.call('PUT', `/group-invitations/${id}`);
const decline = (person: PersonOnDevice, id = groupId) => person.call('DELETE', `/group-invitations/${id}`);
const withdraw = (person: PersonOnDevice, from = creator) =>
  from.call('DELETE', `/group/${groupId}/invitations`, { user_id: person.id });
const add = (person: PersonOnDevice, epoch = 0, id = groupId) =>
  addMember(creator, id, person, commitBody(epoch, welcomeFor(person)));
const askedFirst = { status: 403, body: { code: 'asked-first' } };

describe('a person who wants to be asked first', () => {
  it('is in no group, and gets no Welcome, before they have accepted', async () => {
    expect((await askFirst(member)).status).toBe(204);
    expect(await add(member)).toMatchObject(askedFirst);
    expect((await invite([member])).body).toEqual({ asked: [member.id] });
    expect(await add(member)).toMatchObject(askedFirst);
    expect(await groupsOf(member)).toEqual([]);
    expect((await member.call('GET', '/welcomes')).body).toEqual([]);
    expect((await details(creator)).body.members).toHaveLength(1);

    expect((await accept(member)).status).toBe(204);
    expect(await groupsOf(member)).toEqual([]);
    expect((await add(member)).status).toBe(201);
    expect(await groupsOf(member)).toEqual([groupId]);
    expect(await invitationsOf(member)).toEqual([]);
    expect(await invitationsOf(creator)).toEqual([]);
  });

  it('keeps nobody out who is added with them, once they are left out', async () => {
    await askFirst(contact);
    const both = { user_ids: [member.id, contact.id], ...commitBody(0, welcomeFor(member)) };
    expect(await creator.call('POST', `/group/${groupId}/add`, both)).toMatchObject(askedFirst);
    expect((await details(creator)).body.members).toHaveLength(1);
    expect((await invite([member, contact])).body).toEqual({ asked: [contact.id] });
    expect((await addFirst()).status).toBe(201);
  });

  it('says so in the data of the account, until they do no more', async () => {
    const isAsked = async () => (await member.call<AccountData>('GET', '/users/me')).body.asked_first;
    expect(await isAsked()).toBe(false);
    await askFirst(member);
    expect(await isAsked()).toBe(true);
    await askFirst(member, false);
    expect(await isAsked()).toBe(false);
    expect((await invite([member])).body).toEqual({ asked: [] });
    expect((await add(member)).status).toBe(201);
  });

  it('is asked again where they have left the group', async () => {
    await askFirst(member);
    await invite([member]);
    await accept(member);
    await add(member);
    await member.call('DELETE', `/group/${groupId}/leave`);
    expect(await add(member, 1)).toMatchObject(askedFirst);
    expect((await invite([member])).body).toEqual({ asked: [member.id] });
  });
});

describe('an invitation to a group', () => {
  it('says by whom and to how many people, to both of them and to nobody else', async () => {
    await addFirst();
    await askFirst(contact);
    await invite([contact]);
    const person = ({ id, username }: PersonOnDevice) => ({ id, username });
    const expected = {
      group_id: groupId,
      creator: person(creator),
      user: person(contact),
      member_count: 2,
      accepted: false,
    };
    for (const one of [creator, contact]) expect(await invitationsOf(one)).toMatchObject([expected]);
    for (const other of [member, stranger]) expect(await invitationsOf(other)).toEqual([]);
    await accept(contact);
    for (const one of [creator, contact])
      expect(await invitationsOf(one)).toMatchObject([{ ...expected, accepted: true }]);
  });

  it('is told to both with each step, and stands once however often one is asked', async () => {
    await askFirst(member);
    const told = async (action: () => Promise<unknown>) =>
      (await eventsFor([creator, member], action))
        .filter(([, { type }]) => type === 'group-invitations')
        .map(([id]) => id)
        .toSorted();
    const both = [creator.id, member.id].toSorted();
    expect(await told(() => invite([member]))).toEqual(both);
    expect(await told(() => invite([member]))).toEqual([]);
    expect(await invitationsOf(member)).toHaveLength(1);
    expect(await told(() => accept(member))).toEqual(both);
    expect((await accept(member)).status).toBe(204);
    expect(await told(() => decline(member))).toEqual(both);
    await invite([member]);
    expect(await told(() => withdraw(member))).toEqual(both);
    expect(await withdraw(member)).toMatchObject(notFound);
  });

  it('that was declined or withdrawn lets nobody be added', async () => {
    await askFirst(member);
    await invite([member]);
    await accept(member);
    expect((await decline(member)).status).toBe(204);
    expect(await accept(member)).toMatchObject(notFound);
    expect(await add(member)).toMatchObject(askedFirst);
    await invite([member]);
    expect((await withdraw(member)).status).toBe(204);
    expect(await accept(member)).toMatchObject(notFound);
    expect(await add(member)).toMatchObject(askedFirst);
  });

  it("is the creator's to make and take back, among contacts", async () => {
    await addFirst();
    await askFirst(contact);
    expect(await invite([contact], groupId, member)).toMatchObject(forbidden);
    expect(await invite([contact], groupId, stranger)).toMatchObject(notFound);
    await invite([contact]);
    expect(await withdraw(contact, member)).toMatchObject(forbidden);
    expect(await withdraw(contact, stranger)).toMatchObject(notFound);
    expect(await accept(stranger)).toMatchObject(notFound);
    await askFirst(stranger);
    expect(await invite([stranger])).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
    const noDevice = await logIn(relay, contact);
    expect(await noDevice.call('PUT', `/group-invitations/${groupId}`)).toMatchObject({
      body: { code: 'device-required' },
    });
  });

  it('ends with the contact, the group and the month', async () => {
    await askFirst(member);
    await invite([member]);
    await creator.call('DELETE', `/contacts/${member.id}`);
    expect(await invitationsOf(member)).toEqual([]);
    expect(await accept(member)).toMatchObject(notFound);
    await befriend(creator, member);
    expect(await invitationsOf(member)).toHaveLength(1);
    await creator.call('DELETE', `/group/${groupId}`);
    expect(await invitationsOf(member)).toEqual([]);

    const other = await createGroup(creator);
    await submitCommit(creator, `group:${other}`, commitBody(0));
    await invite([member], other);
    const purge = (later: number) =>
      createPurgeJob({
        db: relay.relay.database.db,
        clock: () => Date.now() + later,
        log: relay.relay.app.log,
      }).run();
    await purge(groupInvitationLifetime - 60_000);
    expect(await invitationsOf(member)).toHaveLength(1);
    await purge(groupInvitationLifetime);
    expect(await invitationsOf(member)).toEqual([]);
  });

  it('of somebody who is blocked waits unseen, and takes no place of those of others', async () => {
    await askFirst(member);
    await member.call('PUT', `/blocks/${creator.id}`);
    expect((await invite([member])).body).toEqual({ asked: [member.id] });
    expect(await invitationsOf(creator)).toHaveLength(1);
    expect(await invitationsOf(member)).toEqual([]);
    for (const answer of [accept, decline]) expect(await answer(member)).toMatchObject(notFound);
    expect(await add(member)).toMatchObject(askedFirst);
    await member.call('DELETE', `/blocks/${creator.id}`);
    expect(await invitationsOf(member)).toHaveLength(1);
  });

  it('waits beside so many others, and no more', async () => {
    await askFirst(member);
    await befriend(contact, member);
    const { db } = relay.relay.database;
    const groups = Array.from({ length: personQuotas.groupInvitationsPerUser }, () => createGroup(creator));
    const values = (await Promise.all(groups)).map((group_id) => ({
      user_id: member.id,
      group_id,
      created_at: Date.now(),
      accepted_at: null,
    }));
    await db.insertInto('group_invitations').values(values).execute();
    const full = { status: 413, body: { code: 'quota', quota: 'groups' } };
    expect(await invite([member])).toMatchObject(full);
    const other = await createGroup(contact);
    expect(await invite([member], other, contact)).toMatchObject(full);
    await member.call('PUT', `/blocks/${creator.id}`);
    expect((await invite([member], other, contact)).status).toBe(200);
  });
});
