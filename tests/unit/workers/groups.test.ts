import { describe, expect, it } from 'vitest';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createTrio,
  createWorld,
  DAVE,
  DAY,
  GROUP,
  people,
  textOf,
} from './support/device.ts';
import { StaleEpoch } from './support/relay.ts';

describe('a group in the worker', () => {
  it('starts with its creator alone, adds people with all their devices, and delivers messages', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const laptop = await world.device(ALICE);
    const bob = await world.device(BOB);
    const phone = await world.device(BOB);
    await alice.createGroup(GROUP, '  Skerry ');
    expect(await alice.api.conversation(GROUP)).toMatchObject({
      status: 'joined',
      epoch: 1,
      joinedSeq: 0,
      group: { name: 'Skerry', creatorId: ALICE, leavingIds: [] },
    });
    await alice.send(GROUP, 'to myself');
    await alice.add(GROUP, [BOB]);
    for (const device of [laptop, bob, phone]) await device.sync();
    await bob.send(GROUP, 'thanks');
    const all = [alice, laptop, bob, phone];
    for (const device of all) await device.sync();

    const states = await Promise.all(all.map((device) => device.api.conversation(GROUP)));
    for (const state of states) {
      expect(state).toMatchObject({ status: 'joined', epoch: 3, members: states[0]!.members });
      expect(state.group).toEqual({
        name: 'Skerry',
        creatorId: ALICE,
        leavingIds: [],
        withoutDeviceIds: [],
        unvouchedIds: [],
        removalDue: false,
        nameDue: false,
      });
    }
    expect(people(states[0]!)).toEqual([ALICE, BOB]);
    expect(states[0]!.members.map(({ deviceIds }) => deviceIds.length)).toEqual([2, 2]);
    expect((await alice.history(GROUP)).map(textOf)).toEqual(['to myself', 'thanks']);
    expect((await laptop.history(GROUP)).map(textOf)).toEqual(['to myself', 'thanks']);
    // Nobody can read messages from before they joined.
    for (const device of [bob, phone]) expect((await device.history(GROUP)).map(textOf)).toEqual(['thanks']);
  });

  it('refuses a name without 1 to 100 characters, and group calls for direct conversations', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const start = (name: string) =>
      alice.api.startConversation({ conversationId: GROUP, keyPackages: [], group: { name } });
    for (const name of ['', '  ', 'x'.repeat(101), '🛠️'.repeat(51)]) {
      await expect(start(name)).rejects.toMatchObject({ code: 'usage' });
    }
    const first = await start('\u{1F6E0}'.repeat(100));
    expect(await start('another name')).toEqual(first);
    await expect(
      alice.api.addMembers({ conversationId: ALICE_AND_BOB, keyPackages: [] }),
    ).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.leaveStatement(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.leaveStatement(GROUP)).rejects.toMatchObject({ code: 'usage' });
    expect((await alice.api.conversation(GROUP)).group?.name).toBe('\u{1F6E0}'.repeat(100));
  });

  it('seals its name anew with each commit of a member, for those who were just added', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    const sealed = () => relay.group(GROUP).name;
    expect(sealed()).toMatchObject({ epoch: 2 });
    await bob.send(GROUP, 'heals');
    expect(sealed()).toMatchObject({ epoch: 3 });
    await carol.sync();
    expect((await carol.api.conversation(GROUP)).group?.name).toBe('Skerry');

    // A name of another group or another epoch, or one that was altered, changes nothing.
    const name = sealed()!;
    for (const [sealedName, epoch] of [
      ['AAAA', 3],
      [name.sealedName, 2],
      [name.sealedName, 9],
      [`${name.sealedName.slice(0, -2)}AA`, 3],
    ] as const) {
      const { group } = await alice.api.setGroupName({ conversationId: GROUP, sealedName, epoch });
      expect(group?.name).toBe('Skerry');
    }
  });

  it("brings its name to a device that joined from outside by a member's next message", async () => {
    const { alice, bob, relay, world } = await createTrio();
    await alice.send(GROUP, 'settled');
    const phone = await world.device(BOB);
    await phone.sync();
    // Its own commits can't bring the name, since it doesn't know it.
    await phone.send(GROUP, 'what is this called?');
    await phone.sync();
    expect(await phone.api.conversation(GROUP)).toMatchObject({ status: 'joined', group: { name: null } });
    world.clock.advance(DAY);
    await phone.send(GROUP, 'tell me');
    await alice.sync();
    world.clock.advance(-DAY);
    const before = relay.log(GROUP).epoch;
    await alice.send(GROUP, 'with the name');
    expect(relay.log(GROUP).epoch).toBe(before + 1);
    await alice.send(GROUP, 'and no more commits');
    expect(relay.log(GROUP).epoch).toBe(before + 1);
    await phone.sync();
    expect((await phone.api.conversation(GROUP)).group).toEqual({
      name: 'Skerry',
      creatorId: ALICE,
      leavingIds: [],
      withoutDeviceIds: [],
      unvouchedIds: [],
      removalDue: false,
      nameDue: false,
    });
    await bob.sync();
    const settled = relay.log(GROUP).epoch;
    await alice.sync();
    await alice.send(GROUP, 'still no more');
    expect(relay.log(GROUP).epoch).toBe(settled);
    expect(people(await bob.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('seals its name at once for a device that joined from outside, without a commit', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    for (const device of [alice, bob, carol]) await device.send(GROUP, 'settled');
    for (const device of [alice, bob, carol]) await device.sync();
    expect(await alice.api.sealGroupName(GROUP)).toBeNull();
    const phone = await world.device(BOB);
    await phone.sync();
    expect((await phone.api.conversation(GROUP)).group).toMatchObject({
      name: null,
      unvouchedIds: [],
      removalDue: false,
      nameDue: false,
    });
    expect(await phone.api.sealGroupName(GROUP)).toBeNull();
    await alice.sync();
    await carol.sync();
    expect((await alice.api.conversation(GROUP)).group?.nameDue).toBe(true);

    const sealed = await alice.api.sealGroupName(GROUP);
    expect(sealed?.epoch).toBe(relay.log(GROUP).epoch);
    relay.group(GROUP).name = sealed;
    // Only the name itself in this epoch settles what was due.
    const { group: unmoved } = await carol.api.setGroupName({
      conversationId: GROUP,
      sealedName: 'AAAA',
      epoch: sealed!.epoch,
    });
    expect(unmoved?.nameDue).toBe(true);
    for (const device of [alice, carol, phone]) await device.refreshGroup(GROUP);
    for (const device of [alice, carol, phone]) {
      expect((await device.api.conversation(GROUP)).group).toMatchObject({
        name: 'Skerry',
        unvouchedIds: [],
        removalDue: false,
        nameDue: false,
      });
    }
    const { epoch } = relay.log(GROUP);
    await alice.send(GROUP, 'no commit for the name');
    expect(relay.log(GROUP).epoch).toBe(epoch);
  });

  it('tells each device since when it can read', async () => {
    const { alice, bob, relay } = await createTrio();
    const [start, adding] = relay.entries(GROUP);
    expect(await alice.api.conversation(GROUP)).toMatchObject({ joinedSeq: 0, joinedAt: start!.timestamp });
    expect(await bob.api.conversation(GROUP)).toMatchObject({ joinedSeq: 2, joinedAt: null });
    const { state } = await bob.api.processEntries(GROUP, [adding!]);
    expect(state).toMatchObject({ joinedSeq: 2, joinedAt: adding!.timestamp });
  });

  it('lets a member who was away for 200 commits catch up', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    for (let round = 0; round < 100; round++) {
      world.clock.advance(DAY);
      await alice.send(GROUP, `alice ${round}`);
      await bob.send(GROUP, `bob ${round}`);
    }
    expect(relay.log(GROUP).epoch).toBeGreaterThan(200);
    const read = await carol.sync();
    expect(read.map(textOf)).toEqual(
      Array.from({ length: 100 }, (_, round) => [`alice ${round}`, `bob ${round}`]).flat(),
    );
    await carol.send(GROUP, 'back');
    for (const device of [alice, bob]) expect((await device.sync()).map(textOf)).toContain('back');
  });
});

