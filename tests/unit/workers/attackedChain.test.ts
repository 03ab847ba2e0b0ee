import { newestSharedKeys, signDeviceRevocation, signSharedKeys } from '@sinetti/crypto-core/account';
import { encodeChainHeader } from '@sinetti/crypto-core/content';
import { describe, expect, it, vi } from 'vitest';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  createWorld,
  GROUP,
  selfOf,
  type TestDevice,
} from './support/device.ts';
import { openVaultOf, Rogue } from './support/rogue.ts';

const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const findings = async (device: TestDevice, conversationId: string) =>
  (await device.api.events(conversationId)).filter(
    ({ change }) => change.kind === 'missing' || change.kind === 'diverged',
  );

/** Alice, who has moved on, a phone under her present key, and what a former key can say of it. */
async function movedOn() {
  const { alice, bob, relay } = await createPair();
  await alice.send(ALICE_AND_BOB, 'before');
  await bob.sync();
  const formerSeed = openVaultOf(relay, ALICE).accountSeed.slice();
  const { revocations } = await alice.moveOn('a quieter harbour');
  for (const { id, statement } of revocations) {
    await bob.api.setRevoked([{ userId: ALICE, deviceId: id, statement }]);
  }
  const seed = openVaultOf(relay, ALICE).accountSeed;
  const phone = await Rogue.certifiedBy(relay, ALICE, seed);
  const revokedBy = (accountSeed: Uint8Array) => [
    {
      userId: ALICE,
      deviceId: phone.deviceId,
      statement: base64Url(signDeviceRevocation(accountSeed, { userId: ALICE, deviceId: phone.deviceId })),
    },
  ];
  return { alice, bob, relay, phone, seed, former: revokedBy(formerSeed), present: revokedBy(seed) };
}

describe('a former account key', () => {
  it('takes back no revocation of the present one', async () => {
    const { alice, bob, former, phone, present, relay } = await movedOn();
    await bob.api.observeDevices(ALICE, [(await alice.api.openDevice()).certificate]);
    await bob.confirm('accept-account-key', ALICE);
    await bob.api.acceptAccountKey(ALICE, (await bob.api.safetyNumbers(ALICE)).offered!);
    for (let round = 0; round < 3; round += 1) {
      for (const device of [alice, bob]) await device.syncOne(ALICE_AND_BOB);
      const due = await bob.api.nextCommit(ALICE_AND_BOB);
      if (due !== null) bob.submit(due);
    }
    phone.joinFromOutside(ALICE_AND_BOB);
    await bob.syncOne(ALICE_AND_BOB);
    await bob.api.setRevoked(present);
    await bob.api.setRevoked(former);
    await bob.send(ALICE_AND_BOB, 'to Alice alone');
    const last = relay.entries(ALICE_AND_BOB).slice(-2);
    expect(last.map(({ kind }) => kind)).toEqual(['commit', 'application']);
    phone.follow(last[0]!.content);
    expect(() => phone.open(last[1]!.content)).toThrow('removed');
  });

  it('revokes no device that the present one has certified', async () => {
    const { alice, former, phone, relay, seed } = await movedOn();
    phone.publish();
    await alice.start(selfOf(ALICE));
    phone.join();
    await alice.api.setRevoked(former);
    const { sharedKeys } = openVaultOf(relay, ALICE);
    const revision = newestSharedKeys(sharedKeys).revision + 1;
    const keys = { revision, stateKey: new Uint8Array(32).fill(7), historyKey: new Uint8Array(32).fill(8) };
    const statement = signSharedKeys(seed, ALICE, [...sharedKeys, keys])!;
    phone.send(
      selfOf(ALICE),
      JSON.stringify({ v: 1, type: 'shared-keys', statements: [base64Url(statement)] }),
    );
    await alice.syncOne(selfOf(ALICE));
    expect(await alice.api.vaultVersion()).toBe(revision);
  });
});

