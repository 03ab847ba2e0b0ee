import { createProposal } from '@sinetti/crypto-core';
import { encodeRemovalGrounds, signDeviceRevocation } from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import { seededRandom } from './support/browser.ts';
import { ALICE, BOB, CAROL, DAVE, GROUP, people, textOf } from './support/device.ts';
import { decode, Rogue } from './support/rogue.ts';
import { bound, createTrioWithRogue, processLogOn, type Trio } from './support/rogueTrio.ts';

/** Expects that both honest members refuse Bob's last commit, and send nothing in the epoch that it started. */
async function expectRefused({ alice, carol, bob }: Trio, refusal: string, reason: string) {
  bob.say(GROUP, 'unheard');
  for (const device of [alice, carol]) {
    const before = await device.api.conversation(GROUP);
    const { messages, state } = await processLogOn(device);
    expect(state).toMatchObject({ status: 'forked', refusal, epoch: before.epoch });
    expect(people(state)).toEqual([ALICE, BOB, CAROL]);
    expect(messages.map(textOf)).toEqual([`(${reason})`]);
    const messageId = await device.queue(GROUP, 'waits');
    expect(await device.api.prepareMessage(messageId)).toEqual({ kind: 'outside' });
    await device.api.discardMessage(messageId);
  }
}

/** Expects that the creator rejoins and repairs the group, and that everybody else rejoins then. */
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

