import { describe, expect, it } from 'vitest';
import { ALICE, BOB, CAROL, DAVE, GROUP, people, type TestDevice, textOf } from './support/device.ts';
import { Rogue } from './support/rogue.ts';
import { createTrioWithRogue, processLogOn, type Trio } from './support/rogueTrio.ts';

const unvouchedOn = async ({ api }: TestDevice) => (await api.conversation(GROUP)).group?.unvouchedIds;
const peopleOn = async ({ api }: TestDevice) => people(await api.conversation(GROUP));
const kindsOn = async ({ api }: TestDevice) => (await api.events(GROUP)).map(({ change }) => change.kind);

/** Bob makes a commit that nobody follows, and adds Dave in the epoch after it, which nobody reads. */
async function addUnseen({ bob, relay }: Trio): Promise<Rogue> {
  bob.commit(GROUP, { adds: [await Rogue.ofPerson(relay, CAROL)] });
  const dave = await Rogue.create(relay, DAVE, 'dave');
  relay.group(GROUP).members.add(DAVE);
  bob.commit(GROUP, { adds: [dave] });
  return dave;
}

describe('a creator’s device that has just come back to a group', () => {
  it('vouches for nobody whom it found there: who has refused somebody comes back once they are out', async () => {
    const { alice, bob, carol, relay } = await createTrioWithRogue();
    bob.commit(GROUP, { adds: [await Rogue.create(relay, DAVE, 'dave')] });
    for (const device of [alice, carol]) await processLogOn(device);
    await alice.syncOne(GROUP);
    expect(await peopleOn(alice)).toContain(DAVE);
    expect((await alice.api.conversation(GROUP)).group?.removalDue).toBe(true);
    await expect(carol.joinByExternalCommit(GROUP)).rejects.toMatchObject({ code: 'policy' });
    const repair = await alice.api.nextCommit(GROUP);
    relay.submit(alice, repair!);
    await alice.syncOne(GROUP);
    expect((await alice.api.conversation(GROUP)).group?.removalDue).toBe(false);
    await carol.sync();
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(await peopleOn(carol)).toEqual([ALICE, BOB, CAROL]);
  });
});

describe('somebody whom a device finds in a group that it comes back to', () => {
  it('waits for the person’s word, since nobody has vouched for them, until the creator takes them out', async () => {
    const trio = await createTrioWithRogue();
    const { alice, carol } = trio;
    const dave = await addUnseen(trio);
    await carol.sync();
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(await unvouchedOn(carol)).toEqual([DAVE]);
    const queued = await carol.queue(GROUP, 'not for everybody');
    await expect(carol.api.prepareMessage(queued)).rejects.toMatchObject({ code: 'members-in-doubt' });
    expect(await carol.api.sealTyping(GROUP, true)).toBeNull();
    expect(dave.deviceId).not.toBe('');

    // The creator has one device: nobody else could have added Dave.
    await alice.sync();
    expect(await unvouchedOn(alice)).toEqual([]);
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    expect(await peopleOn(alice)).toEqual([ALICE, BOB, CAROL]);
    const before = (await kindsOn(carol)).length;
    await carol.sync();
    expect(await unvouchedOn(carol)).toEqual([]);
    expect(await peopleOn(carol)).toEqual([ALICE, BOB, CAROL]);
    // Carol follows the commit that takes Dave out.
    expect((await kindsOn(carol)).slice(before)).toEqual(['members']);
    await carol.flush(queued);
    expect((await alice.sync()).map(textOf)).toContain('not for everybody');
  });

  it('stays where the person sends anyway, and the creator’s commit is followed all the same', async () => {
    const trio = await createTrioWithRogue();
    const { alice, carol } = trio;
    await addUnseen(trio);
    await carol.sync();
    const { group } = await carol.api.sendAnyway(GROUP);
    expect(group?.unvouchedIds).toEqual([]);
    expect(await carol.api.sealTyping(GROUP, true)).not.toBeNull();
    await carol.send(GROUP, 'to whoever is there');
    await alice.sync();
    await alice.send(GROUP, 'put right');
    const before = (await kindsOn(carol)).length;
    await carol.sync();
    expect(await peopleOn(carol)).toEqual([ALICE, BOB, CAROL]);
    expect((await kindsOn(carol)).slice(before)).toEqual(['members']);
  });

  it('is nobody to be asked about where a device of the creator’s has signed the tree as a member', async () => {
    const { alice, bob, carol, relay, world } = await createTrioWithRogue();
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await processLogOn(carol)).state.status).toBe('forked');
    await alice.sync();
    await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    await carol.sync();
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(await peopleOn(carol)).toContain(DAVE);
    expect(await unvouchedOn(carol)).toEqual([]);
  });

  it.each([
    ['says that it has deleted', { expired: true }],
    ['has deleted without a word', {}],
  ])('is asked about where the relay %s the commit that adds them', async (_how, said) => {
    const { alice, carol, relay, world } = await createTrioWithRogue();
    const dave = await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    await dave.sync();
    await dave.send(GROUP, 'Hello');
    const { lastSeq } = await carol.api.conversation(GROUP);
    const [digest] = relay.digests(GROUP, lastSeq);
    const [given] = relay.entries(GROUP, lastSeq);
    const emptied = { ...given!, content: '', digest: digest!.digest, ...said };
    const { state } = await carol.api.processEntries(GROUP, [emptied]);
    expect(state.status).toBe('forked');
    await carol.sync();
    expect(await carol.api.conversation(GROUP)).toMatchObject({ status: 'joined' });
    expect(await unvouchedOn(carol)).toEqual([DAVE]);
  });

  it('is vouched for by the next commit of the creator, who has added them', async () => {
    const { alice, bob, carol, relay, world } = await createTrioWithRogue();
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await processLogOn(carol)).state.status).toBe('forked');
    await alice.sync();
    const dave = await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    // Dave's is the last commit: the tree that Carol comes back to has no word of the creator's.
    await dave.sync();
    await dave.send(GROUP, 'Hello');
    await carol.sync();
    expect(await unvouchedOn(carol)).toEqual([DAVE]);
    world.clock.advance(24 * 60 * 60 * 1000);
    await alice.sync();
    await alice.send(GROUP, 'Dave is one of us');
    await carol.sync();
    expect(await unvouchedOn(carol)).toEqual([]);
    expect(await peopleOn(carol)).toEqual([ALICE, BOB, CAROL, DAVE]);
    expect(await kindsOn(carol)).not.toContain('diverged');
  });
});

