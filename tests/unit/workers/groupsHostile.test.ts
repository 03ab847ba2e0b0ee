import { createKeyPackage, peekMessage } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { leafOptions } from '#workers/identity/leafOptions.ts';
import { seededRandom } from './support/browser.ts';
import {
  ALICE,
  BOB,
  CAROL,
  createTrio,
  createWorld,
  DAVE,
  GROUP,
  people,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { decode, Rogue } from './support/rogue.ts';
import { bound, createTrioWithRogue, processLogOn } from './support/rogueTrio.ts';

describe('a leave statement', () => {
  it('accepts a leave statement only for its group, a known epoch and the leaf that signed it', async () => {
    const { alice, bob, carol } = await createTrioWithRogue();
    bob.commit(GROUP, {});
    for (const device of [alice, carol]) await device.sync();
    const { epoch } = await alice.api.conversation(GROUP);
    const leavingAfter = async (statement: string) =>
      (await alice.api.setLeaveStatements(GROUP, [{ userId: BOB, statement }])).group?.leavingIds;
    expect(
      await leavingAfter(bob.leaveStatement({ groupId: new TextEncoder().encode('group:other') })),
    ).toEqual([]);
    expect(await leavingAfter(bob.leaveStatement({ epoch: BigInt(epoch + 1) }))).toEqual([]);
    expect(await leavingAfter(bob.leaveStatement({ deviceId: carol.deviceId, userId: CAROL }))).toEqual([]);
    expect(await leavingAfter(bob.leaveStatement({ leafRef: new Uint8Array(32) }))).toEqual([]);
    expect(await leavingAfter(bob.leaveStatement())).toEqual([BOB]);
  });
});

describe('a Welcome', () => {
  async function invite(from: Rogue, creatorId: string, others: string[] = [], epoch = 1) {
    const { relay } = from;
    const claimed = relay.claim([CAROL], '').map(({ keyPackage }) => keyPackage);
    const { welcome } = from.found(GROUP, [...claimed, ...others], bound(creatorId), epoch);
    return { conversationId: GROUP, epoch, seq: 1, welcome };
  }

  it('accepts a Welcome from the creator or the person’s own device, and from nobody else', async () => {
    const world = createWorld();
    const carol = await world.device(CAROL);
    const bob = await Rogue.create(world.relay, BOB, 'bob');
    const alice = await Rogue.create(world.relay, ALICE, 'alice');
    const join = async (input: Awaited<ReturnType<typeof invite>>) => carol.api.joinByWelcome(input);
    await expect(join(await invite(bob, ALICE))).rejects.toMatchObject({ code: 'policy' });
    const withCreator = await invite(bob, ALICE, [toBase64Url(alice.bundle.bytes)]);
    await expect(join(withCreator)).rejects.toMatchObject({ code: 'policy' });
    const claimed = world.relay.claim([CAROL], '').map(({ keyPackage }) => keyPackage);
    const { welcome } = bob.found(GROUP, claimed);
    await expect(join({ conversationId: GROUP, epoch: 1, seq: 1, welcome })).rejects.toMatchObject({
      code: 'policy',
    });
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'outside', group: null });
    expect(await join(await invite(alice, ALICE))).toMatchObject({
      status: 'joined',
      group: { name: null, creatorId: ALICE },
    });
  });

  it('refuses a Welcome that names another creator than the group had before', async () => {
    const { alice, carol, relay } = await createTrioWithRogue();
    const mallory = await Rogue.create(relay, DAVE, 'dave');
    const { lastSeq } = await carol.api.conversation(GROUP);
    relay.append(mallory, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    await processLogOn(carol);
    const input = { ...(await invite(mallory, DAVE)), seq: lastSeq + 5 };
    await expect(carol.api.joinByWelcome(input)).rejects.toMatchObject({ code: 'policy' });
    expect(await carol.api.conversation(GROUP)).toMatchObject({
      status: 'forked',
      group: { creatorId: ALICE },
    });
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('refuses a Welcome to a later epoch for a member if it is not from the creator', async () => {
    const { carol, relay } = await createTrioWithRogue();
    const mallory = await Rogue.create(relay, DAVE, 'dave');
    const before = await carol.api.conversation(GROUP);
    for (const claimedCreator of [DAVE, ALICE]) {
      const input = await invite(mallory, claimedCreator, [], before.epoch + 1);
      await expect(carol.api.joinByWelcome({ ...input, seq: before.lastSeq + 5 })).rejects.toMatchObject({
        code: 'policy',
      });
    }
    expect(await carol.api.conversation(GROUP)).toEqual(before);
  });
});

describe('a GroupInfo for a new device', () => {
  const offer = (device: TestDevice, epoch: number, groupInfo: string) =>
    device.api.joinByExternalCommit({ conversationId: GROUP, epoch, groupInfo });

  it('refuses a GroupInfo that is forged, of another group or epoch, or without the person', async () => {
    const { bob, relay, world } = await createTrioWithRogue();
    const phone = await world.device(CAROL);
    const { epoch, groupInfo } = relay.log(GROUP);
    const bytes = decode(groupInfo);
    for (const at of [40, bytes.length >> 1, bytes.length - 1]) {
      const altered = bytes.slice();
      altered[at]! ^= 1;
      await expect(offer(phone, epoch, toBase64Url(altered))).rejects.toMatchObject({
        code: expect.stringMatching(
          /^(bad-signature|malformed|unsupported|invalid-tree|invalid-leaf|wrong-group)$/,
        ),
      });
    }
    await expect(offer(phone, epoch + 1, groupInfo)).rejects.toMatchObject({ code: 'wrong-epoch' });

    const strangers = bob.found(
      GROUP,
      [toBase64Url((await Rogue.create(relay, DAVE, 'dave')).bundle.bytes)],
      bound(ALICE),
    );
    await expect(offer(phone, 1, strangers.groupInfo)).rejects.toMatchObject({ code: 'policy' });
    const carols = () => relay.claim([CAROL], phone.deviceId).map(({ keyPackage }) => keyPackage);
    const unbound = bob.found(GROUP, carols());
    await expect(offer(phone, 1, unbound.groupInfo)).rejects.toMatchObject({ code: 'policy' });
    const elsewhere = bob.found('group:88888888-0000-4000-8000-000000000008', carols(), bound(ALICE));
    await expect(offer(phone, 1, elsewhere.groupInfo)).rejects.toMatchObject({ code: 'wrong-group' });
    expect(await phone.api.conversation(GROUP)).toMatchObject({ status: 'outside', group: null });
    expect(peekMessage(bytes)).toEqual({ wireFormat: 'group-info' });
    await phone.sync();
    expect(await phone.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
  });
});

describe('a relay that lies about who is in a group', () => {
  it('shows the members of the tree, whoever the relay says is in the group', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    relay.group(GROUP).members.delete(BOB);
    relay.group(GROUP).members.add(DAVE);
    await alice.send(GROUP, 'to whom?');
    await carol.sync();
    for (const device of [alice, carol]) {
      expect(people(await device.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
      const { group } = await device.api.setLeaveStatements(GROUP, [
        { userId: BOB, statement: toBase64Url(new Uint8Array(200)) },
      ]);
      expect(group?.leavingIds).toEqual([]);
      expect(await device.api.nextCommit(GROUP)).toBeNull();
    }
    relay.group(GROUP).members.add(BOB);
    expect((await bob.sync()).map(textOf)).toEqual(['to whom?']);
  });
});

describe('a person whose KeyPackages no group can use', () => {
  it.each([0x0003, 0x004d] as const)('of suite %i, is in none, and keeps nobody else out', async (suite) => {
    const { alice, carol, relay } = await createTrio();
    const dave = await Rogue.create(relay, DAVE, 'dave');
    const { credential, signatureKey: publicKey } = dave.bundle.keyPackage.leafNode;
    const now = BigInt(Date.UTC(2026, 2, 1) / 1000);
    dave.bundle = createKeyPackage(
      {
        suite,
        credential,
        signatureKey: { privateKey: dave.signatureKey, publicKey },
        leaf: leafOptions,
        lifetime: { notBefore: now - 86_400n, notAfter: now + 86_400n },
      },
      { random: seededRandom('dave'), now: () => Date.UTC(2026, 2, 1) },
    );
    dave.publish();
    await expect(alice.add(GROUP, [DAVE])).rejects.toMatchObject({ code: 'invalid-key-package' });
    await alice.send(GROUP, 'without him');
    expect((await carol.sync()).map(textOf)).toEqual(['without him']);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });
});