describe('adding members to a group', () => {
  it('refuses to add people for anybody but the creator, and adds own devices for everybody', async () => {
    const { alice, bob, relay, world } = await createTrio();
    await world.device(DAVE);
    const dave = relay.claim([DAVE], '');
    await expect(bob.api.addMembers({ conversationId: GROUP, keyPackages: dave })).rejects.toMatchObject({
      code: 'policy',
    });
    expect(await bob.api.nextCommit(GROUP)).toBeNull();

    const phone = await world.device(BOB);
    const own = relay.claim([BOB], bob.deviceId);
    const submission = await bob.api.addMembers({ conversationId: GROUP, keyPackages: own });
    expect(submission).toMatchObject({ addedIds: [], removedIds: [] });
    relay.submit(bob, submission);
    for (const device of [alice, bob, phone]) await device.sync();
    expect(await phone.api.conversation(GROUP)).toMatchObject({
      status: 'joined',
      group: { name: 'Skerry' },
    });
    expect(await alice.api.conversation(GROUP)).toMatchObject({ status: 'joined', epoch: 3 });
  });

  it('answers the pending commit until the log shows it, and a new one only after that', async () => {
    const { alice, relay, world } = await createTrio();
    await world.device(DAVE);
    const dave = relay.claim([DAVE], '');
    const add = (keyPackages = dave) => alice.api.addMembers({ conversationId: GROUP, keyPackages });
    const submission = await add();
    expect(submission).toMatchObject({ addedIds: [DAVE], removedIds: [], sealedName: expect.any(String) });
    expect(await add()).toEqual(submission);
    expect(await alice.api.nextCommit(GROUP)).toEqual(submission);
    await expect(add([])).rejects.toMatchObject({ code: 'pending' });
    await expect(alice.api.leaveStatement(GROUP)).rejects.toMatchObject({ code: 'pending' });
    // The tab is gone between the relay's answer and its own write: the log brings it in.
    relay.submit(alice, submission);
    const tab = await alice.openTab();
    await tab.sync();
    expect(people(await tab.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL, DAVE]);
    expect(await tab.api.nextCommit(GROUP)).toBeNull();
    await expect(add()).rejects.toMatchObject({ code: 'usage' });
  });

  it('drops a pending commit that the relay never takes', async () => {
    const { alice, relay, world } = await createTrio();
    await world.device(DAVE);
    await alice.api.addMembers({ conversationId: GROUP, keyPackages: relay.claim([DAVE], '') });
    const messageId = await alice.queue(GROUP, 'behind it');
    expect(await alice.api.prepareMessage(messageId)).toMatchObject({ kind: 'commit' });
    expect(await alice.api.discardCommit(GROUP)).toMatchObject({ status: 'joined', epoch: 2 });
    await alice.flush(messageId);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
  });

  it('creates another commit when one of somebody else came first', async () => {
    const { alice, bob, relay, world } = await createTrio();
    const dave = await world.device(DAVE);
    const late = await alice.api.addMembers({
      conversationId: GROUP,
      keyPackages: relay.claim([DAVE], ''),
    });
    await bob.send(GROUP, 'heals first');
    expect(() => relay.submit(alice, late)).toThrow(StaleEpoch);
    await alice.sync();
    expect(await alice.api.nextCommit(GROUP)).toBeNull();
    await alice.add(GROUP, [DAVE]);
    await dave.sync();
    await dave.send(GROUP, 'in');
    expect((await alice.sync()).map(textOf)).toEqual(['in']);
  });
});

