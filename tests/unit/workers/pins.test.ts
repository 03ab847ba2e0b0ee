import { createSignatureKeyPair, ready } from '@sinetti/crypto-core';
import {
  createVault,
  issueDeviceCertificate,
  openAccountState,
  type PinnedPerson,
  type SharedKeys,
  sealAccountState,
  signAccountState,
  verifyAccountState,
  verifyDeviceCertificate,
} from '@sinetti/crypto-core/account';
import { beforeAll, describe, expect, it } from 'vitest';
import { Browser, seededRandom } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createWorld,
  PASSWORD,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { type MemoryRelay, wholeState } from './support/relay.ts';
import { openVaultOf } from './support/rogue.ts';

beforeAll(ready);

const certificateOf = async (device: TestDevice) => (await device.api.openDevice()).certificate;

async function trustIn(device: TestDevice, userId = BOB) {
  return (await device.api.contactTrust()).find((contact) => contact.userId === userId);
}

/** The account state that the relay has for Alice, as whoever has her keys opens it. */
function stateOf(relay: MemoryRelay, keys: readonly SharedKeys[] = openVaultOf(relay, ALICE).sharedKeys) {
  const stored = Buffer.from(relay.states.get(ALICE)?.sealed ?? '', 'base64url');
  return openAccountState(verifyAccountState(stored).sealed, keys, ALICE);
}

/** A certificate that the relay has made up for Bob, under an account key of its own. */
function inventedCertificate(seed = 'invented'): string {
  const random = seededRandom(seed);
  const device = { userId: BOB, deviceId: BOB.replace('b', 'd'), deviceKey: random(32), notBefore: 0n };
  return Buffer.from(issueDeviceCertificate(random(32), device)).toString('base64url');
}

/** Alice's laptop, which has known Bob for long, and her phone, which has just signed in. */
async function knownBob() {
  const { alice: laptop, bob, relay, world } = await createPair();
  await laptop.readState();
  const phone = await world.device(ALICE);
  return { laptop, phone, bob, relay, world };
}

describe('an old contact on a new browser', () => {
  it('is no first contact: an invented key is a changed key, and nothing is sent under it', async () => {
    const { phone, relay } = await knownBob();
    const seen = await phone.api.observeDevices(BOB, [inventedCertificate()]);
    expect(seen).toMatchObject({ keyOffered: true, changedAt: [] });
    await phone.sync();
    const messageId = relay.uuid();
    await phone.queue(ALICE_AND_BOB, 'who are you?', messageId);
    await expect(phone.api.prepareMessage(messageId)).rejects.toMatchObject({ code: 'identity-changed' });
  });

  it('has the safety number that the other browser shows', async () => {
    const { laptop, phone } = await knownBob();
    const { current } = await laptop.api.safetyNumbers(BOB);
    expect(await phone.api.safetyNumbers(BOB)).toEqual({ current, offered: null });
  });

  it('is pinned only once the account state was read', async () => {
    const { laptop, relay, world } = await knownBob();
    const state = relay.states.get(ALICE)!;
    const api = new Browser('unread', world.clock).tab();
    await api.beginLogin(PASSWORD, laptop.owner().passwordParams);
    await api.openVault(ALICE, laptop.vault());
    await api.openDevice();
    expect(await api.observeDevices(BOB, [inventedCertificate()])).toBeNull();
    await api.adoptState(state);
    expect(await api.observeDevices(BOB, [inventedCertificate()])).toMatchObject({ keyOffered: true });
  });
});

describe('two keys that two browsers have met first for one person', () => {
  it('are asked about at both, and neither is merged away', async () => {
    const world = createWorld('two keys');
    const bob = await world.device(BOB);
    const [one, other] = [await world.device(ALICE), await world.device(ALICE)];
    await one.api.observeDevices(BOB, [await certificateOf(bob)]);
    await other.api.observeDevices(BOB, [inventedCertificate()]);
    await one.readState();
    await other.readState();
    expect(await trustIn(other)).toMatchObject({ keyOffered: true, changedAt: [] });
    await one.readState();
    expect(await trustIn(one)).toMatchObject({ keyOffered: true, changedAt: [] });
    const [person] = stateOf(world.relay).pins;
    expect(person?.keys.map(({ standing }) => standing).sort()).toEqual(['offered', 'present']);
  });

  it('write the state once each, and then leave it', async () => {
    const { laptop, phone, relay } = await knownBob();
    await phone.api.observeDevices(BOB, [inventedCertificate()]);
    for (const device of [phone, laptop, phone, laptop]) await device.readState();
    const settled = relay.states.get(ALICE);
    for (const device of [phone, laptop, phone]) await device.readState();
    expect(relay.states.get(ALICE)).toBe(settled);
    expect(await trustIn(laptop)).toMatchObject({ keyOffered: true });
  });
});