describe('a thief’s device that nobody has revoked', () => {
  it('keeps the owner out of no group, and is taken out of it', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    for (const device of [alice, bob, carol]) {
      await device.send(GROUP, 'hello');
      for (const other of [alice, bob, carol]) await other.sync();
    }
    const thief = await Rogue.ofPerson(relay, BOB);
    thief.joinFromOutside(GROUP);
    for (const device of [alice, bob, carol]) await device.sync();
    // The relay doesn't list the thief's device any more, so that no statement of it is made.
    const { revocations } = await bob.moveOn('a quieter harbour');
    for (const device of [alice, carol]) {
      const own = revocations.map(({ id, statement }) => ({ userId: BOB, deviceId: id, statement }));
      await device.api.setRevoked(own.filter(({ deviceId }) => deviceId !== thief.deviceId));
      await device.api.observeDevices(BOB, [(await bob.api.openDevice()).certificate]);
      await device.confirm('accept-account-key', BOB);
      await device.api.acceptAccountKey(BOB, (await device.api.safetyNumbers(BOB)).offered!);
    }
    await bob.syncOne(GROUP);
    for (const device of [alice, carol]) await device.syncOne(GROUP);
    await bob.send(GROUP, 'it is me');
    for (const device of [alice, carol]) await device.syncOne(GROUP);
    const { members, status } = await alice.api.conversation(GROUP);
    expect(status).toBe('joined');
    expect(members.find(({ userId }) => userId === BOB)?.deviceIds).toEqual([bob.deviceId]);
  });
});

describe('a commit that a member passes off as another person’s', () => {
  it('has nobody asked about a key, and the creator repairs the group', async () => {
    const { alice, bob, carol, relay } = await createTrio();
    for (const device of [alice, bob, carol]) {
      await device.send(GROUP, 'hello');
      for (const other of [alice, bob, carol]) await other.sync();
    }
    const forged = await Rogue.create(relay, BOB, 'not his key');
    // The relay knows whose session and device it comes from.
    Object.assign(forged, { userId: CAROL, deviceId: carol.deviceId });
    forged.joinFromOutside(GROUP);
    await alice.syncOne(GROUP);
    const trust = await alice.api.contactTrust();
    expect(trust.find(({ userId }) => userId === BOB)).toMatchObject({ keyOffered: false });
    const messageId = await alice.queue(GROUP, 'after it');
    expect(await alice.api.prepareMessage(messageId)).toMatchObject({ kind: 'commit' });
  });
});

describe('headers of a modified client', () => {
  it('are looked into some times in an epoch, and no more', async () => {
    const { alice, relay } = await createTrio();
    const carol = await Rogue.ofPerson(relay, CAROL);
    carol.joinFromOutside(GROUP);
    await alice.syncOne(GROUP);
    const text = Buffer.from(
      JSON.stringify({ v: 1, type: 'text', text: 'x', sentAt: '2026-03-01T10:00:00Z' }),
    );
    for (let n = 1; n <= 40; n += 1) {
      const position = relay.entries(GROUP).length;
      const hash = new Uint8Array(32).fill(n);
      const header = encodeChainHeader({ start: 0, position, hash, count: position, sentAt: 0 });
      carol.send(GROUP, Buffer.concat([header, text]));
    }
    const readAll = vi.spyOn(IDBObjectStore.prototype, 'getAll');
    await alice.syncOne(GROUP);
    // Each takes reading all rows of the epoch.
    const reads = readAll.mock.contexts.filter((store) => (store as { name: string }).name === 'chain');
    readAll.mockRestore();
    expect(reads.length).toBeLessThanOrEqual(8);
    expect((await findings(alice, GROUP)).length).toBeGreaterThan(0);
    expect((await alice.history(GROUP)).filter(({ content }) => content.kind === 'text')).toHaveLength(40);
  });
});