describe('forgetting a conversation', () => {
  it('erases keys and messages, and lets a group be joined anew although a tab has it cached', async () => {
    const { alice, bob, relay } = await createTrio();
    const stale = await bob.openTab();
    await bob.send(GROUP, 'one');
    await stale.sync();
    await bob.queue(GROUP, 'never sent');
    await bob.leave(GROUP);
    expect(await bob.api.outbox()).toEqual([]);
    expect(await bob.api.conversation(GROUP)).toMatchObject({
      status: 'outside',
      lastSeq: 0,
      members: [],
      group: null,
      lastMessage: null,
    });
    await alice.sync();
    await alice.add(GROUP, [BOB]);
    await bob.sync();
    await bob.send(GROUP, 'again');
    await stale.send(GROUP, 'from the other tab');
    await stale.sync();
    expect((await alice.sync()).map(textOf)).toEqual(['again', 'from the other tab']);
    expect((await bob.history(GROUP)).map(textOf)).toEqual(['again', 'from the other tab']);
    expect(relay.log(GROUP).epoch).toBe((await stale.api.conversation(GROUP)).epoch);
  });

  it('lets no tab use its cached keys after the group was joined again, however often', async () => {
    for (let sends = 0; sends < 8; sends++) {
      const { alice, bob } = await createTrio();
      const stale = await bob.openTab();
      for (let i = 0; i < 4; i++) await stale.send(GROUP, `before ${i}`);
      await bob.leave(GROUP);
      await alice.sync();
      await alice.add(GROUP, [BOB]);
      await bob.sync();
      for (let i = 0; i < sends; i++) await bob.send(GROUP, `again ${i}`);
      await alice.sync();
      await stale.send(GROUP, 'from the other tab');
      expect((await alice.sync()).map(textOf)).toEqual(['from the other tab']);
    }
  });
});
