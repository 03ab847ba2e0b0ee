import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../contract/index.ts';
import { purgeAfter } from '../../src/jobs/purge.ts';
import { digestOf } from '../../src/repositories/entryDigest.ts';
import type { Person } from '../helpers.ts';
import { groupLog, log } from './conversation.ts';
import { advance, deleteAccount, everywhere, friend, purgeJob, withDeletedPerson } from './deletedPerson.ts';

withDeletedPerson();

interface Digest {
  readonly seq: number;
  readonly digest: string;
}

const digests = async (person: Person, conversationId: string, after = 0, before = 100) =>
  (
    await person.call<Digest[]>(
      'GET',
      `/conversations/${conversationId}/digests?after=${after}&before=${before}`,
    )
  ).body;

/** The digest of an entry as somebody computes it who reads it. */
const read = (entry: LogEntry): Digest => ({
  seq: entry.seq,
  digest: digestOf({
    conversationId: entry.conversationId,
    seq: entry.seq,
    id: entry.id,
    kind: entry.kind,
    epoch: entry.epoch,
    senderId: entry.sender_id,
    senderDeviceId: entry.sender_device_id,
    createdAt: 0,
    content: Buffer.from(entry.content, 'base64url'),
    digest: null,
  }).toString('base64url'),
});

describe('the digest of an entry', () => {
  it('is the one that clients compute', () => {
    const digest = digestOf({
      conversationId: 'group:1',
      seq: 1,
      id: 'm1',
      kind: 'commit',
      epoch: 0,
      senderId: 'anna',
      senderDeviceId: 'laptop',
      createdAt: 0,
      content: Buffer.from('a commit'),
      digest: null,
    });
    // From crypto-core/test/content/runningHash.test.ts.
    expect(digest.toString('hex')).toBe('619ce3027a8ae21985c50a64689dfa2ce164c11146f082bb4fae6bb294fa48ab');
  });

  it('is given of a page of the log, and what is read has it', async () => {
    const { person, direct } = await everywhere();
    const entries = await log(friend, person);
    expect(entries.length).toBeGreaterThan(1);
    expect(entries.every(({ digest }) => digest === undefined)).toBe(true);
    expect(await digests(friend, direct)).toEqual(entries.map(read));
    expect(await digests(friend, direct, 1, 3)).toEqual(entries.slice(1, 2).map(read));
  });

  it('is all that comes of the one entry of a page for which it is asked', async () => {
    const { person, own, direct } = await everywhere();
    for (const [entries, path] of [
      [await log(friend, person), `/messages/user/${person.id}`],
      [await groupLog(friend, own.id), `/messages/group/${own.id}`],
    ] as const) {
      const { seq } = entries[0] ?? { seq: 0 };
      const answer = await friend.call<LogEntry[]>('GET', `${path}?after=${seq - 1}&digestOf=${seq}`);
      const [first, ...others] = entries;
      expect(answer.body).toEqual([
        { ...first, content: '', digest: first && read(first).digest },
        ...others,
      ]);
    }
    expect(await digests(friend, direct)).toEqual((await log(friend, person)).map(read));
  });

  it('stays when the content goes with its sender’s account, and when the sender’s id does', async () => {
    const { person, direct, own } = await everywhere();
    const [before, beforeInGroup] = [await log(friend, person), await groupLog(friend, own.id)];
    await deleteAccount(person);
    expect(await digests(friend, direct)).toEqual(before.map(read));
    const emptied = (await log(friend, person)).filter(({ content }) => content === '');
    expect(emptied.length).toBeGreaterThan(0);
    for (const { seq, digest } of emptied)
      expect(digest).toBe(before.map(read).find((one) => one.seq === seq)?.digest);
    advance(purgeAfter);
    await purgeJob().run();
    advance(-purgeAfter);
    expect(await digests(friend, `group:${own.id}`)).toEqual(beforeInGroup.map(read));
    const inGroup = await groupLog(friend, own.id);
    expect(inGroup.map(({ digest }) => digest)).toEqual(beforeInGroup.map(read).map(({ digest }) => digest));
  });
});
