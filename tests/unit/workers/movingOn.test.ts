import {
  openShared,
  openVault,
  readDeviceCertificate,
  signDeviceRevocation,
  unwrapVaultKey,
  type Vault,
  verifyDeviceRevocation,
} from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import type { MovedOn, RotatedVault } from '#workers/api/cryptoApi.ts';
import { cheapPasswordKeys } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  GROUP,
  PASSWORD,
  people,
  type TestDevice,
  textOf,
} from './support/device.ts';
import type { MemoryRelay } from './support/relay.ts';
import { decode, openVaultOf, Rogue } from './support/rogue.ts';

const NEW_PASSWORD = 'a quieter harbour';

/** What somebody has who has logged in with the password: the vault of that time, open. */
interface Loot {
  readonly vault: Vault;
  readonly stored: RotatedVault;
  readonly wrapKey: Uint8Array;
}

function steal(relay: MemoryRelay, userId = ALICE): Loot {
  const stored = relay.vaults.get(userId)!;
  const { salt } = relay.passwordParams.get(userId)!;
  const { wrapKey } = cheapPasswordKeys(PASSWORD, { salt: decode(salt) });
  return { vault: openVaultOf(relay, userId), stored, wrapKey };
}

/** Alice and Bob who have talked, a thief's browser in Alice's account, and what the thief has. */
async function robbed() {
  const pair = await createPair();
  const { alice, bob, relay, world } = pair;
  await alice.send(ALICE_AND_BOB, 'before the theft');
  await bob.sync();
  await bob.send(ALICE_AND_BOB, 'a reply');
  const thief = await world.device(ALICE);
  for (const device of [thief, alice, bob]) await device.sync();
  return { ...pair, thief, loot: steal(relay) };
}

const revocationsOf = (userId: string, { revocations }: MovedOn) =>
  revocations.map(({ id, statement }) => ({ userId, deviceId: id, statement }));

async function accept(device: TestDevice, userId: string): Promise<void> {
  await device.confirm('accept-account-key', userId);
  await device.api.acceptAccountKey(userId, (await device.api.safetyNumbers(userId)).offered!);
}

async function trustIn(device: TestDevice, userId: string) {
  return (await device.api.contactTrust()).find((contact) => contact.userId === userId);
}

/** Has the log of a conversation end with this device's own leaves alone, of its person. */
async function rejoin(device: TestDevice, conversationId: string): Promise<void> {
  await device.syncOne(conversationId);
  for (;;) {
    const submission = await device.api.nextCommit(conversationId);
    if (submission === null) return;
    device.submit(submission);
    await device.syncOne(conversationId);
  }
}

async function devicesIn(device: TestDevice, conversationId: string, userId: string) {
  const { members } = await device.api.conversation(conversationId);
  return members.find((person) => person.userId === userId)?.deviceIds ?? [];
}

