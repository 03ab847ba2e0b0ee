import { applicationIdExtension } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import { limits as relayLimits } from '#relay/contract/index.ts';
import { parseTreeNodes } from '#relay/src/messaging/treeNodes.ts';
import type { CommitSubmission } from '#workers/api/cryptoApi.ts';
import { limits } from '#workers/codec/limits.ts';
import { leafOptions } from '#workers/identity/leafOptions.ts';
import { absentDevices } from './support/absentDevices.ts';
import { ALICE, BOB, CAROL, createWorld, DAY, GROUP, type TestDevice, textOf } from './support/device.ts';
import { createTrioWithRogue, processLogOn } from './support/rogueTrio.ts';

/** A group of Alice and Bob with so many devices more that its tree goes beside. */
async function largeGroup() {
  const world = createWorld();
  const { relay } = world;
  const alice = await world.device(ALICE);
  const bob = await world.device(BOB);
  relay.createGroup(GROUP, ALICE);
  const absent = absentDevices(limits.devicesWithTreeInside);
  const keyPackages = [...relay.claim([BOB], ''), ...absent];
  const group = { name: 'Many' };
  const started = await alice.api.startConversation({ conversationId: GROUP, keyPackages, group });
  relay.submit(alice, started);
  await alice.syncOne(GROUP);
  return { world, relay, alice, bob, started };
}

const addCarol = async (relay: Awaited<ReturnType<typeof largeGroup>>['relay'], alice: TestDevice) =>
  alice.api.addMembers({ conversationId: GROUP, keyPackages: relay.claim([CAROL], '') });
const sizeOf = ({ groupInfo, tree }: CommitSubmission) => ({
  groupInfo: groupInfo.length,
  nodes: tree?.parts.join('').length ?? null,
});
const joinBy = (device: TestDevice, tree: string | null) => {
  const [item] = device.relay.mailbox(device.deviceId);
  if (item === undefined) throw new Error('no Welcome');
  return device.api.joinByWelcome({ ...item, tree });
};
const missing = { code: 'missing-tree' };

describe('the tree of a group', () => {
  it('goes beside from a number of devices on, and is inside before', async () => {
    const { relay, device } = createWorld();
    const alice = await device(ALICE);
    relay.createGroup(GROUP, ALICE);
    const start = { conversationId: GROUP, keyPackages: [], group: { name: 'Few' } };
    relay.submit(alice, await alice.api.startConversation(start));
    await alice.syncOne(GROUP);
    const absent = absentDevices(limits.devicesWithTreeInside);
    const few = await alice.api.addMembers({
      conversationId: GROUP,
      keyPackages: absent.slice(0, limits.devicesWithTreeInside - 2),
    });
    expect(few.tree).toBeNull();
    expect(few.welcomes).toHaveLength(1);
    relay.submit(alice, few);
    await alice.syncOne(GROUP);

    const many = await alice.api.addMembers({ conversationId: GROUP, keyPackages: absent.slice(-2) });
    expect(sizeOf(many).groupInfo).toBeLessThan(2500);
    // The relay has nothing of it yet: all of it goes along.
    expect(many.tree?.parts).toEqual(await alice.api.pendingTree(GROUP));
    relay.submit(alice, many);
    await alice.syncOne(GROUP);
    const laptop = await device(ALICE);
    await laptop.syncOne(GROUP);
    await laptop.send(GROUP, 'from outside');
    expect((await alice.syncOne(GROUP)).map(textOf)).toEqual(['from outside']);
  });

  it('travels with a commit as far as it changes, and with a Welcome for each person', async () => {
    const { alice, bob, relay, started, world } = await largeGroup();
    await world.device(CAROL);
    const people = new Set(started.welcomes.map(({ deviceIds }) => deviceIds.length));
    expect(people).toEqual(new Set([1, 2]));
    expect(started.welcomes.flatMap(({ deviceIds }) => deviceIds)).toHaveLength(
      1 + limits.devicesWithTreeInside,
    );
    await bob.syncOne(GROUP);
    const added = await addCarol(relay, alice);
    expect(sizeOf(added).nodes).toBeLessThan((sizeOf(started).nodes ?? 0) / 3);
    relay.submit(alice, added);
    await alice.syncOne(GROUP);
    expect(await alice.api.pendingTree(GROUP)).toEqual([]);
  });

  it('that is withheld or damaged lets nobody in, uses nothing up, and says so', async () => {
    const { alice, bob, relay, world } = await largeGroup();
    const [item] = relay.mailbox(bob.deviceId);
    const tree = relay.tree(GROUP, item?.treeHash) ?? '';
    const flipped = (at: number) => {
      const bytes = Buffer.from(tree, 'base64url');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes.toString('base64url');
    };
    const cut = Buffer.from(tree, 'base64url').subarray(0, -9).toString('base64url');
    for (const wrong of [null, '', cut, flipped(0), flipped(100), flipped(20_000)]) {
      await expect(joinBy(bob, wrong)).rejects.toMatchObject(missing);
    }
    const { epoch, groupInfo } = relay.log(GROUP);
    const laptop = await world.device(BOB);
    await expect(
      laptop.api.joinByExternalCommit({ conversationId: GROUP, epoch, groupInfo, tree: null }),
    ).rejects.toMatchObject(missing);
    expect(await joinBy(bob, tree)).toMatchObject({ status: 'joined' });
    await bob.send(GROUP, 'here all the same');
    expect((await alice.syncOne(GROUP)).map(textOf)).toEqual(['here all the same']);
  });

  it('that the relay has lost comes back with the next commit of any member', async () => {
    const { alice, relay, world } = await largeGroup();
    relay.log(GROUP).treeNodes.clear();
    const carol = await world.device(CAROL);
    const added = await addCarol(relay, alice);
    expect(() => relay.submit(alice, added)).toThrow(expect.objectContaining(missing));
    // A tab that was closed meanwhile knows as much.
    const tab = await alice.openTab();
    expect(await tab.api.nextCommit(GROUP)).toEqual(added);
    for (const part of await tab.api.pendingTree(GROUP)) relay.putTreeNodes(GROUP, part);
    relay.submit(alice, added);
    await carol.syncOne(GROUP);
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
  });
});

