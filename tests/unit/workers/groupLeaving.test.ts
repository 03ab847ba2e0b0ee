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
import { NotAMember } from './support/relay.ts';
import { decode, Rogue } from './support/rogue.ts';

describe('leaving a group', () => {
  it('makes the next commit remove all leaves of the person before any message is sent', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    const phone = await world.device(BOB);
    await phone.sync();
    await bob.send(GROUP, 'Bob is here');
    await alice.sync();
    await alice.send(GROUP, 'with Bob');
    await bob.sync();
    const written = await alice.queue(GROUP, 'without Bob');
    // This message is encrypted before the statement is known, and not sent any more afterwards.
    expect(await alice.api.prepareMessage(written)).toMatchObject({ kind: 'message' });
    await bob.leave(GROUP);
    expect(await bob.api.conversations()).toEqual([]);
    expect(await bob.history(GROUP)).toEqual([]);

    await alice.refreshGroup(GROUP);
    expect((await alice.api.conversation(GROUP)).group?.leavingIds).toEqual([BOB]);
    const next = await alice.api.prepareMessage(written);
    if (next.kind !== 'commit') throw new Error(next.kind);
    expect(next.submission).toMatchObject({ removedIds: [BOB], addedIds: [] });
    expect(await alice.api.nextCommit(GROUP)).toEqual(next.submission);
    await alice.flush(written);
    expect((await carol.sync()).map(textOf)).toEqual(['Bob is here', 'with Bob', 'without Bob']);
    for (const device of [alice, carol]) {
      const state = await device.api.conversation(GROUP);
      expect(people(state)).toEqual([ALICE, CAROL]);
      expect(state.group?.leavingIds).toEqual([]);
    }
    expect(relay.leaveStatements(GROUP)).toEqual([]);
    expect(() => relay.submit(phone, next.submission)).toThrow(NotAMember);

    // The person's other device, which nobody told, finds itself outside and can read none of it.
    const { joinedSeq } = await phone.api.conversation(GROUP);
    const since = relay.entries(GROUP, joinedSeq);
    const { messages, state } = await phone.api.processEntries(GROUP, since);
    expect(messages.map(textOf)).toEqual(['Bob is here', 'with Bob']);
    expect(state).toMatchObject({ status: 'outside', members: [] });
  });

  it('is signed for the relay by members, and deleting by the creator, each by none of the other', async () => {
    const { alice, bob, world } = await createTrio();
    const nonce = 'A'.repeat(43);
    const signatures = await Promise.all([
      alice.api.groupEnding(GROUP, 'delete', nonce),
      bob.api.groupEnding(GROUP, 'leave', nonce),
    ]);
    for (const signature of signatures) expect(decode(signature)).toHaveLength(64);
    await expect(alice.api.groupEnding(GROUP, 'leave', nonce)).rejects.toMatchObject({ code: 'policy' });
    await expect(bob.api.groupEnding(GROUP, 'delete', nonce)).rejects.toMatchObject({ code: 'policy' });
    // A device without the group's keys can't tell, and the relay knows.
    const phone = await world.device(ALICE);
    expect(decode(await phone.api.groupEnding(GROUP, 'delete', nonce))).toHaveLength(64);
    for (const [id, ending] of [
      [ALICE_AND_BOB, 'leave'],
      [GROUP, 'rename'],
      ['group:x', 'leave'],
    ] as const) {
      await expect(bob.api.groupEnding(id, ending as 'leave', nonce)).rejects.toMatchObject({
        code: 'usage',
      });
    }
    await expect(bob.api.groupEnding(GROUP, 'leave', 'AAAA')).rejects.toMatchObject({ code: 'usage' });
  });

  it('lets a member commit the removal at once, without a message to send', async () => {
    const { bob, carol, relay } = await createTrio();
    await bob.leave(GROUP);
    await carol.sync();
    const submission = await carol.api.nextCommit(GROUP);
    expect(submission).toMatchObject({ removedIds: [BOB] });
    relay.submit(carol, submission!);
    await carol.sync();
    expect(await carol.api.nextCommit(GROUP)).toBeNull();
  });

  it('ignores the old leave statement once the person was added again', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    const statement = await bob.leave(GROUP);
    await alice.sync();
    await alice.add(GROUP, [BOB]);
    await bob.sync();
    expect(await bob.api.conversation(GROUP)).toMatchObject({ status: 'joined', group: { name: 'Skerry' } });
    await bob.send(GROUP, 'back');
    expect((await alice.sync()).map(textOf)).toContain('back');
    await carol.sync();
    for (const device of [alice, carol]) {
      const { group } = await device.api.setLeaveStatements(GROUP, [{ userId: BOB, statement }]);
      expect(group?.leavingIds).toEqual([]);
      expect(people(await device.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL]);
    }
    expect(relay.group(GROUP).members.has(BOB)).toBe(true);
  });

  it("makes the person's other device accept only their own present statement", async () => {
    const { alice, bob, carol, world } = await createTrio();
    const phone = await world.device(BOB);
    await phone.sync();
    for (const device of [alice, bob, carol]) await device.sync();
    const carols = await carol.leaveStatement(GROUP);
    await bob.sync();
    // The phone doesn't process the commit that goes before this statement.
    const bobs = await bob.leave(GROUP);
    expect(await phone.api.hasLeft(GROUP, bobs)).toBe(true);
    for (const forged of [carols, 'AAAA', `${bobs.slice(0, -4)}AAAA`]) {
      expect(await phone.api.hasLeft(GROUP, forged)).toBe(false);
    }
    expect(await carol.api.hasLeft(GROUP, bobs)).toBe(false);
    expect((await phone.api.conversation(GROUP)).status).toBe('joined');

    await alice.sync();
    await alice.add(GROUP, [BOB]);
    await bob.sync();
    await phone.sync();
    expect(await phone.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(await phone.api.hasLeft(GROUP, bobs)).toBe(false);
  });

  it('goes into one commit with adding the person again, whose other device did not forget', async () => {
    const { alice, bob, relay, world } = await createTrio();
    const phone = await world.device(BOB);
    await phone.sync();
    await bob.leave(GROUP);
    await alice.sync();
    const keyPackages = relay.claim([BOB], '');
    relay.submit(alice, await alice.api.addMembers({ conversationId: GROUP, keyPackages }));
    const { lastSeq } = await phone.api.conversation(GROUP);
    const { state } = await phone.api.processEntries(GROUP, relay.entries(GROUP, lastSeq));
    expect(state.status).toBe('outside');
    const [welcome] = relay.mailbox(phone.deviceId);
    expect(await phone.api.joinByWelcome(welcome!)).toMatchObject({ status: 'joined' });
    await alice.sync();
    await phone.send(GROUP, 'back at once');
    expect((await alice.sync()).map(textOf)).toEqual(['back at once']);
  });

  it('goes into one commit with adding the same person and others', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    const dave = await world.device(DAVE);
    await bob.leave(GROUP);
    await alice.sync();
    const keyPackages = relay.claim([DAVE, BOB], '');
    const submission = await alice.api.addMembers({ conversationId: GROUP, keyPackages });
    expect(submission.removedIds).toEqual([BOB]);
    expect([...submission.addedIds].sort()).toEqual([BOB, DAVE]);
    relay.submit(alice, submission);
    for (const device of [alice, bob, carol, dave]) await device.sync();
    expect(people(await carol.api.conversation(GROUP))).toEqual([ALICE, BOB, CAROL, DAVE]);
    await bob.send(GROUP, 'back at once');
    expect((await dave.sync()).map(textOf)).toEqual(['back at once']);
  });

  it('ignores a leave statement for other people, from another group, or of this person', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    const other = 'group:88888888-0000-4000-8000-000000000008';
    await bob.createGroup(other, 'Other', [ALICE]);
    await alice.sync();
    const [bobs, elsewhere, own] = [
      await bob.leaveStatement(GROUP),
      await bob.leaveStatement(other),
      await alice.leaveStatement(GROUP),
    ];
    await alice.sync();
    const claims = [
      [CAROL, bobs],
      [BOB, elsewhere],
      [BOB, own],
      [ALICE, own],
      [BOB, 'AAAA'],
      [BOB, `${bobs.slice(0, -4)}AAAA`],
      [DAVE, bobs],
    ] as const;
    for (const [userId, statement] of claims) {
      const { group } = await alice.api.setLeaveStatements(GROUP, [{ userId, statement }]);
      expect(group?.leavingIds).toEqual([]);
    }
    expect(await alice.api.nextCommit(GROUP)).toBeNull();
    // A statement that nobody has acted on becomes invalid with the next commit of its device.
    world.clock.advance(DAY);
    await bob.send(GROUP, 'stays');
    await alice.sync();
    const { group } = await alice.api.setLeaveStatements(GROUP, [{ userId: BOB, statement: bobs }]);
    expect(group?.leavingIds).toEqual([]);
    await carol.sync();
    expect(relay.log(GROUP).epoch).toBe((await carol.api.conversation(GROUP)).epoch);
  });

  it('keeps later messages from the person who left, whatever keys they kept', async () => {
    const world = createWorld();
    const alice = await world.device(ALICE);
    const carol = await world.device(CAROL);
    const bob = await Rogue.create(world.relay, BOB, 'bob');
    bob.publish();
    await alice.createGroup(GROUP, 'Skerry', [BOB, CAROL]);
    bob.join();
    await carol.sync();
    await alice.send(GROUP, 'while he is here');
    const before = world.relay.entries(GROUP).at(-1)!;
    expect(bob.open(before.content).text).toContain('while he is here');

    bob.commit(GROUP, {});
    world.relay.leave(GROUP, BOB, bob.leaveStatement());
    await alice.sync();
    await alice.send(GROUP, 'when he is gone');
    const [removal, after] = world.relay.entries(GROUP).slice(-2);
    expect(() => bob.open(after!.content)).toThrow('wrong-epoch');
    expect(bob.follow(removal!.content).selfRemoved).toBe(true);
    expect(() => bob.open(after!.content)).toThrow('removed');
    expect((await carol.sync()).map(textOf)).toEqual(['while he is here', 'when he is gone']);
  });
});
