import { describe, expect, it, onTestFinished } from 'vitest';
import { limits as relayLimits } from '#relay/contract/limits.ts';
import type { CommitSubmission } from '#workers/api/cryptoApi.ts';
import { limits } from '#workers/codec/limits.ts';
import { absentDevices } from './support/absentDevices.ts';
import { ALICE, BOB, CAROL, createWorld, GROUP, textOf } from './support/device.ts';

const PEOPLE = 250;

/** Returns the bytes on the wire of each part of a commit. */
function sizesOf({ commit, welcomes, groupInfo, tree }: CommitSubmission) {
  const bytes = (wire: string) => Math.floor((wire.length * 3) / 4);
  const parts = tree?.parts.map(bytes) ?? [];
  return {
    commit: bytes(commit),
    welcome: bytes(welcomes[0]?.welcome ?? ''),
    groupInfo: bytes(groupInfo),
    tree: parts.reduce((sum, size) => sum + size, 0),
    largestPart: Math.max(0, ...parts),
    /** As bytes, with what is around the Welcomes. */
    up:
      bytes(commit) +
      bytes(groupInfo) +
      welcomes.reduce((sum, { deviceIds, welcome }) => sum + bytes(welcome) + 40 * deviceIds.length, 0) +
      parts.reduce((sum, size) => sum + size, 0),
  };
}

describe(`a large group, of ${PEOPLE} people with ${2 * PEOPLE} devices`, () => {
  it('is created, extended and used within the limits of the relay', async () => {
    const measured: Record<string, unknown> = {};
    const timed = async <T>(name: string, body: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      const result = await body();
      measured[`${name}, ms`] = Math.round(performance.now() - start);
      return result;
    };
    const within = (name: string, submission: CommitSubmission): CommitSubmission => {
      const sizes = sizesOf(submission);
      measured[name] = sizes;
      expect(sizes.commit).toBeLessThan(relayLimits.commitMax);
      expect(sizes.welcome).toBeLessThan(relayLimits.welcomeMax);
      // None has the tree in it.
      expect(sizes.groupInfo).toBeLessThan(2000);
      expect(sizes.tree).toBeGreaterThan(0);
      expect(sizes.largestPart).toBeLessThanOrEqual(relayLimits.treeNodesPerRequest);
      return submission;
    };

    const world = createWorld();
    const { relay } = world;
    const alice = await world.device(ALICE);
    const laptop = await world.device(ALICE);
    const bob = await world.device(BOB);
    const carol = await world.device(CAROL);
    const others = absentDevices(2 * PEOPLE - 4);
    const keyPackages = [...relay.claim([ALICE, BOB], alice.deviceId), ...others];
    relay.createGroup(GROUP, ALICE);
    const started = await timed('create', () =>
      alice.api.startConversation({ conversationId: GROUP, keyPackages, group: { name: 'Everybody' } }),
    );
    relay.submit(alice, within('create', started));
    await timed('enter what was created', () => alice.syncOne(GROUP));
    await timed('join by Welcome', () => bob.syncOne(GROUP));
    await laptop.syncOne(GROUP);

    const messageId = await bob.queue(GROUP, 'hello everybody');
    const healing = await timed('first commit', () => bob.api.prepareMessage(messageId));
    if (healing.kind !== 'commit') throw new Error(healing.kind);
    relay.submit(bob, within('first commit', healing.submission));
    // A path to nearly each device: in the largest group it has to fit as well.
    const perDevice = sizesOf(healing.submission).commit / (2 * PEOPLE - 1);
    expect(perDevice).toBeGreaterThan(1120);
    expect(perDevice * 2 ** relayLimits.treeLevels).toBeLessThan(relayLimits.commitMax);
    await bob.syncOne(GROUP);
    await timed('process a commit', () => alice.syncOne(GROUP));
    await timed('send', () => bob.flush(messageId));
    expect((await timed('receive', () => alice.syncOne(GROUP))).map(textOf)).toEqual(['hello everybody']);

    const added = await timed('add one', () =>
      alice.api.addMembers({ conversationId: GROUP, keyPackages: relay.claim([CAROL], '') }),
    );
    relay.submit(alice, within('add one', added));
    expect(sizesOf(added).up).toBeLessThan(20_000);
    await alice.syncOne(GROUP);
    await carol.syncOne(GROUP);
    const tab = await timed('open', () => bob.openTab());
    await timed('read on after opening', () => tab.syncOne(GROUP));
    const phone = await world.device(BOB);
    await timed('join from outside', () => phone.syncOne(GROUP));
    const { members } = await phone.api.conversation(GROUP);
    expect(members).toHaveLength(PEOPLE + 1);
    expect(members.flatMap(({ deviceIds }) => deviceIds)).toHaveLength(2 * PEOPLE + 1);
    process.stdout.write(`${JSON.stringify(measured, null, 1)}\n`);
  });

  it('refuses more devices at once than a commit may carry', async () => {
    const { commit } = limits;
    onTestFinished(() => void Object.assign(limits, { commit }));
    Object.assign(limits, { commit: 2 ** 20 });
    const alice = await createWorld().device(ALICE);
    const start = (count: number) =>
      alice.api.startConversation({
        conversationId: GROUP,
        keyPackages: absentDevices(count),
        group: { name: 'Everybody and more' },
      });
    await expect(start(400)).rejects.toMatchObject({ code: 'usage', detail: 'too many devices at once' });
    expect(await alice.api.conversation(GROUP)).toMatchObject({ status: 'outside' });
  });

  it('has the same limits in the worker as at the relay', () => {
    const { commitMax, welcomeMax, groupInfoMax, keyPackageMax, sealedNameMax, leaveStatementMax } =
      relayLimits;
    expect(limits.treeNodes).toBe(relayLimits.treeNodesPerRequest);
    expect(limits).toMatchObject({
      commit: commitMax,
      welcome: welcomeMax,
      groupInfo: groupInfoMax,
      keyPackage: keyPackageMax,
      sealedName: sealedNameMax,
      leaveStatement: leaveStatementMax,
    });
  });
});