describe('a leaf that is larger than the relay keeps', () => {
  it('keeps a large group from changing', async () => {
    const { alice, bob, relay } = await createTrioWithRogue();
    const extension = applicationIdExtension(new Uint8Array(relayLimits.treeNodeMax));
    bob.commit(GROUP, { leaf: { ...leafOptions, extensions: [extension] } });
    expect((await processLogOn(alice)).state.status).toBe('joined');
    const keyPackages = absentDevices(limits.devicesWithTreeInside);
    const { tree } = await alice.api.addMembers({ conversationId: GROUP, keyPackages });
    const taken = tree?.parts.map((part) => parseTreeNodes(Buffer.from(part, 'base64url')));
    expect(taken).toContain(null);
    expect(relay.log(GROUP).treeNodes.size).toBe(0);
  });
});

describe('a commit that only adds', () => {
  it('has no path where that is to many keys, and leaves the renewal of the leaf to the next message', async () => {
    const { alice, relay, world } = await largeGroup();
    await world.device(CAROL);
    world.clock.advance(DAY);
    const added = await addCarol(relay, alice);
    expect(added.commit.length).toBeLessThan(6000);
    relay.submit(alice, added);
    await alice.syncOne(GROUP);
    const message = await alice.queue(GROUP, 'renewed first');
    const healing = await alice.api.prepareMessage(message);
    if (healing.kind !== 'commit') throw new Error(healing.kind);
    expect(healing.submission.commit.length).toBeGreaterThan(20_000);
  });

  it('has one where it is to few, which renews the leaf', async () => {
    const { clock, relay, device } = createWorld();
    const alice = await device(ALICE);
    const bob = await device(BOB);
    await device(CAROL);
    relay.createGroup(GROUP, ALICE);
    const keyPackages = relay.claim([BOB], '');
    relay.submit(
      alice,
      await alice.api.startConversation({ conversationId: GROUP, keyPackages, group: { name: 'Few' } }),
    );
    await alice.syncOne(GROUP);
    await bob.syncOne(GROUP);
    clock.advance(DAY);
    relay.submit(alice, await addCarol(relay, alice));
    await alice.syncOne(GROUP);
    const message = await alice.queue(GROUP, 'no commit before it');
    expect(await alice.api.prepareMessage(message)).toMatchObject({ kind: 'message' });
  });
});