describe('what the person has decided at one browser', () => {
  it('needs not be accepted again at the other, whose log goes on', async () => {
    const { laptop, phone, relay, world } = await knownBob();
    await phone.sync();
    relay.vaults.delete(BOB);
    const newBob = await world.device(BOB);
    await laptop.sync();
    await laptop.api.observeDevices(BOB, [await certificateOf(newBob)]);
    await laptop.readState();
    await phone.readState();
    expect(await trustIn(phone)).toMatchObject({ keyOffered: true });
    await laptop.confirm('accept-account-key', BOB);
    await laptop.api.acceptAccountKey(BOB, (await laptop.api.safetyNumbers(BOB)).offered!);
    const keyPackages = relay.claim([BOB], laptop.deviceId);
    laptop.submit(await laptop.api.addMembers({ conversationId: ALICE_AND_BOB, keyPackages }));
    await laptop.sync();
    await newBob.sync();
    await newBob.send(ALICE_AND_BOB, 'the same as ever');
    await laptop.readState();
    await phone.readState();
    const trust = await trustIn(phone);
    expect(trust).toMatchObject({ keyOffered: false });
    expect(trust?.changedAt).toHaveLength(1);
    expect((await phone.api.safetyNumbers(BOB)).current).toBe((await laptop.api.safetyNumbers(BOB)).current);
    expect((await phone.sync()).map(textOf)).toEqual(['the same as ever']);
  });

  it('needs not be refused again either', async () => {
    const { laptop, phone } = await knownBob();
    await laptop.api.observeDevices(BOB, [inventedCertificate()]);
    await laptop.readState();
    await phone.readState();
    expect(await trustIn(phone)).toMatchObject({ keyOffered: true });
    await laptop.api.refuseAccountKey(BOB, (await laptop.api.safetyNumbers(BOB)).offered!);
    await laptop.readState();
    await phone.readState();
    expect(await trustIn(phone)).toMatchObject({ keyOffered: false, changedAt: [] });
  });

  it('is believed of a live device of their own alone', async () => {
    const { laptop, phone, relay } = await knownBob();
    const { accountKey } = stateOf(relay).pins[0]!.keys[0]!;
    const random = seededRandom('forger');
    const keys = openVaultOf(relay, ALICE).sharedKeys;
    const env = { random, now: () => 0 };
    const accepted: PinnedPerson[] = [
      {
        userId: BOB,
        keys: [
          { standing: 'former', accountKey },
          { standing: 'present', accountKey: random(32) },
        ],
      },
    ];
    const sealed = sealAccountState({ verified: [], pins: accepted, revision: 99 }, keys, ALICE, env);
    const deviceSeed = random(32);
    const { accountSeed } = createVault(env);
    const device = { userId: ALICE, deviceId: phone.deviceId, deviceKey: deviceSeed, notBefore: 0n };
    const bySomebody = signAccountState(
      { certificate: issueDeviceCertificate(accountSeed, device), sealed, segments: null },
      deviceSeed,
    );
    for (const forged of [sealed, bySomebody]) {
      relay.states.set(ALICE, wholeState(forged));
      await laptop.readState();
      expect(await trustIn(laptop)).toMatchObject({ changedAt: [] });
      // The state is put right, by a device that answers for it.
      expect(stateOf(relay).revision).toBeGreaterThan(1);
    }
  });

  it('is not believed of a revoked device, which may still have its keys', async () => {
    const { laptop, phone, relay } = await knownBob();
    const { offered: _, ...before } = await laptop.api.safetyNumbers(BOB);
    await phone.api.observeDevices(BOB, [inventedCertificate()]);
    await phone.confirm('accept-account-key', BOB);
    await phone.api.acceptAccountKey(BOB, (await phone.api.safetyNumbers(BOB)).offered!);
    const statement = await phone.api.ownRevocation();
    await laptop.api.setRevoked([{ userId: ALICE, deviceId: phone.deviceId, statement: statement! }]);
    await phone.readState();
    await laptop.readState();
    expect(await trustIn(laptop)).toMatchObject({ keyOffered: true, changedAt: [] });
    expect(await laptop.api.safetyNumbers(BOB)).toMatchObject(before);
    const signer = verifyAccountState(Buffer.from(relay.states.get(ALICE)!.sealed, 'base64url')).signer;
    expect(signer.deviceId).toBe(laptop.deviceId);
  });
});