describe('a hostile commit in a group', () => {
  it('refuses a commit that adds a stranger, and rejoins once the creator has removed them', async () => {
    const trio = await createTrioWithRogue();
    const { bob, carol, relay } = trio;
    const dave = await Rogue.create(relay, DAVE, 'dave');
    bob.commit(GROUP, { adds: [dave] });
    await expectRefused(trio, 'policy', 'rules');
    await expect(carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
  });

  it('refuses a commit that adds another device of a member, and rejoins at once', async () => {
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

  it('refuses an external commit of somebody who is no member', async () => {
    const trio = await createTrioWithRogue();
    const dave = await Rogue.create(trio.relay, DAVE, 'dave');
    trio.relay.group(GROUP).members.add(DAVE);
    dave.joinFromOutside(GROUP);
    await expectRefused({ ...trio, bob: dave }, 'policy', 'rules');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
  });

  it('refuses a commit that adds a device of a member under another account key', async () => {
    const trio = await createTrioWithRogue();
    const impostor = await Rogue.create(trio.relay, CAROL, 'not carol');
    trio.bob.commit(GROUP, { adds: [impostor] });
    await expectRefused(trio, 'identity-changed', 'unknown-device');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'identity-changed' });
    await expectRepaired(trio);
  });

  it.each<[string, (phone: Rogue) => void]>([
    ['whose certificate has a broken signature', (phone) => phone.forgeCertificate()],
    ['whose credential is no certificate', (phone) => phone.forgeCertificate(new Uint8Array([1, 2, 3]))],
    ['with another key than its certificate certifies', (phone) => phone.swapKey()],
  ])('refuses a commit that adds a device %s', async (_how, change) => {
    const trio = await createTrioWithRogue();
    const phone = await Rogue.create(trio.relay, BOB, 'bob');
    change(phone);
    trio.bob.commit(GROUP, { adds: [phone] });
    await expectRefused(trio, 'invalid-credential', 'unknown-device');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({
      code: 'invalid-credential',
    });
    await expectRepaired(trio);
  });

  it.each<[string, (trio: Trio) => Uint8Array | undefined | Promise<Uint8Array>]>([
    ['without a leave statement', () => undefined],
    [
      'with the leave statement of somebody else',
      ({ bob }) => encodeRemovalGrounds({ departures: [decode(bob.leaveStatement())], revocations: [] }),
    ],
    [
      'with a leave statement of somebody else for another group',
      ({ bob }) =>
        encodeRemovalGrounds({
          departures: [decode(bob.leaveStatement({ groupId: new Uint8Array(40) }))],
          revocations: [],
        }),
    ],
    ['with grounds that can’t be read', () => new Uint8Array([9, 9])],
    [
      'with her leave statement for another group',
      async ({ carol, alice }) => {
        const other = 'group:88888888-0000-4000-8000-000000000008';
        await alice.createGroup(other, 'Other', [CAROL]);
        await carol.sync();
        return encodeRemovalGrounds({
          departures: [decode(await carol.leaveStatement(other))],
          revocations: [],
        });
      },
    ],
  ])('refuses a commit that removes a member %s', async (_how, statementsOf) => {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol } = trio;
    bob.commit(GROUP, {});
    for (const device of [alice, carol]) await device.sync();
    const authenticatedData = await statementsOf(trio);
    bob.commit(GROUP, { removes: [carol.deviceId], ...(authenticatedData && { authenticatedData }) });
    await expectRefused(trio, 'policy', 'rules');
    // Carol is out of the tree and can't join from outside, so the creator adds her again.
    await expect(carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await alice.sync();
    await alice.add(GROUP, [CAROL]);
    await carol.sync();
    await carol.send(GROUP, 'back');
    expect((await alice.sync()).map(textOf)).toEqual(['back']);
  });

  it('refuses a commit that leaves a device of somebody who left in the tree', async () => {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol, relay, world } = trio;
    const phone = await world.device(CAROL);
    await phone.sync();
    await carol.sync();
    await alice.sync();
    bob.follow(relay.entries(GROUP).at(-1)!.content);
    const statement = decode(await phone.api.leaveStatement(GROUP));
    bob.commit(GROUP, {
      removes: [phone.deviceId],
      authenticatedData: encodeRemovalGrounds({ departures: [statement], revocations: [] }),
    });
    expect((await processLogOn(alice)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
    expect((await processLogOn(carol)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
  });

  it.each([
    ['names another creator', bound(BOB)],
    ['names no creator', []],
    ['names a creator that can’t be read', [{ type: 0xf0a1, data: new Uint8Array([1]) }]],
  ])('refuses a commit that %s', async (_what, extensions) => {
    const trio = await createTrioWithRogue();
    trio.bob.commit(GROUP, { extensions });
    await expectRefused(trio, 'policy', 'rules');
    await expect(trio.carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await expectRepaired(trio);
    for (const device of [trio.alice, trio.carol]) {
      expect((await device.api.conversation(GROUP)).group?.creatorId).toBe(ALICE);
    }
  });

  it('refuses a commit that refers to a proposal, since members send none, and goes on at once', async () => {
    const trio = await createTrioWithRogue();
    const { alice, carol, bob } = trio;
    const { extensions } = bob.group.context;
    const env = { random: seededRandom('proposal'), now: () => 0 };
    const { proposal } = createProposal(bob.group, { type: 'group-context-extensions', extensions }, env);
    bob.commit(GROUP, { proposals: [proposal] });
    await expectRefused(trio, 'missing-proposal', 'rules');
    await carol.sync();
    await alice.sync();
    await alice.send(GROUP, 'by value');
    expect((await carol.sync()).map(textOf)).toEqual(['by value']);
  });

  it('refuses a commit that ends the group, and goes on in it at once', async () => {
    const trio = await createTrioWithRogue();
    const { alice, carol, bob } = trio;
    bob.commit(GROUP, { reInit: { groupId: new Uint8Array(40), suite: 0x0003, extensions: [] } });
    await expectRefused(trio, 'policy', 'rules');
    await carol.sync();
    await alice.sync();
    await alice.send(GROUP, 'not so soon');
    expect((await carol.sync()).map(textOf)).toEqual(['not so soon']);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('refuses a commit that the relay invented or took from an earlier epoch', async () => {
    for (const content of ['AAAA', null]) {
      const trio = await createTrioWithRogue();
      const { alice, bob, carol, relay } = trio;
      const old = relay.entries(GROUP)[1]!.content;
      relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: content ?? old });
      for (const device of [alice, carol]) {
        const { state } = await processLogOn(device);
        expect(state.status).toBe('forked');
        await device.sync();
        expect(await device.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
      }
      await alice.sync();
      await carol.send(GROUP, 'none the worse');
      expect((await alice.sync()).map(textOf)).toContain('none the worse');
    }
  });

  it('is the end of a group for everybody where its GroupInfo is none either', async () => {
    const { alice, bob, carol } = await createTrioWithRogue();
    bob.commitNothing(GROUP);
    for (const device of [alice, carol]) {
      expect((await processLogOn(device)).state.status).toBe('forked');
      await expect(device.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'unsupported' });
      expect((await device.history(GROUP)).map(textOf)).toEqual(['before']);
    }
  });

  it('ignores a commit that repeats an earlier one', async () => {
    const { alice, bob, carol, relay } = await createTrioWithRogue();
    const { epoch, content, id } = relay.entries(GROUP)[1]!;
    relay.append(bob, GROUP, { kind: 'commit', epoch, content, id });
    await alice.send(GROUP, 'unmoved');
    expect((await carol.sync()).map(textOf)).toEqual(['unmoved']);
  });

  it('names the position of a commit that the relay withholds', async () => {
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
    // Dave signs the newest tree, when the relay makes Carol rejoin once more.
    dave.commit(GROUP, {});
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await processLogOn(carol)).state.status).toBe('forked');
    await carol.sync();
    const state = await carol.api.conversation(GROUP);
    expect(state.status).toBe('joined');
    expect(people(state)).toEqual([ALICE, BOB, CAROL, DAVE]);
  });
});

describe('somebody whom the creator has not added', () => {
  /** Bob has added Dave against the rules, and the creator has come back to take him out. */
  async function withStranger(change: (dave: Rogue) => void = () => {}) {
    const trio = await createTrioWithRogue();
    const dave = await Rogue.create(trio.relay, DAVE, 'dave');
    change(dave);
    trio.relay.group(GROUP).members.add(DAVE);
    trio.bob.commit(GROUP, { adds: [dave] });
    await processLogOn(trio.alice);
    await trio.alice.syncOne(GROUP);
    expect(people(await trio.alice.api.conversation(GROUP))).toContain(DAVE);
    return { ...trio, dave };
  }

  it('is taken out although they have added a device of their own meanwhile', async () => {
    const { alice, dave, relay } = await withStranger();
    dave.joinFromOutside(GROUP);
    dave.commit(GROUP, { adds: [await Rogue.create(relay, DAVE, 'dave')] });
    await alice.syncOne(GROUP);
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('is taken out although the creator had to come back once more, into the tree of their own', async () => {
    const { alice, bob, relay } = await withStranger();
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await processLogOn(alice)).state.status).toBe('forked');
    await alice.syncOne(GROUP);
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('is added by nobody with an invalid certificate in the creator’s name', async () => {
    const { alice, bob, relay } = await createTrioWithRogue();
    const impostor = await Rogue.create(relay, ALICE, 'not alice');
    bob.commit(GROUP, { adds: [impostor] });
    await processLogOn(alice);
    await alice.syncOne(GROUP);
    impostor.joinFromOutside(GROUP);
    expect((await processLogOn(alice)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
    await alice.syncOne(GROUP);
    // A commit that only adds may leave the leaf of who makes it as it is.
    impostor.follow(relay.entries(GROUP).at(-1)!.content);
    impostor.commit(GROUP, { adds: [await Rogue.create(relay, DAVE, 'dave')], forcePath: false });
    expect((await processLogOn(alice)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
    await alice.syncOne(GROUP);
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    const { members } = await alice.api.conversation(GROUP);
    expect(members.flatMap(({ deviceIds }) => deviceIds)).not.toContain(impostor.deviceId);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it.each([
    ['a certificate of theirs', () => {}],
    ['an invalid one', (dave: Rogue) => dave.forgeCertificate()],
  ])('is no member without a device once theirs is revoked, with %s', async (_which, change) => {
    const { alice, dave } = await withStranger(change);
    const { deviceId } = dave;
    const signed = signDeviceRevocation(seededRandom('dave')(32), { userId: DAVE, deviceId });
    const statement = Buffer.from(signed).toString('base64url');
    await alice.api.setRevoked([{ userId: DAVE, deviceId, statement }]);
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    const { group, members } = await alice.api.conversation(GROUP);
    expect(members.map(({ userId }) => userId).sort()).toEqual([ALICE, BOB, CAROL]);
    expect(group?.withoutDeviceIds).toEqual([]);
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
      expect((await processLogOn(device)).state).toMatchObject({ status: 'forked', refusal: 'policy' });
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
