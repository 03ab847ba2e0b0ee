import { encodeLeaveStatements, groupBindingExtension, peekMessage } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import type { ConversationState } from '../../../workers/api.ts';
import { toBase64Url } from '../../../workers/base64url.ts';
import {
  ALICE,
  BOB,
  CAROL,
  createTrio,
  createWorld,
  DAVE,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { decode, Rogue } from './support/rogue.ts';

const people = ({ members }: ConversationState) => members.map(({ userId }) => userId).sort();
const bound = (creatorId: string) => [groupBindingExtension({ creatorId })];

/** Alice's group with Carol, and with Bob, whose client keeps none of the rules. */
async function createTrioWithRogue() {
  const world = createWorld();
  const { relay } = world;
  const alice = await world.device(ALICE);
  const carol = await world.device(CAROL);
  const bob = await Rogue.create(relay, BOB, 'bob');
  bob.publish();
  await alice.createGroup(GROUP, 'Skerry', [BOB, CAROL]);
  bob.join();
  await carol.sync();
  await alice.send(GROUP, 'before');
  for (const device of [alice, carol]) await device.sync();
  return { world, relay, alice, bob, carol };
}
type Trio = Awaited<ReturnType<typeof createTrioWithRogue>>;

/** What the relay has for a device, without any attempt to come back. */
async function readOn(device: TestDevice) {
  const { lastSeq } = await device.api.conversation(GROUP);
  return device.api.processEntries(GROUP, device.relay.entries(GROUP, lastSeq));
}

/** Both honest ones refuse Bob's last commit, and say nothing into the epoch it started. */
async function expectRefused({ alice, carol, bob }: Trio, refusal: string, reason: string) {
  bob.say(GROUP, 'unheard');
  for (const device of [alice, carol]) {
    const before = await device.api.conversation(GROUP);
    const { messages, state } = await readOn(device);
    expect(state).toMatchObject({ status: 'forked', refusal, epoch: before.epoch });
    expect(people(state)).toEqual([ALICE, BOB, CAROL]);
    expect(messages.map(textOf)).toEqual([`(${reason})`]);
    const messageId = await device.queue(GROUP, 'waits');
    expect(await device.api.prepareMessage(messageId)).toEqual({ kind: 'outside' });
    await device.api.discardMessage(messageId);
  }
}

/** The creator comes back and puts the group right; then so does everybody else. */
async function expectRepaired({ alice, carol, relay }: Trio) {
  await alice.sync();
  const messageId = await alice.queue(GROUP, 'going on');
  const prepared = await alice.api.prepareMessage(messageId);
  if (prepared.kind !== 'commit') throw new Error(prepared.kind);
  expect(await alice.api.nextCommit(GROUP)).toEqual(prepared.submission);
  await alice.flush(messageId);
  await carol.sync();
  await alice.send(GROUP, 'together again');
  expect((await carol.sync()).map(textOf)).toContain('together again');
  await carol.send(GROUP, 'indeed');
  expect((await alice.sync()).map(textOf)).toContain('indeed');
  for (const device of [alice, carol]) {
    const state = await device.api.conversation(GROUP);
    expect(state).toMatchObject({ status: 'joined', epoch: relay.log(GROUP).epoch });
    expect(state).not.toHaveProperty('refusal');
    expect(people(state)).toEqual([ALICE, BOB, CAROL]);
  }
}

describe('a commit that no member of a group follows', () => {
  it('adds a stranger: nobody comes back until the creator has taken the stranger out', async () => {
    const trio = await createTrioWithRogue();
    const { bob, carol, relay } = trio;
    const dave = await Rogue.create(relay, DAVE, 'dave');
    bob.commit(GROUP, { adds: [dave] });
    await expectRefused(trio, 'policy', 'rules');
    await expect(carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
  });

  it('adds another device of a member: refused, and no reason to stay away', async () => {
    const trio = await createTrioWithRogue();
    const { alice, carol, bob, relay } = trio;
    const phone = await Rogue.ofPerson(relay, CAROL);
    bob.commit(GROUP, { adds: [phone] });
    await expectRefused(trio, 'policy', 'rules');
    await carol.sync();
    await alice.sync();
    await alice.send(GROUP, 'all the same');
    expect((await carol.sync()).map(textOf)).toEqual(['all the same']);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('comes from outside, by somebody who is no member', async () => {
    const trio = await createTrioWithRogue();
    const dave = await Rogue.create(trio.relay, DAVE, 'dave');
    trio.relay.group(GROUP).members.add(DAVE);
    dave.joinFromOutside(GROUP);
    await expectRefused({ ...trio, bob: dave }, 'policy', 'rules');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
  });

  it('brings a device in the name of a member whom another account key certified', async () => {
    const trio = await createTrioWithRogue();
    const impostor = await Rogue.create(trio.relay, CAROL, 'not carol');
    trio.bob.commit(GROUP, { adds: [impostor] });
    await expectRefused(trio, 'identity-changed', 'unknown-device');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'identity-changed' });
    await expectRepaired(trio);
  });

  it('brings a device without a certificate that holds, by the creator’s own rights too', async () => {
    const trio = await createTrioWithRogue();
    const phone = await Rogue.create(trio.relay, BOB, 'bob');
    phone.forgeCertificate();
    trio.bob.commit(GROUP, { adds: [phone] });
    await expectRefused(trio, 'invalid-credential', 'unknown-device');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({
      code: 'invalid-credential',
    });
    await expectRepaired(trio);
  });

  it('brings a device whose credential is no certificate at all', async () => {
    const trio = await createTrioWithRogue();
    const phone = await Rogue.create(trio.relay, BOB, 'bob');
    phone.forgeCertificate(new Uint8Array([1, 2, 3]));
    trio.bob.commit(GROUP, { adds: [phone] });
    await expectRefused(trio, 'invalid-credential', 'unknown-device');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({
      code: 'invalid-credential',
    });
    await expectRepaired(trio);
  });

  it.each<[string, (trio: Trio) => Uint8Array | undefined | Promise<Uint8Array>]>([
    ['without a word of hers', () => undefined],
    ['with a word that is not hers', ({ bob }) => encodeLeaveStatements([decode(bob.leaveStatement())])],
    [
      'with a word about another group of the same person',
      ({ bob }) => encodeLeaveStatements([decode(bob.leaveStatement({ groupId: new Uint8Array(40) }))]),
    ],
    ['with something that is no word', () => new Uint8Array([9, 9])],
    [
      'with her word about another group',
      async ({ carol, alice }) => {
        const other = 'group:88888888-0000-4000-8000-000000000008';
        await alice.createGroup(other, 'Other', [CAROL]);
        await carol.sync();
        return encodeLeaveStatements([decode(await carol.leaveStatement(other))]);
      },
    ],
  ])('removes Carol %s', async (_how, statementsOf) => {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol } = trio;
    bob.commit(GROUP, {});
    for (const device of [alice, carol]) await device.sync();
    const authenticatedData = await statementsOf(trio);
    bob.commit(GROUP, { removes: [carol.deviceId], ...(authenticatedData && { authenticatedData }) });
    await expectRefused(trio, 'policy', 'rules');
    // She is out of the tree, and can't tell who would let her in: the creator adds her again.
    await expect(carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await alice.sync();
    await alice.add(GROUP, [CAROL]);
    await carol.sync();
    await carol.send(GROUP, 'back');
    expect((await alice.sync()).map(textOf)).toEqual(['back']);
  });

  it('leaves a device of somebody who left', async () => {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol, relay, world } = trio;
    const phone = await world.device(CAROL);
    await phone.sync();
    await carol.sync();
    await alice.sync();
    bob.follow(relay.entries(GROUP).at(-1)!.content);
    const word = decode(await phone.api.leaveStatement(GROUP));
    bob.commit(GROUP, { removes: [phone.deviceId], authenticatedData: encodeLeaveStatements([word]) });
    expect((await readOn(alice)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
    expect((await readOn(carol)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
  });

  it.each([
    ['names another creator', bound(BOB)],
    ['names no creator', []],
    ['names a creator that can’t be read', [{ type: 0xf0a1, data: new Uint8Array([1]) }]],
  ])('%s', async (_what, extensions) => {
    const trio = await createTrioWithRogue();
    trio.bob.commit(GROUP, { extensions });
    await expectRefused(trio, 'policy', 'rules');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
    for (const device of [trio.alice, trio.carol]) {
      expect((await device.api.conversation(GROUP)).group?.creatorId).toBe(ALICE);
    }
  });

  it('is none of ours: the relay’s invention, or an old one put in its place', async () => {
    for (const content of ['AAAA', null]) {
      const trio = await createTrioWithRogue();
      const { alice, bob, carol, relay } = trio;
      const old = relay.entries(GROUP)[1]!.content;
      relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: content ?? old });
      for (const device of [alice, carol]) {
        const { state } = await readOn(device);
        expect(state.status).toBe('forked');
        await device.sync();
        expect(await device.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
      }
      await alice.sync();
      await carol.send(GROUP, 'none the worse');
      expect((await alice.sync()).map(textOf)).toContain('none the worse');
    }
  });

  it('is a repetition of an earlier one: nothing happens', async () => {
    const { alice, bob, carol, relay } = await createTrioWithRogue();
    const { epoch, content, id } = relay.entries(GROUP)[1]!;
    relay.append(bob, GROUP, { kind: 'commit', epoch, content, id });
    await alice.send(GROUP, 'unmoved');
    expect((await carol.sync()).map(textOf)).toEqual(['unmoved']);
  });

  it('is withheld: what comes after it is missed, and asked for by its number', async () => {
    const { alice, carol, relay, world } = await createTrioWithRogue();
    world.clock.advance(24 * 60 * 60 * 1000);
    await alice.send(GROUP, 'after a commit');
    const { lastSeq } = await carol.api.conversation(GROUP);
    const [, message] = relay.entries(GROUP, lastSeq);
    await expect(carol.api.processEntries(GROUP, [message!])).rejects.toMatchObject({
      code: 'gap',
      detail: String(lastSeq + 1),
    });
    expect((await carol.sync()).map(textOf)).toEqual(['after a commit']);
  });
});

describe('somebody whose adding was refused', () => {
  it.each([
    ['while everybody is there', true],
    ['while one was away', false],
  ])('is a member like any other once the creator has added them, %s', async (_when, carolIsThere) => {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol, relay } = trio;
    const dave = await Rogue.create(relay, DAVE, 'dave');
    dave.publish();
    bob.commit(GROUP, { adds: [dave] });
    await expectRefused(trio, 'policy', 'rules');
    if (carolIsThere) await expectRepaired(trio);
    else await alice.sync();
    await alice.add(GROUP, [DAVE]);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL, DAVE]);
    expect(await alice.api.nextCommit(GROUP)).toBeNull();
    dave.join();
    await carol.sync();
    for (const entry of relay.entries(GROUP, (await alice.api.conversation(GROUP)).lastSeq)) {
      dave.follow(entry.content);
    }
    // Dave's own commit is the last word about the tree, when the relay makes Carol come back once more.
    dave.commit(GROUP, {});
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await readOn(carol)).state.status).toBe('forked');
    await carol.sync();
    const state = await carol.api.conversation(GROUP);
    expect(state.status).toBe('joined');
    expect(people(state)).toEqual([ALICE, BOB, CAROL, DAVE]);
  });
});