describe('moving on after a theft', () => {
  it('makes another account key, device secret and password, and ends the recovery key', async () => {
    const { alice, loot, relay } = await robbed();
    const certificate = decode((await alice.api.openDevice()).certificate);
    const { accountKey } = await alice.moveOn(NEW_PASSWORD);
    const present = openVaultOf(relay, ALICE);
    expect(present.accountSeed).not.toEqual(loot.vault.accountSeed);
    expect(present.deviceSecret).not.toEqual(loot.vault.deviceSecret);
    expect(present.recoveryPublicKey).toBeNull();
    expect(present.sharedKeys.slice(0, -1)).toEqual(loot.vault.sharedKeys);
    const renewed = readDeviceCertificate(decode((await alice.api.openDevice()).certificate));
    expect(renewed.accountKey).toEqual(decode(accountKey));
    expect(renewed.accountKey).not.toEqual(readDeviceCertificate(certificate).accountKey);
    expect(renewed.deviceId).not.toBe(readDeviceCertificate(certificate).deviceId);
  });

  it('revokes all former devices by the former account key, this one too', async () => {
    const { alice, relay, thief } = await robbed();
    const formerId = alice.deviceId;
    const former = readDeviceCertificate(decode((await alice.api.openDevice()).certificate)).accountKey;
    const body = await alice.prepareToMoveOn(NEW_PASSWORD);
    expect(body.revocations.map(({ id }) => id).toSorted()).toEqual([formerId, thief.deviceId].toSorted());
    for (const { id, statement } of body.revocations) {
      expect(verifyDeviceRevocation(decode(statement))).toEqual({
        userId: ALICE,
        deviceId: id,
        accountKey: former,
      });
    }
    // This device is among them although the page has left it out.
    alice.browser.typist.knows(PASSWORD, NEW_PASSWORD);
    await alice.api.confirm({ kind: 'move-on', target: 'alice', id: null }, alice.owner());
    const others = await alice.api.moveOn({ vault: relay.vaults.get(ALICE)!, deviceIds: [] });
    expect(others.revocations.map(({ id }) => id)).toEqual([formerId]);
  });

  it('adopts nothing before the relay has taken it', async () => {
    const { alice } = await robbed();
    const before = await alice.api.openDevice();
    const body = await alice.prepareToMoveOn(NEW_PASSWORD);
    expect(await alice.api.openDevice()).toEqual(before);
    expect(await alice.api.vaultVersion()).toBe(1);
    await alice.send(ALICE_AND_BOB, 'still here');
    await expect(alice.api.adoptRenewedKeys('AAAA')).rejects.toMatchObject({ code: 'usage' });
    await alice.api.adoptRenewedKeys(body.vault.sealedVault);
    expect((await alice.api.openDevice()).deviceId).not.toBe(before.deviceId);
    expect(await alice.api.vaultVersion()).toBe(2);
  });

  it('takes a password that was typed for it, once, and no other confirmation', async () => {
    const { alice } = await robbed();
    const move = () => alice.api.moveOn({ vault: alice.vault(), deviceIds: [] });
    const usage = { code: 'usage' };
    await expect(move()).rejects.toMatchObject(usage);
    alice.browser.typist.knows(PASSWORD, NEW_PASSWORD);
    await alice.api.confirm({ kind: 'change-password', target: 'alice', id: null }, alice.owner());
    await expect(move()).rejects.toMatchObject(usage);
    await alice.confirm('move-on');
    await expect(move()).rejects.toMatchObject(usage);
    await alice.prepareToMoveOn(NEW_PASSWORD);
    await expect(move()).rejects.toMatchObject(usage);
  });

  it('keeps messages, pins and marks of this browser, over a new log-in as well', async () => {
    const { alice } = await robbed();
    await alice.mark(BOB, true);
    const sent = await alice.queue(ALICE_AND_BOB, 'on its way');
    const prepared = await alice.api.prepareMessage(sent);
    if (prepared.kind !== 'message') throw new Error('a commit goes first');
    const { seq, timestamp } = alice.relay.send(alice, prepared);
    await alice.api.messageAccepted(sent, { seq, timestamp });
    await alice.moveOn(NEW_PASSWORD);
    const texts = ['before the theft', 'a reply', 'on its way'];
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(texts);
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
    await alice.api.lock();
    await alice.logIn();
    const { deviceId } = await alice.api.openDevice();
    expect(deviceId).toBe(alice.deviceId);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(texts);
    expect((await trustIn(alice, BOB))?.verifiedAt).not.toBeNull();
  });

  it('is finished by the next log-in where the browser has never heard that the relay took it', async () => {
    const { alice, bob, relay } = await robbed();
    const body = await alice.prepareToMoveOn(NEW_PASSWORD);
    relay.moveOn(ALICE, NEW_PASSWORD, body);
    const formerId = alice.deviceId;
    await alice.api.lock();
    await alice.logIn();
    await alice.registerAnew();
    await alice.api.forgetVault();
    expect(alice.deviceId).not.toBe(formerId);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['before the theft', 'a reply']);
    await alice.api.setRevoked(revocationsOf(ALICE, body));
    await rejoin(alice, ALICE_AND_BOB);
    expect(await devicesIn(alice, ALICE_AND_BOB, ALICE)).toEqual([alice.deviceId]);
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'welcome back');
    expect((await alice.sync()).map(textOf)).toEqual(['welcome back']);
  });
});