describe('a creator with another device, of which either may have added somebody', () => {
  async function asked() {
    const trio = await createTrioWithRogue();
    const { alice, bob, carol, relay, world } = trio;
    const laptop = await world.device(ALICE);
    for (const device of [laptop, carol, alice]) await device.sync();
    bob.follow(relay.entries(GROUP).at(-1)!.content);
    await addUnseen(trio);
    await alice.sync();
    expect(await unvouchedOn(alice)).toEqual([DAVE]);
    return trio;
  }

  it('is asked, and commits nothing before the answer', async () => {
    const { alice, relay, world } = await asked();
    expect(await alice.api.nextCommit(GROUP)).toBeNull();
    await world.device(DAVE);
    const keyPackages = relay.claim([DAVE], '');
    await expect(alice.api.addMembers({ conversationId: GROUP, keyPackages })).rejects.toMatchObject({
      code: 'policy',
    });
  });

  it('takes out whom they have not added', async () => {
    const { alice, carol } = await asked();
    const { group } = await alice.api.removeUnvouched(GROUP);
    expect(group).toMatchObject({ unvouchedIds: [], removalDue: true });
    await alice.send(GROUP, 'put right');
    await alice.syncOne(GROUP);
    expect(await peopleOn(alice)).toEqual([ALICE, BOB, CAROL]);
    await carol.sync();
    expect(await peopleOn(carol)).toEqual([ALICE, BOB, CAROL]);
  });

  it('keeps whom they have', async () => {
    const { alice, carol } = await asked();
    await carol.sync();
    expect((await alice.api.sendAnyway(GROUP)).group).toMatchObject({ unvouchedIds: [], removalDue: false });
    await alice.send(GROUP, 'Dave is one of us');
    await carol.sync();
    expect(await peopleOn(carol)).toContain(DAVE);
    expect(await unvouchedOn(carol)).toEqual([]);
  });

  it('is asked no more about somebody who has left, and adds people as before', async () => {
    const { alice, bob, carol, relay, world } = await createTrioWithRogue();
    const laptop = await world.device(ALICE);
    for (const device of [laptop, carol, alice]) await device.sync();
    bob.follow(relay.entries(GROUP).at(-1)!.content);
    relay.append(bob, GROUP, { kind: 'commit', epoch: relay.log(GROUP).epoch, content: 'AAAA' });
    expect((await processLogOn(alice)).state.status).toBe('forked');
    for (const device of [laptop, carol]) await device.sync();
    const dave = await world.device(DAVE);
    await laptop.add(GROUP, [DAVE]);
    await dave.sync();
    await dave.send(GROUP, 'Hello');
    await alice.sync();
    expect(await unvouchedOn(alice)).toEqual([DAVE]);
    await dave.leave(GROUP);
    await carol.sync();
    await carol.send(GROUP, 'Dave has left');
    await alice.sync();
    expect(await peopleOn(alice)).toEqual([ALICE, BOB, CAROL]);

    await world.device(DAVE);
    await alice.add(GROUP, [DAVE]);
    expect(await peopleOn(alice)).toEqual([ALICE, BOB, CAROL, DAVE]);
  });

  it('alone has anybody taken out', async () => {
    const { carol } = await asked();
    await carol.sync();
    await expect(carol.api.removeUnvouched(GROUP)).rejects.toMatchObject({ code: 'policy' });
  });
});
