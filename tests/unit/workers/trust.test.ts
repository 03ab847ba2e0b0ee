import { describe, expect, it } from 'vitest';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  createWorld,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { wholeState } from './support/relay.ts';

async function certificateOf(device: TestDevice): Promise<string> {
  return (await device.api.openDevice()).certificate;
}

async function trustIn(device: TestDevice, userId: string) {
  return (await device.api.contactTrust()).find((contact) => contact.userId === userId);
}

/** Alice and Bob, and a Bob who has lost his keys and begun again under the same user id. */
async function pairAndNewBob() {
  const pair = await createPair();
  const { alice, bob, relay, world } = pair;
  await alice.send(ALICE_AND_BOB, 'to the Bob I know');
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'it is me');
  await alice.sync();
  relay.vaults.delete(BOB);
  const newBob = await world.device(BOB);
  return { ...pair, newBob, newCertificate: await certificateOf(newBob) };
}

/** Replaces Bob's former devices in the conversation, as the services do once a key was accepted. */
async function replaceFormerDevices(alice: TestDevice): Promise<void> {
  const keyPackages = alice.relay.claim([BOB], alice.deviceId);
  const submission = await alice.api.addMembers({ conversationId: ALICE_AND_BOB, keyPackages });
  alice.submit(submission);
  await alice.syncOne(ALICE_AND_BOB);
}

describe('safety numbers', () => {
  it('are the same on both sides, and differ for each pair of people', async () => {
    const { alice, bob, carol } = await createTrio();
    const numbers = await alice.api.safetyNumbers(BOB);
    expect(numbers.current).toMatch(/^\d{60}$/);
    expect(numbers.offered).toBeNull();
    expect(await bob.api.safetyNumbers(ALICE)).toEqual(numbers);
    expect((await alice.api.safetyNumbers(CAROL)).current).not.toBe(numbers.current);
    expect((await carol.api.safetyNumbers(ALICE)).current).not.toBe(numbers.current);
  });

  it("exist before the first message, once the person's devices were seen", async () => {
    const world = createWorld();
    const [alice, bob] = [await world.device(ALICE), await world.device(BOB)];
    await expect(alice.api.safetyNumbers(BOB)).rejects.toMatchObject({ code: 'unknown-person' });
    for (const nothing of [[], ['AAAA'], [await certificateOf(alice)]]) {
      expect(await alice.api.observeDevices(BOB, nothing)).toBeNull();
    }
    const seen = await alice.api.observeDevices(BOB, [await certificateOf(bob)]);
    expect(seen).toEqual({ userId: BOB, verifiedAt: null, keyOffered: false, name: null, changedAt: [] });
    await bob.api.observeDevices(ALICE, [await certificateOf(alice)]);
    expect(await alice.api.safetyNumbers(BOB)).toEqual(await bob.api.safetyNumbers(ALICE));
  });

  it('are not available when a person is first seen with two account keys', async () => {
    const { bob, newCertificate } = await pairAndNewBob();
    const carol = await createWorld('carol').device(CAROL);
    expect(await carol.api.observeDevices(BOB, [await certificateOf(bob), newCertificate])).toBeNull();
  });
});