describe("the creator's other device", () => {
  it.each([
    ['that was there', true],
    ['that was away', false],
  ])('%s removes nobody whom the first one has added since', async (_which, laptopIsThere) => {
    const trio = await createTrioWithRogue();
    const { alice, bob, relay, world } = trio;
    const laptop = await world.device(ALICE);
    await laptop.sync();
    await trio.carol.sync();
    await alice.sync();
    bob.follow(relay.entries(GROUP).at(-1)!.content);
    const dave = await Rogue.create(relay, DAVE, 'dave');
    dave.publish();
    bob.commit(GROUP, { adds: [dave] });
    for (const device of [alice, laptop]) {
      expect((await readOn(device)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
    }
    await alice.sync();
    if (laptopIsThere) await laptop.sync();
    await alice.sync();
    await alice.send(GROUP, 'put right');
    if (laptopIsThere) await laptop.sync();
    await alice.sync();
    await alice.add(GROUP, [DAVE]);
    await laptop.sync();
    expect(await laptop.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(people(await laptop.api.conversation(GROUP))).toContain(DAVE);
    expect(await laptop.api.nextCommit(GROUP)).toBeNull();
  });
});

describe('a word of leaving', () => {
  it('counts in its own group and epoch only, signed by the leaf that it names', async () => {
    const { alice, bob, carol } = await createTrioWithRogue();
    bob.commit(GROUP, {});
    for (const device of [alice, carol]) await device.sync();
    const { epoch } = await alice.api.conversation(GROUP);
    const departed = async (statement: string) =>
      (await alice.api.setDeparted(GROUP, [{ userId: BOB, statement }])).group?.departedIds;
    expect(await departed(bob.leaveStatement({ groupId: new TextEncoder().encode('group:other') }))).toEqual(
      [],
    );
    expect(await departed(bob.leaveStatement({ epoch: BigInt(epoch + 1) }))).toEqual([]);
    expect(await departed(bob.leaveStatement({ deviceId: carol.deviceId, userId: CAROL }))).toEqual([]);
    expect(await departed(bob.leaveStatement({ leafRef: new Uint8Array(32) }))).toEqual([]);
    expect(await departed(bob.leaveStatement())).toEqual([BOB]);
  });
});

describe('an invitation', () => {
  async function invite(from: Rogue, creatorId: string, others: string[] = []) {
    const { relay } = from;
    const claimed = relay.claim([CAROL], '').map(({ keyPackage }) => keyPackage);
    const { welcome } = from.found(GROUP, [...claimed, ...others], bound(creatorId));
    return { conversationId: GROUP, epoch: 1, seq: 1, welcome };
  }

  it('is followed when the creator or one’s own device made it, and from nobody else', async () => {
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

  it('to the group one was in before is refused from another creator', async () => {
    const { alice, carol, relay } = await createTrioWithRogue();
    const mallory = await Rogue.create(relay, DAVE, 'dave');
    const { lastSeq } = await carol.api.conversation(GROUP);
    relay.append(mallory, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    await readOn(carol);
    const input = { ...(await invite(mallory, DAVE)), seq: lastSeq + 5 };
    await expect(carol.api.joinByWelcome(input)).rejects.toMatchObject({ code: 'policy' });
    expect(await carol.api.conversation(GROUP)).toMatchObject({
      status: 'forked',
      group: { creatorId: ALICE },
    });
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });
});

describe('a group info for a new device', () => {
  const offer = (device: TestDevice, epoch: number, groupInfo: string) =>
    device.api.joinByExternalCommit({ conversationId: GROUP, epoch, groupInfo });

  it('is refused when it is forged, of another group or epoch, or of a group that one is not in', async () => {
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
  it('is not believed: the members are those of the tree', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    relay.group(GROUP).members.delete(BOB);
    relay.group(GROUP).members.add(DAVE);
    await alice.send(GROUP, 'to whom?');
    await carol.sync();
    for (const device of [alice, carol]) {
      expect(people(await device.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
      const { group } = await device.api.setDeparted(GROUP, [
        { userId: BOB, statement: toBase64Url(new Uint8Array(200)) },
      ]);
      expect(group?.departedIds).toEqual([]);
      expect(await device.api.nextCommit(GROUP)).toBeNull();
    }
    relay.group(GROUP).members.add(BOB);
    expect((await bob.sync()).map(textOf)).toEqual(['to whom?']);
  });
});