/** A thief with the secrets of a browser of Alice's, one that is gone or one that is hers still. */
function thiefOf(relay: MemoryRelay) {
  const { accountSeed, sharedKeys } = openVaultOf(relay, ALICE);
  const env = { random: seededRandom('thief'), now: () => 0 };
  const { privateKey, publicKey } = createSignatureKeyPair(env);
  const deviceId = relay.uuid();
  const device = { userId: ALICE, deviceId, deviceKey: publicKey, notBefore: 0n };
  const certificate = issueDeviceCertificate(accountSeed, device);
  return { certificate, deviceId, env, privateKey, publicKey, sharedKeys };
}

describe('a state that a removed browser’s keys have sealed', () => {
  it.each(['former', 'refused'] as const)('has decided nothing: the true key called %s', async (standing) => {
    const { alice: laptop, relay, world } = await createPair();
    await laptop.readState();
    const { env, sharedKeys } = thiefOf(relay);
    const stolen = await world.device(ALICE);
    await stolen.sync();
    await laptop.sync();
    const good = await laptop.api.safetyNumbers(BOB);
    const bobs = stateOf(relay).pins.find(({ userId }) => userId === BOB);
    const accountKey = bobs?.keys[0]?.accountKey;
    if (accountKey === undefined) throw new Error('nobody has met Bob');
    const statement = await laptop.revoke(stolen.deviceId);
    await laptop.api.setRevoked([{ userId: ALICE, deviceId: stolen.deviceId, statement }]);
    await laptop.readState();
    const fake = verifyDeviceCertificate(Buffer.from(inventedCertificate(), 'base64url')).accountKey;
    const keys = [
      { standing, accountKey },
      { standing: 'present', accountKey: fake },
    ] as const;
    const state = { verified: [], revision: 3, pins: [{ userId: BOB, keys }] };
    const forged = sealAccountState(state, sharedKeys, ALICE, env);
    relay.states.set(ALICE, wholeState(forged));
    await world.device(ALICE);
    await laptop.readState();
    expect((await laptop.api.safetyNumbers(BOB)).current).toBe(good.current);
    expect(await laptop.api.observeDevices(BOB, [inventedCertificate()])).toMatchObject({ keyOffered: true });
  });
});

