import { describe, expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, createTrio, GROUP, people, textOf } from './support/device.ts';
import {
  accept,
  devicesIn,
  NEW_PASSWORD,
  rejoin,
  revocationsOf,
  robbed,
  trustIn,
} from './support/movingOn.ts';

describe('a contact of somebody who has moved on', () => {
  it('waits at the changed key, reads all that came after it once it is accepted, and loses the verified mark', async () => {
    const { alice, bob } = await robbed();
    await bob.mark(ALICE, true);
    const body = await alice.moveOn(NEW_PASSWORD);
    await rejoin(alice, ALICE_AND_BOB);
    await alice.send(ALICE_AND_BOB, 'I had to move on');
    await bob.api.setRevoked(revocationsOf(ALICE, body));
    expect((await bob.sync()).map(textOf)).toEqual([]);
    expect(await bob.api.conversation(ALICE_AND_BOB)).toMatchObject({
      status: 'joined',
      refusal: 'identity-changed',
    });
    const waiting = await bob.queue(ALICE_AND_BOB, 'is it you?');
    await expect(bob.api.prepareMessage(waiting)).rejects.toMatchObject({ code: 'identity-changed' });
    expect(await bob.api.nextCommit(ALICE_AND_BOB)).toBeNull();
    expect(await trustIn(bob, ALICE)).toMatchObject({ keyOffered: true });

    await accept(bob, ALICE);
    expect((await bob.sync()).map(textOf)).toEqual(['I had to move on']);
    expect(await trustIn(bob, ALICE)).toMatchObject({ keyOffered: false, verifiedAt: null });
    await alice.sync();
    await bob.flush(waiting);
    expect((await alice.sync()).map(textOf)).toEqual(['is it you?']);
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual([
      'before the theft',
      'a reply',
      'I had to move on',
    ]);
    expect(await devicesIn(bob, ALICE_AND_BOB, ALICE)).toEqual([alice.deviceId]);
  });

  it('goes on where the former devices were taken out before', async () => {
    const { alice, bob } = await robbed();
    const body = await alice.moveOn(NEW_PASSWORD);
    await bob.api.setRevoked(revocationsOf(ALICE, body));
    bob.submit((await bob.api.nextCommit(ALICE_AND_BOB))!);
    await bob.sync();
    expect(people(await bob.api.conversation(ALICE_AND_BOB))).toEqual([BOB]);
    await rejoin(alice, ALICE_AND_BOB);
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'there you are');
    expect((await alice.sync()).map(textOf)).toEqual(['there you are']);
  });

  it('takes the former devices out itself where the person had no time to', async () => {
    const { alice, bob } = await robbed();
    await alice.moveOn(NEW_PASSWORD);
    // In from outside, and then away: their own former leaves are still in the tree.
    await alice.syncOne(ALICE_AND_BOB);
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    expect(await bob.api.hasFormerDevices(ALICE_AND_BOB)).toBe(true);
    bob.submit((await bob.api.nextCommit(ALICE_AND_BOB))!);
    await bob.sync();
    expect(await devicesIn(bob, ALICE_AND_BOB, ALICE)).toEqual([alice.deviceId]);
    await bob.send(ALICE_AND_BOB, 'only for you');
    expect((await alice.sync()).map(textOf)).toEqual(['only for you']);
  });

  it('may refuse the key, which takes this conversation apart', async () => {
    const { alice, bob } = await robbed();
    await alice.moveOn(NEW_PASSWORD);
    await rejoin(alice, ALICE_AND_BOB);
    await bob.sync();
    await bob.api.refuseAccountKey(ALICE, (await bob.api.safetyNumbers(ALICE)).offered!);
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    const { state } = await bob.api.processEntries(ALICE_AND_BOB, bob.relay.entries(ALICE_AND_BOB, lastSeq));
    expect(state).toMatchObject({ status: 'forked', refusal: 'identity-changed' });
    // The person may still change their mind.
    await expect(bob.joinByExternalCommit(ALICE_AND_BOB)).rejects.toMatchObject({ code: 'identity-changed' });
    await accept(bob, ALICE);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'after all');
    expect((await alice.sync()).map(textOf)).toEqual(['after all']);
  });
});