describe('marking somebody as verified', () => {
  it('keeps the mark over a reload, and can be undone', async () => {
    const { alice } = await createPair();
    expect(await trustIn(alice, BOB)).toMatchObject({ verifiedAt: null });
    await alice.mark(BOB, true);
    const reloaded = await alice.openTab();
    expect(await trustIn(reloaded, BOB)).toMatchObject({ verifiedAt: '2026-03-01T00:00:00.000Z' });
    await reloaded.mark(BOB, false);
    expect(await trustIn(alice, BOB)).toMatchObject({ verifiedAt: null });
  });

  it('brings the mark to other browsers by the account state, whether they know the contact or not', async () => {
    const { alice, world } = await createPair();
    await alice.mark(BOB, true);
    const laptop = await world.device(ALICE);
    expect(await trustIn(laptop, BOB)).toMatchObject({ keyOffered: false });
    expect((await trustIn(laptop, BOB))?.verifiedAt).not.toBeNull();
    await laptop.sync();
    await laptop.mark(BOB, false);
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    await alice.readState();
    expect((await trustIn(alice, BOB))?.verifiedAt).toBeNull();
  });

  it('ignores the marks of an older state, in any tab and after signing in again', async () => {
    const { alice } = await createPair();
    const before = await alice.mark(BOB, false);
    const marked = await alice.mark(BOB, true);
    const tab = await alice.openTab();
    await tab.api.adoptState(before);
    expect((await trustIn(tab, BOB))?.verifiedAt).not.toBeNull();
    await tab.mark(BOB, false);
    await alice.api.adoptState(marked);
    expect((await trustIn(alice, BOB))?.verifiedAt).toBeNull();
    await alice.api.lock();
    alice.relay.states.set(ALICE, marked);
    await alice.logIn();
    expect((await trustIn(alice, BOB))?.verifiedAt).toBeNull();
  });

  it('keeps the mark at the next change although the relay has rolled the state back', async () => {
    const { alice, carol, relay, world } = await createTrio();
    const before = await alice.mark(BOB, false);
    await alice.mark(BOB, true);
    relay.states.set(ALICE, before);
    await alice.api.observeDevices(CAROL, [await certificateOf(carol)]);
    await alice.mark(CAROL, true);
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    const laptop = await world.device(ALICE);
    expect((await trustIn(laptop, BOB))?.verifiedAt).not.toBeNull();
    expect((await trustIn(laptop, CAROL))?.verifiedAt).not.toBeNull();
  });

  it.each([
    ['deleted', null],
    ['replaced by something else', wholeState(Uint8Array.of(0, 1, 2, 3))],
  ] as const)('puts the marks back when the relay has the state %s', async (_, lost) => {
    const { alice, relay, world } = await createPair();
    await alice.mark(BOB, true);
    if (lost === null) relay.states.delete(ALICE);
    else relay.states.set(ALICE, lost);
    await alice.readState();
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    const laptop = await world.device(ALICE);
    expect((await trustIn(laptop, BOB))?.verifiedAt).not.toBeNull();
  });

  it('refuses a mark for another safety number than the present one', async () => {
    const { alice } = await createPair();
    const wrong = { userId: BOB, safetyNumber: '0'.repeat(60), verified: true };
    await alice.confirm('mark-verified', BOB);
    await expect(alice.api.sealVerified(null, wrong)).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.sealVerified(null, { ...wrong, userId: CAROL })).rejects.toMatchObject({
      code: 'unknown-person',
    });
  });

  it("takes over no marks of a state that isn't this person's", async () => {
    const { alice, bob, relay } = await createPair();
    await alice.mark(BOB, true);
    relay.states.set(ALICE, await bob.mark(ALICE, false));
    await alice.readState();
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    expect(relay.states.get(ALICE)).not.toBe(relay.states.get(BOB));
  });
});

