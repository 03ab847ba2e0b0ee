import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { purgeAfter, settleAfter, unbegunGroupLifetime } from '../../src/jobs/purge.ts';
import { nobody } from '../../src/repositories/deletions.ts';
import {
  befriend,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  temporaryFolder,
} from '../helpers.ts';
import { addMember, commitBody, createGroup, submitCommit } from './conversation.ts';
import {
  advance,
  deleteAccount,
  dump,
  everywhere,
  friend,
  holding,
  now,
  purgeJob,
  relay,
  withDeletedPerson,
} from './deletedPerson.ts';

withDeletedPerson();

describe('the purge job', () => {
  it('finishes what a relay that stopped in the middle of a deletion has left', async () => {
    const { person, messages } = await everywhere();
    const { db } = relay.relay.database;
    await db.insertInto('deleted_accounts').values({ user_id: person.id, deleted_at: now }).execute();
    const conversations = await db
      .selectFrom('participants')
      .select(['user_id', 'conversation_id'])
      .where('user_id', '=', person.id)
      .execute();
    await db.insertInto('past_participants').values(conversations).execute();
    await db.deleteFrom('users').where('id', '=', person.id).execute();
    await purgeJob().run();
    expect(holding(await dump('entries'), messages)).toHaveLength(3);
    advance(settleAfter);
    await purgeJob().run();
    advance(-settleAfter);
    expect(holding(await dump('entries'), messages)).toEqual([]);
  });

  it('deletes a group that never got its first commit, once its browser had a week for it', async () => {
    const begun = await createGroup(friend);
    await submitCommit(friend, `group:${begun}`, commitBody(0));
    const unbegun = await createGroup(friend);
    const listed = async () =>
      (await friend.call<{ id: string }[]>('GET', '/groups')).body.map(({ id }) => id);
    advance(unbegunGroupLifetime - 1);
    await purgeJob().run();
    expect(await listed()).toEqual(expect.arrayContaining([begun, unbegun]));
    advance(1);
    await purgeJob().run();
    advance(-unbegunGroupLifetime);
    expect(await listed()).toContain(begun);
    expect(await listed()).not.toContain(unbegun);
    expect(holding(await dump('groups'), [begun, unbegun])).toEqual([expect.stringContaining(begun)]);
  });

  it('runs when a relay starts', async () => {
    const dataDir = await temporaryFolder();
    const first = await startTestRelay({ dataDir, clock: () => now });
    const person = await signUp(first);
    await deleteAccount(person);
    await first.close();
    const second = await startTestRelay({ dataDir, clock: () => now + purgeAfter });
    // Closing waits for the run that starting began.
    await second.close();
    const third = await startTestRelay({ dataDir, clock: () => now + purgeAfter });
    const left = await third.relay.database.db.selectFrom('deleted_accounts').select('user_id').execute();
    await third.close();
    expect(left).toEqual([]);
    expect(second.logLines.join('')).toContain('deleted accounts purged');
    expect([...first.logLines, ...second.logLines].join('')).not.toContain(person.id);
    await rm(dataDir, { recursive: true });
  });

  it('goes through long conversations in parts, and loses no entry of others', async () => {
    const person = await signUpOnDevice(relay);
    await befriend(person, friend);
    const groupId = await createGroup(friend);
    await addMember(friend, groupId, person, commitBody(0));
    const { db } = relay.relay.database;
    const conversationId = `group:${groupId}`;
    const entry = (seq: number, sender: PersonOnDevice) => ({
      conversation_id: conversationId,
      seq,
      id: randomUUID(),
      kind: 'application' as const,
      epoch: 1,
      sender_id: sender.id,
      sender_device_id: sender.deviceId,
      content: Buffer.from('content'),
      created_at: now,
    });
    const entries = Array.from({ length: 900 }, (_, index) =>
      entry(index + 2, index % 2 === 0 ? person : friend),
    );
    await db.insertInto('entries').values(entries).execute();
    await deleteAccount(person);
    const contents = () =>
      db
        .selectFrom('entries')
        .select(['sender_id', 'content'])
        .where('conversation_id', '=', conversationId)
        .where('kind', '=', 'application')
        .execute();
    const emptied = await contents();
    expect(emptied.filter(({ content }) => content.length === 0)).toHaveLength(450);
    expect(emptied.every(({ sender_id: id, content }) => (id === person.id) === (content.length === 0))).toBe(
      true,
    );
    advance(purgeAfter);
    await purgeJob().run();
    advance(-purgeAfter);
    const purged = await contents();
    expect(purged.filter(({ sender_id: id }) => id === nobody)).toHaveLength(450);
    expect(purged.filter(({ sender_id: id }) => id === friend.id)).toHaveLength(450);
  });
});