describe('a group of somebody who has moved on', () => {
  it.each([
    ['a member', BOB],
    ['its creator', ALICE],
  ])('goes on for everybody once they have accepted the key of %s', async (_, moverId) => {
    const { alice, bob, carol } = await createTrio();
    const mover = moverId === ALICE ? alice : bob;
    const others = [alice, bob, carol].filter((device) => device !== mover);
    const body = await mover.moveOn(NEW_PASSWORD);
    await rejoin(mover, GROUP);
    await mover.send(GROUP, 'I had to move on');
    for (const device of others) {
      await device.api.setRevoked(revocationsOf(moverId, body));
      expect((await device.sync()).map(textOf)).toEqual([]);
      expect(await device.api.conversation(GROUP)).toMatchObject({ refusal: 'identity-changed' });
    }
    for (const device of others) {
      await accept(device, moverId);
      expect((await device.sync()).map(textOf)).toEqual(['I had to move on']);
      expect(await devicesIn(device, GROUP, moverId)).toEqual([mover.deviceId]);
    }
    for (const device of [alice, bob, carol]) {
      await device.send(GROUP, `from ${device.userId}`);
      await Promise.all([alice, bob, carol].filter((one) => one !== device).map((one) => one.sync()));
    }
    expect((await mover.history(GROUP)).map(textOf)).toEqual([
      'I had to move on',
      ...[alice, bob, carol].map(({ userId }) => `from ${userId}`),
    ]);
  });

  it('has the creator come back by themselves where their last leaf was taken out', async () => {
    const { alice, bob, carol } = await createTrio();
    const body = await alice.moveOn(NEW_PASSWORD);
    await bob.api.setRevoked(revocationsOf(ALICE, body));
    await bob.send(GROUP, 'without her');
    await rejoin(alice, GROUP);
    for (const device of [bob, carol]) {
      await device.sync();
      await accept(device, ALICE);
      await device.sync();
    }
    await alice.send(GROUP, 'here I am');
    expect((await carol.sync()).map(textOf)).toEqual(['here I am']);
    expect((await bob.sync()).map(textOf)).toEqual(['here I am']);
  });

  it('has the creator add a member again whose last leaf was taken out', async () => {
    const { alice, bob, carol } = await createTrio();
    const body = await bob.moveOn(NEW_PASSWORD);
    await carol.api.setRevoked(revocationsOf(BOB, body));
    await carol.send(GROUP, 'without him');
    await alice.sync();
    await expect(bob.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    await alice.api.observeDevices(BOB, [(await bob.api.openDevice()).certificate]);
    await accept(alice, BOB);
    await alice.add(GROUP, [BOB]);
    await alice.send(GROUP, 'he is back');
    await carol.sync();
    expect(await carol.api.conversation(GROUP)).toMatchObject({ refusal: 'identity-changed' });
    await accept(carol, BOB);
    expect((await carol.sync()).map(textOf)).toEqual(['he is back']);
    expect((await bob.sync()).map(textOf)).toEqual(['he is back']);
  });

  it('goes on without them where its creator refuses the key', async () => {
    const { alice, bob, carol } = await createTrio();
    await bob.moveOn(NEW_PASSWORD);
    await rejoin(bob, GROUP);
    await alice.sync();
    await alice.api.refuseAccountKey(BOB, (await alice.api.safetyNumbers(BOB)).offered!);
    await rejoin(alice, GROUP);
    expect(people(await alice.api.conversation(GROUP))).toEqual([ALICE, CAROL]);
    await carol.sync();
    await carol.api.refuseAccountKey(BOB, (await carol.api.safetyNumbers(BOB)).offered!);
    await rejoin(carol, GROUP);
    await alice.send(GROUP, 'without him');
    expect((await carol.sync()).map(textOf)).toEqual(['without him']);
  });
});