describe("a contact's account key that changes", () => {
  it('stops sending until the key is accepted, and encrypts to devices under it alone then', async () => {
    const { alice, bob, newBob, newCertificate, relay } = await pairAndNewBob();
    expect(await alice.api.observeDevices(BOB, [newCertificate])).toMatchObject({ keyOffered: true });
    const messageId = relay.uuid();
    const sentAt = '2026-03-01T10:00:00.000Z';
    const question = { conversationId: ALICE_AND_BOB, messageId, text: 'who are you?', sentAt };
    expect(await alice.api.queueMessage(question)).toMatchObject({ ready: null });
    await expect(alice.api.prepareMessage(messageId)).rejects.toMatchObject({ code: 'identity-changed' });

    const { current, offered } = await alice.api.safetyNumbers(BOB);
    expect(offered).not.toBe(current);
    await newBob.api.observeDevices(ALICE, [await certificateOf(alice)]);
    expect((await newBob.api.safetyNumbers(ALICE)).current).toBe(offered);
    // A key is accepted for the person alone for whom that was confirmed.
    await expect(alice.api.acceptAccountKey(BOB, offered!)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('accept-account-key', CAROL);
    await expect(alice.api.acceptAccountKey(BOB, offered!)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('accept-account-key', BOB);
    await expect(alice.api.acceptAccountKey(BOB, current)).rejects.toMatchObject({ code: 'usage' });
    expect(await alice.api.acceptAccountKey(BOB, offered!)).toEqual({
      userId: BOB,
      verifiedAt: null,
      keyOffered: false,
      name: null,
      changedAt: ['2026-03-01T00:00:00.000Z'],
    });
    // Bob's only devices in the conversation are still the old ones.
    await expect(alice.api.prepareMessage(messageId)).rejects.toMatchObject({ code: 'identity-changed' });
    expect(await alice.api.hasFormerDevices(ALICE_AND_BOB)).toBe(true);
    await replaceFormerDevices(alice);
    expect(await alice.api.hasFormerDevices(ALICE_AND_BOB)).toBe(false);
    await alice.flush(messageId);
    await alice.sync();
    await newBob.sync();
    expect((await newBob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['who are you?']);
    await newBob.send(ALICE_AND_BOB, 'the same as ever');
    expect((await alice.sync()).map(textOf)).toEqual(['the same as ever']);

    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    const { messages } = await bob.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, lastSeq));
    expect(messages.map(textOf)).not.toContain('who are you?');
    // A former key is not offered again.
    expect(await alice.api.observeDevices(BOB, [await certificateOf(bob)])).toMatchObject({
      keyOffered: false,
    });
  });

  it('can be refused, and the conversation goes on under the pinned key', async () => {
    const { alice, bob, newCertificate } = await pairAndNewBob();
    await alice.api.observeDevices(BOB, [newCertificate]);
    const { offered } = await alice.api.safetyNumbers(BOB);
    expect(await alice.api.refuseAccountKey(BOB, offered!)).toMatchObject({
      keyOffered: false,
      changedAt: [],
    });
    await alice.send(ALICE_AND_BOB, 'still you');
    await bob.sync();
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toContain('still you');
  });

  it('removes the mark that the contact is verified', async () => {
    const { alice, newCertificate } = await pairAndNewBob();
    const state = await alice.mark(BOB, true);
    await alice.api.observeDevices(BOB, [newCertificate]);
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    const { offered } = await alice.api.safetyNumbers(BOB);
    await alice.confirm('accept-account-key', BOB);
    expect((await alice.api.acceptAccountKey(BOB, offered!)).verifiedAt).toBeNull();
    // The mark in the account state is of the former key, so it neither verifies this one nor offers a key.
    await alice.api.adoptState(state);
    expect(await trustIn(alice, BOB)).toMatchObject({ verifiedAt: null, keyOffered: false });
  });

  it('is noticed in a KeyPackage that the relay hands out', async () => {
    const { relay } = await pairAndNewBob();
    const { alice } = await createTrio('another world');
    expect(await trustIn(alice, BOB)).toMatchObject({ keyOffered: false });
    const keyPackages = relay.claim([BOB], '');
    await expect(
      alice.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages }),
    ).rejects.toMatchObject({ code: 'identity-changed' });
    expect(await trustIn(alice, BOB)).toMatchObject({ keyOffered: true });
  });

  it('is accepted as the one that the frame has shown, not as one that comes meanwhile', async () => {
    const { alice, newCertificate, relay, world } = await pairAndNewBob();
    await alice.api.observeDevices(BOB, [newCertificate]);
    const shown = (await alice.api.safetyNumbers(BOB)).offered!;
    await alice.confirm('accept-account-key', BOB);
    relay.vaults.delete(BOB);
    await alice.api.observeDevices(BOB, [await certificateOf(await world.device(BOB))]);
    const meanwhile = (await alice.api.safetyNumbers(BOB)).offered!;
    expect(meanwhile).not.toBe(shown);
    for (const number of [meanwhile, shown]) {
      await expect(alice.api.acceptAccountKey(BOB, number)).rejects.toMatchObject({ code: 'usage' });
    }
    expect(await trustIn(alice, BOB)).toMatchObject({ keyOffered: true, changedAt: [] });
  });

  it("is followed by the accepting person's other device once accepted there, too", async () => {
    const { alice, newBob, newCertificate, world } = await pairAndNewBob();
    const laptop = await world.device(ALICE);
    await laptop.sync();
    await alice.sync();
    await alice.api.observeDevices(BOB, [newCertificate]);
    await alice.confirm('accept-account-key', BOB);
    await alice.api.acceptAccountKey(BOB, (await alice.api.safetyNumbers(BOB)).offered!);
    await replaceFormerDevices(alice);
    await newBob.sync();

    const { lastSeq } = await laptop.api.conversation(ALICE_AND_BOB);
    const { state } = await laptop.api.processEntries(
      ALICE_AND_BOB,
      laptop.relay.entries(ALICE_AND_BOB, lastSeq),
    );
    expect(state).toMatchObject({ status: 'joined', refusal: 'identity-changed', lastSeq });
    expect(await trustIn(laptop, BOB)).toMatchObject({ keyOffered: true });
    await newBob.send(ALICE_AND_BOB, 'for all of you');
    await laptop.confirm('accept-account-key', BOB);
    await laptop.api.acceptAccountKey(BOB, (await laptop.api.safetyNumbers(BOB)).offered!);
    expect((await laptop.sync()).map(textOf)).toEqual(['for all of you']);
    await laptop.send(ALICE_AND_BOB, 'here as well');
    await newBob.sync();
    expect((await newBob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['for all of you', 'here as well']);
  });
});