describe('a thief with the old password, recovery key, vault and a browser', () => {
  it('opens nothing of the vault from then on', async () => {
    const { alice, loot, relay } = await robbed();
    await alice.mark(BOB, true);
    await alice.moveOn(NEW_PASSWORD);
    const { passwordWrap, recoveryWrap, sealedVault } = relay.vaults.get(ALICE)!;
    expect(() => unwrapVaultKey(decode(passwordWrap), loot.wrapKey)).toThrow('wrong-password');
    expect(recoveryWrap).toBeNull();
    const formerKey = unwrapVaultKey(decode(loot.stored.passwordWrap), loot.wrapKey);
    expect(() => openVault(decode(sealedVault), formerKey, ALICE)).toThrow('corrupt-record');
    const state = relay.states.get(ALICE)!;
    expect(() => openShared('state', loot.vault.sharedKeys, ALICE, decode(state))).toThrow('missing-key');
  });

  it('certifies nothing that a contact takes who has accepted the new account key', async () => {
    const { alice, bob, loot, relay } = await robbed();
    const body = await alice.moveOn(NEW_PASSWORD);
    await rejoin(alice, ALICE_AND_BOB);
    await bob.api.setRevoked(revocationsOf(ALICE, body));
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    const rogue = await Rogue.certifiedBy(relay, ALICE, loot.vault.accountSeed);
    rogue.joinFromOutside(ALICE_AND_BOB);
    rogue.say(ALICE_AND_BOB, 'it is me, Alice');
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    const { messages, state } = await bob.api.processEntries(
      ALICE_AND_BOB,
      relay.entries(ALICE_AND_BOB, lastSeq),
    );
    expect(messages.map(textOf)).toEqual(['(unknown-device)']);
    expect(state).toMatchObject({ status: 'forked', refusal: 'identity-changed' });
    // The former key isn't even offered, so that nobody can accept it by mistake.
    expect(await trustIn(bob, ALICE)).toMatchObject({ keyOffered: false });
  });

  it('adds no device that a contact takes, and revokes none of the new ones', async () => {
    const { alice, bob, loot, relay, world } = await robbed();
    const body = await alice.moveOn(NEW_PASSWORD);
    await rejoin(alice, ALICE_AND_BOB);
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    const statement = signDeviceRevocation(loot.vault.accountSeed, {
      userId: ALICE,
      deviceId: alice.deviceId,
    });
    const forged = {
      userId: ALICE,
      deviceId: alice.deviceId,
      statement: Buffer.from(statement).toString('base64url'),
    };
    for (const device of [alice, bob]) {
      await device.api.setRevoked([...revocationsOf(ALICE, body), forged]);
      expect(await device.api.nextCommit(ALICE_AND_BOB)).toBeNull();
    }
    expect(await devicesIn(bob, ALICE_AND_BOB, ALICE)).toEqual([alice.deviceId]);
    // Nor does it keep the new device from being added where it is not in yet.
    const carol = await world.device(CAROL);
    await carol.api.observeDevices(ALICE, [(await alice.api.openDevice()).certificate]);
    await carol.api.setRevoked([forged]);
    const conversationId = `direct:${ALICE}:${CAROL}`;
    const keyPackages = relay.claim([ALICE], carol.deviceId);
    expect(await carol.api.startConversation({ conversationId, keyPackages })).toMatchObject({ epoch: 0 });
    const stolen = await Rogue.certifiedBy(relay, ALICE, loot.vault.accountSeed);
    stolen.publish();
    const claimed = relay
      .claim([ALICE], alice.deviceId)
      .filter(({ deviceId }) => deviceId === stolen.deviceId);
    await expect(
      bob.api.addMembers({ conversationId: ALICE_AND_BOB, keyPackages: claimed }),
    ).rejects.toMatchObject({ code: 'usage', detail: 'nobody to add' });
  });

  it('reads nothing that is written after the contact has accepted, in a browser that a colluding relay still serves', async () => {
    const { alice, bob, relay, thief } = await robbed();
    const body = await alice.moveOn(NEW_PASSWORD);
    await rejoin(alice, ALICE_AND_BOB);
    await bob.api.setRevoked(revocationsOf(ALICE, body));
    await bob.sync();
    await accept(bob, ALICE);
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'for the real Alice');
    expect((await alice.sync()).map(textOf)).toEqual(['for the real Alice']);
    const { lastSeq } = await thief.api.conversation(ALICE_AND_BOB);
    const { messages, state } = await thief.api.processEntries(
      ALICE_AND_BOB,
      relay.entries(ALICE_AND_BOB, lastSeq),
    );
    expect(messages.map(textOf)).not.toContain('for the real Alice');
    expect(state.status).not.toBe('joined');
  });
});

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