describe('a modified client that claims messages which nobody has', () => {
  it('is one line in an epoch, which counts to a hundred', async () => {
    const { alice, relay } = await createTrio();
    const carol = await Rogue.ofPerson(relay, CAROL);
    carol.joinFromOutside(GROUP);
    await alice.syncOne(GROUP);
    carol.say(GROUP, 'Without a header.');
    await alice.syncOne(GROUP);
    const header = {
      start: 0,
      position: relay.entries(GROUP).length - 1,
      hash: new Uint8Array(32),
      sentAt: 0,
    };
    for (let n = 1; n <= 5; n += 1) {
      const position = 1_000_000_000 * n;
      const text = Buffer.from(
        JSON.stringify({ v: 1, type: 'text', text: 'x', sentAt: '2026-03-01T10:00:00Z' }),
      );
      const absurd = encodeChainHeader({ ...header, position, count: position });
      carol.send(GROUP, Buffer.concat([absurd, text]));
    }
    await alice.syncOne(GROUP);
    const missing = (await findings(alice, GROUP)).filter(({ change }) => change.kind === 'missing');
    expect(missing.map(({ change }) => change)).toEqual([{ kind: 'missing', count: 100 }]);
  });
});

describe('a relay that numbers otherwise what lets a device in', () => {
  it('is noticed by the first headers, though the hash can’t go on from there', async () => {
    const { device, relay } = createWorld();
    const [alice, bob, carol] = [await device(ALICE), await device(BOB), await device(CAROL)];
    await alice.createGroup(GROUP, 'Club', [CAROL]);
    await carol.sync();
    const talk = async () => {
      for (const one of [alice, carol]) {
        await one.send(GROUP, 'hello');
        for (const other of [alice, carol]) await other.syncOne(GROUP);
      }
    };
    for (let round = 0; round < 8; round += 1) await talk();
    await alice.add(GROUP, [BOB]);
    await carol.syncOne(GROUP);
    const welcome = relay.mailbox(bob.deviceId).find(({ conversationId }) => conversationId === GROUP)!;
    await bob.api.joinByWelcome({ ...welcome, seq: 2 });
    await bob.link(GROUP);
    for (let round = 0; round < 3; round += 1) await talk();
    // Every third message is dropped, and the rest renumbered.
    const shown = relay
      .entries(GROUP, welcome.seq)
      .filter(({ kind, seq }) => kind === 'commit' || seq % 3 !== 0)
      .map((entry, at) => ({ ...entry, seq: 3 + at }));
    await bob.api.processEntries(GROUP, shown);
    expect((await findings(bob, GROUP)).length).toBeGreaterThan(0);
  });

  it('is noticed where it puts an entry before the start', async () => {
    const { device, relay } = createWorld();
    const [alice, bob] = [await device(ALICE), await device(BOB)];
    const junk = { kind: 'application', epoch: 0, content: base64Url(Buffer.alloc(40, 7)) } as const;
    relay.append({ userId: BOB, deviceId: bob.deviceId }, ALICE_AND_BOB, junk);
    const keyPackages = relay.claim([ALICE, BOB], alice.deviceId);
    relay.submit(alice, await alice.api.startConversation({ conversationId: ALICE_AND_BOB, keyPackages }));
    await alice.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB));
    await bob.syncOne(ALICE_AND_BOB);
    const from = relay.entries(ALICE_AND_BOB).length;
    for (let n = 0; n < 8; n += 1) {
      await alice.send(ALICE_AND_BOB, `message ${n}`);
      await alice.syncOne(ALICE_AND_BOB);
    }
    const shown = relay
      .entries(ALICE_AND_BOB, from)
      .filter(({ kind, seq }) => kind === 'commit' || seq % 3 !== 0)
      .map((entry, at) => ({ ...entry, seq: from + 1 + at }));
    await bob.link(ALICE_AND_BOB);
    await bob.api.processEntries(ALICE_AND_BOB, shown);
    expect((await findings(bob, ALICE_AND_BOB)).length).toBeGreaterThan(0);
  });
});
