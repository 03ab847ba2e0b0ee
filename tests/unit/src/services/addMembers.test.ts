import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, CryptoApi } from '#src/crypto/client.ts';
import type { CommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import { addMembers } from '#src/services/groups/addMembers.ts';
import type { GroupProgress } from '#src/store/groups.ts';
import { me, refused, state, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const peopleOf = (length: number) =>
  Array.from({ length }, (_, i) => `00000000-0000-4000-8000-2${String(i).padStart(11, '0')}`);
const submission = {} as CommitSubmission;

let memberIds: string[];
/** The devices that each person has, and the size of their KeyPackages. */
let each: { devices: number; bytes: number };
let told: string[];
const commitAdding = vi.fn<CryptoApi['addMembers']>();
const submit = vi.fn<CommitSubmitter['submit']>();

beforeEach(() => {
  memberIds = [me];
  each = { devices: 1, bytes: 3 };
  told = [];
  commitAdding.mockReset().mockImplementation(async () => submission);
  // The log shows what the last commit has added.
  submit.mockReset().mockImplementation(async () => {
    memberIds = [...memberIds, ...(partsAdded().at(-1) ?? [])];
    return { kind: 'taken' };
  });
});

/** The people whom each commit adds. */
const partsAdded = () =>
  commitAdding.mock.calls.map(([{ keyPackages }]) => [...new Set(keyPackages.map(({ userId }) => userId))]);

function add(people: readonly string[]) {
  const deps = testDeps({
    api: {
      inviteGroupMembers: async () => [],
      claimKeyPackages: async (userIds) =>
        userIds.flatMap((userId) =>
          Array.from({ length: each.devices }, (_, i) => ({
            userId,
            deviceId: `${userId} ${i}`,
            keyPackage: 'A'.repeat(Math.ceil((each.bytes * 4) / 3)),
            lastResort: false,
          })),
        ),
    },
    crypto: {
      keyPackageSuites: async () => [0xf04d],
      usableKeyPackages: async (all) => [...all],
      addMembers: commitAdding,
      conversation: async () =>
        state({ members: memberIds.map((userId) => ({ userId, deviceIds: ['device'] })) }),
    },
  });
  const progress = (now: GroupProgress) => {
    const line = 'done' in now ? `${now.step}: ${now.done} of ${now.total}` : now.step;
    if (now.step !== 'gathering-keys' && told.at(-1) !== line) told.push(line);
  };
  const commitSubmitter = { submit, settle: async () => undefined };
  return addMembers({ deps, commitSubmitter, progress }, groupId, people);
}

describe('many people who are added', () => {
  it('come by as many commits as their devices need, each person whole in one', async () => {
    each = { devices: 200, bytes: 3 };
    const people = peopleOf(3);
    await add(people);
    expect(partsAdded()).toEqual([people.slice(0, 2), people.slice(2)]);
  });

  it('come by as many commits as the sizes of their keys need, and how many are in is told', async () => {
    each = { devices: 50, bytes: 16 * 1024 };
    const people = peopleOf(5);
    await add(people);
    expect(partsAdded()).toEqual([people.slice(0, 2), people.slice(2, 4), people.slice(4)]);
    expect(told).toEqual(['adding: 0 of 5', 'adding: 2 of 5', 'adding: 4 of 5']);
  });

  it('come by as many commits as the relay takes people at once, and none waits for keys in between', async () => {
    const people = peopleOf(998);
    await add(people);
    expect(partsAdded().map(({ length }) => length)).toEqual([250, 250, 250, 248]);
    expect(partsAdded().flat()).toEqual(people);
    expect(told.at(-1)).toBe('adding: 750 of 998');
  });

  it('are told of by the steps of the one commit that adds them all', async () => {
    await add(peopleOf(250));
    expect(told).toEqual(['sealing', 'submitting']);
  });

  it('stay in up to the commit that is refused', async () => {
    const people = peopleOf(300);
    submit.mockImplementationOnce(async () => {
      memberIds = [me, ...people.slice(0, 250)];
      return { kind: 'taken' };
    });
    submit.mockResolvedValueOnce({ kind: 'refused', reason: refused('limit-reached') });
    await expect(add(people)).rejects.toMatchObject({ code: 'limit-reached' });
    expect(partsAdded()).toEqual([people.slice(0, 250), people.slice(250)]);
  });
});
