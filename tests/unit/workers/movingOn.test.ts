import {
  openShared,
  openVault,
  readDeviceCertificate,
  signDeviceRevocation,
  unwrapVaultKey,
  verifyDeviceRevocation,
} from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, PASSWORD, textOf } from './support/device.ts';
import {
  accept,
  devicesIn,
  NEW_PASSWORD,
  rejoin,
  revocationsOf,
  robbed,
  trustIn,
} from './support/movingOn.ts';
import { decode, openVaultOf, Rogue } from './support/rogue.ts';

/** As `robbed`, once Alice has moved on and Bob has accepted her new account key. */
async function robbedAndAccepted() {
  const world = await robbed();
  const { alice, bob } = world;
  const body = await alice.moveOn(NEW_PASSWORD);
  await rejoin(alice, ALICE_AND_BOB);
  await bob.api.setRevoked(revocationsOf(ALICE, body));
  await bob.sync();
  await accept(bob, ALICE);
  await bob.sync();
  return world;
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
    const state = relay.states.get(ALICE)!.sealed;
    expect(() => openShared('state', loot.vault.sharedKeys, ALICE, decode(state))).toThrow('missing-key');
  });

  it('certifies nothing that a contact takes who has accepted the new account key', async () => {
    const { bob, loot, relay } = await robbedAndAccepted();
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
    const { alice, bob, relay, thief } = await robbedAndAccepted();
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