describe('a new browser that is shown a state which no live device answers for', () => {
  /** A browser that has just logged in, and has heard of the revocations. */
  async function newBrowser({ relay, owner, revoked }: NewBrowser) {
    const api = new Browser('new', owner.world.clock).tab();
    await api.beginLogin(PASSWORD, owner.laptop.owner().passwordParams);
    await api.openVault(ALICE, owner.laptop.vault());
    await api.openDevice();
    await api.setRevoked(revoked);
    await api.adoptState(relay.states.get(ALICE)!);
    return (await api.contactTrust()).find(({ userId }) => userId === BOB);
  }
  interface NewBrowser {
    readonly relay: MemoryRelay;
    readonly owner: Awaited<ReturnType<typeof knownBob>>;
    readonly revoked: readonly { userId: string; deviceId: string; statement: string }[];
  }

  it.each([
    { signer: 'a revoked device', isShown: false },
    { signer: 'a device that another key certifies', isShown: false },
    { signer: 'a live device', isShown: true },
  ])('shows whom $signer calls verified as verified: $isShown', async ({ isShown, signer }) => {
    const owner = await knownBob();
    const { phone, relay } = owner;
    const { env, privateKey, publicKey, sharedKeys } = thiefOf(relay);
    const { accountKey } = verifyDeviceCertificate(Buffer.from(inventedCertificate(), 'base64url'));
    const state = {
      verified: [{ userId: BOB, accountKey }],
      pins: [{ userId: BOB, keys: [{ standing: 'present', accountKey }] }],
      revision: 99,
    } as const;
    const sealed = sealAccountState(state, sharedKeys, ALICE, env);
    const named = { userId: ALICE, deviceId: phone.deviceId, deviceKey: publicKey, notBefore: 0n };
    const isInvented = signer === 'a device that another key certifies';
    const { accountSeed } = isInvented ? createVault(env) : openVaultOf(relay, ALICE);
    const signed = signAccountState(
      { certificate: issueDeviceCertificate(accountSeed, named), sealed, segments: null },
      privateKey,
    );
    relay.states.set(ALICE, wholeState(signed));
    const statement = signer === 'a revoked device' ? await phone.api.ownRevocation() : null;
    const revoked = statement === null ? [] : [{ userId: ALICE, deviceId: phone.deviceId, statement }];
    const trust = await newBrowser({ relay, owner, revoked });
    expect(typeof trust?.verifiedAt === 'string').toBe(isShown);
  });
});

describe('a stolen browser that writes the last revision', () => {
  it('keeps the others from nothing, nor a new one from signing in', async () => {
    const { alice: laptop, relay, world } = await createPair();
    await laptop.readState();
    const { certificate, env, privateKey, sharedKeys } = thiefOf(relay);
    const last = { verified: [], pins: [], revision: 0xffff_ffff };
    const sealed = sealAccountState(last, sharedKeys, ALICE, env);
    const signed = signAccountState({ certificate, sealed, segments: null }, privateKey);
    relay.states.set(ALICE, wholeState(signed));
    await laptop.readState();
    await laptop.mark(BOB, true);
    const phone = await world.device(ALICE);
    expect(await trustIn(phone)).toMatchObject({ verifiedAt: expect.any(String) });
  });
});

describe('many keys that are shown for one person', () => {
  it('are one question, whose answer settles them all', async () => {
    const { laptop, phone, relay } = await knownBob();
    for (let i = 0; i < 12; i += 1) {
      for (const device of [laptop, phone]) {
        await device.api.observeDevices(BOB, [inventedCertificate(`${i} at ${device.deviceId}`)]);
        await device.readState();
      }
    }
    await laptop.readState();
    const offeredIn = () =>
      stateOf(relay).pins[0]?.keys.filter(({ standing }) => standing === 'offered').length;
    expect(offeredIn()).toBe(4);
    const { offered } = await phone.api.safetyNumbers(BOB);
    expect(await laptop.api.safetyNumbers(BOB)).toMatchObject({ offered });
    await phone.api.refuseAccountKey(BOB, offered!);
    for (const device of [phone, laptop, phone]) {
      await device.readState();
      expect(await trustIn(device)).toMatchObject({ keyOffered: false, changedAt: [] });
    }
    expect(offeredIn()).toBe(0);
    // One that is shown again after that is asked about again.
    await laptop.api.observeDevices(BOB, [inventedCertificate('once more')]);
    expect(await trustIn(laptop)).toMatchObject({ keyOffered: true });
  });
});

describe('a key that was shown before the one that was accepted', () => {
  it('comes back neither here nor on a new browser', async () => {
    const { alice: laptop, world } = await createPair();
    await laptop.readState();
    await laptop.api.observeDevices(BOB, [inventedCertificate('first')]);
    await laptop.readState();
    await laptop.api.observeDevices(BOB, [inventedCertificate('second')]);
    const { offered } = await laptop.api.safetyNumbers(BOB);
    if (offered === null) throw new Error('nothing is offered');
    await laptop.readState();
    await laptop.confirm('accept-account-key', BOB);
    await laptop.api.acceptAccountKey(BOB, offered);
    await laptop.readState();
    expect(await trustIn(laptop)).toMatchObject({ keyOffered: false });
    const phone = await world.device(ALICE);
    expect(await phone.api.safetyNumbers(BOB)).toMatchObject({ current: offered, offered: null });
  });
});
