import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import type { CommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import type { OpenConversation } from '#src/services/conversations/openConversation.ts';
import { createGroupActions, type GroupActions } from '#src/services/groups/groupActions.ts';
import type { GroupList } from '#src/services/groups/groupList.ts';
import { groupProgressAtom } from '#src/store/groups.ts';
import { me, peer, refused, state, type TestDeps, testDeps } from './support/deps.ts';

const carl = '00000000-0000-4000-8000-000000000003';
const groupId = '00000000-0000-4000-8000-0000000000a1';
const conversationId = `group:${groupId}`;

let deps: TestDeps;
let actions: GroupActions;
/** The calls that happened, in order. */
let steps: string[];
let memberIds: string[];
/** The KeyPackages that the devices of one person give. */
const claimOfOne =
  vi.fn<(userId: string) => Promise<{ deviceId: string; keyPackage: string; lastResort: boolean }[]>>();
const claimKeyPackages = vi.fn<Api['claimKeyPackages']>();
const createGroup = vi.fn<Api['createGroup']>();
/** Answers who wants to be asked first. */
const inviteGroupMembers = vi.fn<Api['inviteGroupMembers']>();
const deleteGroup = vi.fn<Api['deleteGroup']>();
const leaveGroup = vi.fn<Api['leaveGroup']>();
const createProofNonce = async () => ({ nonce: 'once', session: 'session', version: 1, passwordKey: true });
/** The device's signature, by the relay's nonce. */
const signedEnding = (ending: 'delete' | 'leave') => ({ nonce: 'once', signature: `signed ${ending} once` });
const startConversation = vi.fn<CryptoApi['startConversation']>();
const addMembers = vi.fn<CryptoApi['addMembers']>();
const submit = vi.fn<CommitSubmitter['submit']>();
const settle = vi.fn<CommitSubmitter['settle']>();
const catchUp = vi.fn<() => Promise<ReturnType<typeof state>>>();
const reconcile = vi.fn<GroupList['reconcile']>();

function submission(id: string, sealedName: string | null = 'c2VhbGVk'): CommitSubmission {
  return {
    conversationId: id,
    epoch: 0,
    commit: 'commit',
    welcomes: [],
    groupInfo: 'group',
    signature: 'signed',
    tree: null,
    sealedName,
    addedIds: [],
    removedIds: [],
  };
}

const step =
  <T>(name: string, value: T) =>
  async (): Promise<T> => {
    steps.push(`${name} ${deps.store.get(groupProgressAtom)?.step ?? '-'}`);
    return value;
  };

beforeEach(() => {
  steps = [];
  memberIds = [me];
  claimOfOne
    .mockReset()
    .mockImplementation(async (id) =>
      id === me ? [] : [{ deviceId: `${id}-device`, keyPackage: 'a2V5', lastResort: false }],
    );
  claimKeyPackages.mockReset().mockImplementation(async (userIds) => {
    const claimed = await Promise.all(
      userIds.map(async (userId) => (await claimOfOne(userId)).map((one) => ({ userId, ...one }))),
    );
    return claimed.flat();
  });
  inviteGroupMembers.mockReset().mockResolvedValue([]);
  createGroup.mockReset().mockImplementation(step('POST /group', { id: groupId }));
  deleteGroup.mockReset().mockImplementation(step('DELETE /group', undefined));
  leaveGroup.mockReset().mockImplementation(step('DELETE /leave', undefined));
  startConversation
    .mockReset()
    .mockImplementation(({ conversationId: id }) => step('start', submission(id))());
  addMembers.mockReset().mockImplementation(step('add', submission(conversationId)));
  submit.mockReset().mockImplementation(step('submit', { kind: 'taken' }));
  settle.mockReset().mockImplementation(step('settle', undefined));
  catchUp.mockReset().mockImplementation(async () => state());
  reconcile.mockReset().mockResolvedValue(undefined);
  deps = testDeps({
    api: {
      claimKeyPackages,
      createGroup,
      createProofNonce,
      deleteGroup,
      inviteGroupMembers,
      leaveGroup,
    },
    crypto: {
      keyPackageSuites: async () => [0xf04d],
      usableKeyPackages: async (all) => [...all],
      startConversation,
      addMembers,
      leaveStatement: step('statement', 'c2lnbmVk'),
      groupEnding: async (id, ending, nonce) => step(`sign ${ending} ${id}`, `signed ${ending} ${nonce}`)(),
      conversation: async () =>
        state({ members: memberIds.map((userId) => ({ userId, deviceIds: ['device'] })) }),
    },
  });
  actions = createGroupActions({
    deps,
    ownUserId: me,
    list: {
      forget: (id) => step(`forget ${id}`, undefined)(),
      async giveUp(id, tell) {
        await tell();
        steps.push(`given up ${id}`);
      },
      onOpened: () => undefined,
      reconcile,
    },
    sync: { catchUp },
    commitSubmitter: { submit, settle },
    openConversation: {
      openGroup: (id: Parameters<OpenConversation['openGroup']>[0]) => step(`open ${id}`, undefined)(),
    },
  });
});

const progress = () => deps.store.get(groupProgressAtom);

describe('creating a group', () => {
  it('makes the group with the other devices of its creator, and opens it', async () => {
    claimOfOne.mockResolvedValue([{ deviceId: 'phone', keyPackage: 'a2V5', lastResort: false }]);
    const id = await actions.create('  Sailing ');
    expect(startConversation).toHaveBeenCalledExactlyOnceWith({
      conversationId: `group:${id}`,
      keyPackages: [{ userId: me, deviceId: 'phone', keyPackage: 'a2V5' }],
      group: { name: 'Sailing' },
    });
    expect(createGroup).toHaveBeenCalledExactlyOnceWith({ groupId: id, sealedName: 'c2VhbGVk' });
    expect(steps).toEqual([
      'start sealing',
      'POST /group submitting',
      'submit submitting',
      `open ${id} opening`,
    ]);
    expect(reconcile).toHaveBeenCalledExactlyOnceWith(id, 1);
    expect(progress()).toBeNull();
  });

  it.each(['', '   '])('needs a name (%j)', async (name) => {
    await expect(actions.create(name)).rejects.toMatchObject({ message: 'Group name is required' });
    expect(steps).toEqual([]);
  });

  it('takes back what was made when the relay refuses it', async () => {
    createGroup.mockRejectedValue(refused('limit-reached', 'You can be in at most 500 groups.'));
    await expect(actions.create('Sailing')).rejects.toMatchObject({
      code: 'limit-reached',
      message: 'You can be in at most 500 groups.',
    });
    expect(steps.at(-1)).toMatch(/^forget /);
    expect(progress()).toBeNull();
  });

  it('leaves it to be finished later when the relay cannot be reached to take it back', async () => {
    submit.mockRejectedValue(new NetworkError('unreachable'));
    deleteGroup.mockRejectedValue(new NetworkError('unreachable'));
    await expect(actions.create('Sailing')).rejects.toMatchObject({
      message: 'Failed to create group. Please try again.',
    });
    expect(steps.some((name) => name.startsWith('forget'))).toBe(false);
  });
});

describe('adding people to a group', () => {
  it('brings all devices of a person in by one commit', async () => {
    claimOfOne.mockResolvedValue([
      { deviceId: 'laptop', keyPackage: 'b25l', lastResort: false },
      { deviceId: 'phone', keyPackage: 'dHdv', lastResort: true },
    ]);
    submit.mockImplementation(async () => {
      memberIds = [me, peer];
      return { kind: 'taken' };
    });
    await actions.add(groupId, [peer]);
    expect(addMembers).toHaveBeenCalledExactlyOnceWith({
      conversationId,
      keyPackages: [
        { userId: peer, deviceId: 'laptop', keyPackage: 'b25l' },
        { userId: peer, deviceId: 'phone', keyPackage: 'dHdv' },
      ],
    });
    expect(reconcile).toHaveBeenCalledTimes(2);
    expect(progress()).toBeNull();
  });

  it('tries again, with the same KeyPackages, when another commit was faster', async () => {
    submit.mockResolvedValueOnce({ kind: 'overtaken' }).mockImplementation(async () => {
      memberIds = [me, peer];
      return { kind: 'taken' };
    });
    await actions.add(groupId, [peer]);
    expect(addMembers).toHaveBeenCalledTimes(2);
    expect(claimOfOne).toHaveBeenCalledOnce();
  });

  it('lets an own commit go first that came in between', async () => {
    addMembers.mockRejectedValueOnce(Object.assign(new Error('pending'), { code: 'pending' }));
    submit.mockImplementation(async () => {
      memberIds = [me, peer, carl];
      return { kind: 'taken' };
    });
    await actions.add(groupId, [peer, carl]);
    expect(steps.filter((name) => name.startsWith('settle'))).toHaveLength(3);
  });

  it('adds nobody who has become a member meanwhile', async () => {
    settle.mockImplementation(async () => {
      memberIds = [me, peer];
    });
    await actions.add(groupId, [peer]);
    expect(addMembers).not.toHaveBeenCalled();
  });

  it("does not ask to try again when a person's keys have changed", async () => {
    addMembers.mockRejectedValue(Object.assign(new Error('identity-changed'), { code: 'identity-changed' }));
    await expect(actions.add(groupId, [peer])).rejects.toMatchObject({
      code: 'identity-changed',
      message: "This person's security keys have changed.",
    });
    expect(addMembers).toHaveBeenCalledOnce();
  });

  it('brings many people in by one commit, and tells how many have given their keys', async () => {
    const people = Array.from(
      { length: 60 },
      (_, i) => `00000000-0000-4000-8000-2${String(i).padStart(11, '0')}`,
    );
    const told: string[] = [];
    deps.store.sub(groupProgressAtom, () => {
      const now = progress();
      if (now?.step === 'gathering-keys') told.push(`${now.done} of ${now.total}`);
    });
    submit.mockImplementation(async () => {
      memberIds = [me, ...people];
      return { kind: 'taken' };
    });
    expect(await actions.add(groupId, people)).toEqual({ asked: [], withoutDevice: [] });
    expect(addMembers).toHaveBeenCalledOnce();
    expect(addMembers.mock.calls[0]?.[0].keyPackages.map(({ userId }) => userId)).toEqual(people);
    expect(claimKeyPackages).toHaveBeenCalledTimes(3);
    expect(told).toEqual(['0 of 60', '25 of 60', '50 of 60', '60 of 60']);
  });

  it('asks those who want to be asked first, takes no KeyPackage of theirs, and brings the others in', async () => {
    inviteGroupMembers.mockResolvedValue([carl]);
    submit.mockImplementation(async () => {
      memberIds = [me, peer];
      return { kind: 'taken' };
    });
    expect(await actions.add(groupId, [carl, peer])).toEqual({ asked: [carl], withoutDevice: [] });
    expect(inviteGroupMembers).toHaveBeenCalledExactlyOnceWith(groupId, [carl, peer]);
    expect(claimKeyPackages).toHaveBeenCalledExactlyOnceWith([peer], [0xf04d]);
    claimKeyPackages.mockClear();
    addMembers.mockClear();
    expect(await actions.add(groupId, [carl])).toEqual({ asked: [carl], withoutDevice: [] });
    expect(claimKeyPackages).not.toHaveBeenCalled();
    expect(addMembers).not.toHaveBeenCalled();
  });

  it('tells who has no device, and brings the others in', async () => {
    claimOfOne.mockImplementation(async (id) =>
      id === carl ? [] : [{ deviceId: 'phone', keyPackage: 'a2V5', lastResort: false }],
    );
    submit.mockImplementation(async () => {
      memberIds = [me, peer];
      return { kind: 'taken' };
    });
    expect(await actions.add(groupId, [carl, peer])).toEqual({ asked: [], withoutDevice: [carl] });
    expect(addMembers).toHaveBeenCalledOnce();
  });

  it('fails when nobody has a device', async () => {
    claimOfOne.mockResolvedValue([]);
    await expect(actions.add(groupId, [peer])).rejects.toMatchObject({
      code: 'no-device',
      message: 'This person has to open Sinetti first.',
    });
    expect(progress()).toBeNull();
  });

  it.each([
    ['the relay refuses it', { kind: 'refused' as const, reason: refused('not-a-contact') }, 'not-a-contact'],
    ['the commits of others always come first', { kind: 'overtaken' as const }, 'stale-epoch'],
  ])('fails when %s', async (_what, outcome, code) => {
    submit.mockResolvedValue(outcome);
    await expect(actions.add(groupId, [peer])).rejects.toMatchObject({
      code,
      message: 'Failed to add member. Please try again.',
    });
  });
});

describe('leaving a group', () => {
  it('gives the others a statement, and forgets the group', async () => {
    const onGivenUp = vi.fn<(given: { groupId: string }) => void>();
    deps.sessionEvents.on('groupGivenUp', onGivenUp);
    await actions.leave(groupId);
    expect(onGivenUp).toHaveBeenCalledExactlyOnceWith({ groupId });
    expect(steps).toEqual([
      'settle -',
      'statement -',
      `sign leave ${conversationId} -`,
      'DELETE /leave -',
      `given up ${groupId}`,
    ]);
    expect(leaveGroup).toHaveBeenCalledExactlyOnceWith(groupId, {
      ...signedEnding('leave'),
      statement: 'c2lnbmVk',
    });
  });

  it('tells the relay without a statement when this device is outside the group', async () => {
    catchUp.mockResolvedValue(state({ status: 'outside' }));
    await actions.leave(groupId);
    expect(leaveGroup).toHaveBeenCalledExactlyOnceWith(groupId, signedEnding('leave'));
  });

  it('succeeds when the relay no longer has the group', async () => {
    leaveGroup.mockRejectedValue(refused('not-found'));
    await actions.leave(groupId);
    expect(steps.at(-1)).toBe(`given up ${groupId}`);
  });

  it('fails and forgets nothing when the relay could not be told', async () => {
    leaveGroup.mockRejectedValue(new NetworkError('timeout'));
    await expect(actions.leave(groupId)).rejects.toMatchObject({
      message: 'Failed to leave group. Please try again.',
    });
    expect(steps.some((name) => name.startsWith('forget'))).toBe(false);
  });
});

describe('deleting a group', () => {
  it('forgets the group once the relay has deleted it, or never had it', async () => {
    await actions.delete(groupId);
    deleteGroup.mockRejectedValue(refused('not-found'));
    await actions.delete(groupId);
    const signed = `sign delete ${conversationId} -`;
    expect(steps).toEqual([signed, 'DELETE /group -', `given up ${groupId}`, signed, `given up ${groupId}`]);
    expect(deleteGroup).toHaveBeenCalledWith(groupId, signedEnding('delete'));
  });

  it('says so when it fails', async () => {
    deleteGroup.mockRejectedValue(new NetworkError('unreachable'));
    await expect(actions.delete(groupId)).rejects.toMatchObject({
      code: 'unreachable',
      message: 'Failed to delete group. Please try again.',
    });
  });
});

it('a group that has ended is taken out of this browser, and the relay is told nothing', async () => {
  await actions.remove(groupId);
  expect(steps).toEqual([`forget ${groupId} -`]);
});

it('a person is told when the details of a group cannot be read', async () => {
  await actions.loadDetails(groupId);
  reconcile.mockRejectedValue(refused('internal', 'Something broke.'));
  await expect(actions.loadDetails(groupId)).rejects.toMatchObject({
    code: 'internal',
    message: 'Failed to get group details',
  });
});
