import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OlderState } from '#workers/api/cryptoApi.ts';
import { ALICE, ALICE_AND_BOB, type TestDevice } from './support/device.ts';
import { takeOver } from './support/heldKeys.ts';
import { kept, modifiedClient, newest, OWN, refused, revoke } from './support/ownDevices.ts';
import {
  compare,
  formerOf,
  isSettled,
  mark,
  olderAt,
  rollBack,
  send,
  settle,
  settleWithLies,
  signInTo,
  twoDevices,
} from './support/revisions.ts';

const said = (overrides: object) =>
  JSON.stringify({ v: 1, type: 'own-revisions', askedAt: 0, keys: 0, state: -1, older: [], ...overrides });

describe('an older account state that the relay gives a new device', () => {
  it('is noticed by the new device and by each of the others, once', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const lies = formerOf(relay);
    await mark(laptop, true);
    await phone.readState();
    const tablet = await signInTo(relay, world, lies);
    await settleWithLies(lies, [laptop, phone], tablet);
    const there: OlderState = { place: 'there', deviceId: tablet.deviceId, keys: false, state: true };
    for (const device of [laptop, phone]) expect(await olderAt(device)).toEqual([there]);
    const here = await olderAt(tablet);
    expect(here).toContainEqual({ ...there, place: 'here', deviceId: laptop.deviceId });
    expect(here.every(({ place }) => place === 'here')).toBe(true);
    const count = relay.log(OWN).entries.length;
    await settleWithLies(lies, [laptop, phone], tablet);
    expect(relay.log(OWN).entries).toHaveLength(count);
    for (const device of [laptop, phone, tablet]) {
      await device.api.acknowledgeOlderStates();
      expect(await olderAt(device)).toEqual([]);
    }
    await compare(tablet, lies);
    expect(await olderAt(tablet)).toEqual([]);
  });

  it('is noticed where the relay says that there is none', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const lies = { ...formerOf(relay), state: null };
    const tablet = await signInTo(relay, world, lies);
    await settleWithLies(lies, [laptop, phone], tablet);
    expect(await olderAt(laptop)).toMatchObject([{ place: 'there', deviceId: tablet.deviceId, state: true }]);
  });
});

describe('an older account state that the relay gives out for a while', () => {
  it('is noticed by a device that had told something after it had a newer one, and tells the new device', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const lies = formerOf(relay);
    await mark(laptop, true);
    await laptop.api.tellOwnDevices({ reads: [{ conversationId: ALICE_AND_BOB, seq: 1 }], drafts: [] });
    await send(laptop);
    await laptop.syncOne(OWN);
    const tablet = await signInTo(relay, world, lies);
    await compare(tablet, lies);
    await settle(laptop, phone, tablet);
    expect(await olderAt(laptop)).toEqual([
      { place: 'there', deviceId: tablet.deviceId, keys: false, state: true },
    ]);
    expect(await olderAt(tablet)).toEqual([
      { place: 'here', deviceId: laptop.deviceId, keys: false, state: true },
    ]);
    // The phone had nothing newer before the tablet came.
    expect(await olderAt(phone)).toEqual([]);
  });
});

describe('an older vault that the relay gives a new device', () => {
  it('is noticed by both, whatever version the relay calls it', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const lies = formerOf(relay);
    await laptop.revoke(relay.uuid());
    await laptop.readState();
    await settle(laptop, phone);
    const tablet = await signInTo(relay, world, lies);
    await settleWithLies(lies, [laptop, phone], tablet);
    expect(await olderAt(laptop)).toMatchObject([{ place: 'there', deviceId: tablet.deviceId, keys: true }]);
    expect(await olderAt(tablet)).toContainEqual(
      expect.objectContaining({ place: 'here', deviceId: laptop.deviceId, keys: true }),
    );
  });

  it('is told of by nobody who has gone back to it with the person’s word', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const backup = formerOf(relay);
    await laptop.revoke(relay.uuid());
    await laptop.revoke(relay.uuid());
    await laptop.readState();
    await settle(laptop, phone);
    rollBack(relay, backup);
    await laptop.confirm('accept-older-vault');
    const vault = await laptop.api.acceptOlderVault(laptop.vault());
    relay.rotate(ALICE, vault);
    await laptop.api.adoptRenewedKeys(vault.sealedVault);
    await laptop.readState();
    const tablet = await world.device(ALICE);
    await settle(laptop, tablet);
    expect(await olderAt(laptop)).toEqual([]);
    expect(await olderAt(tablet)).toEqual([]);
  });
});

describe('what own devices say of the keys and the account state that they are given', () => {
  it('is said once by each as it comes in, and not for each change', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const tablet = await world.device(ALICE);
    await tablet.syncOne(OWN);
    const before = relay.log(OWN).entries.length;
    expect(await settle(laptop, phone, tablet)).toBe(1);
    for (const verified of [true, false, true]) await mark(laptop, verified);
    for (const device of [phone, tablet, laptop]) await device.readState();
    expect(await settle(laptop, phone, tablet)).toBe(0);
    expect(relay.log(OWN).entries).toHaveLength(before + 1);
    expect(await kept(tablet, ['messages'])).not.toContain('"keys":1');
  });

  it('raises nothing for a state that moved on before the answer got here, and was told of first', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const tablet = await world.device(ALICE);
    await tablet.syncOne(OWN);
    const { askAfter } = await tablet.api.ownRevisions();
    await tablet.readState();
    await tablet.api.tellRevisions(askAfter!);
    const [waiting] = await tablet.api.outbox(OWN);
    const prepared = await tablet.api.prepareMessage(waiting!.messageId);
    if (prepared.kind !== 'message') throw new Error('a commit goes first');
    await mark(laptop, true);
    await laptop.syncOne(OWN);
    await laptop.api.tellRevisions((await laptop.api.conversation(OWN)).lastSeq);
    await send(laptop);
    relay.send(tablet, prepared);
    for (const device of [laptop, tablet]) {
      await device.syncOne(OWN);
      expect(await olderAt(device)).toEqual([]);
      expect((await device.api.ownRevisions()).askAfter).not.toBeNull();
    }
    await settle(laptop, phone, tablet);
    for (const device of [laptop, phone, tablet]) expect(await olderAt(device)).toEqual([]);
  });

  it('is refused of a revoked device, and what it had said counts no more', async () => {
    const { laptop, phone, world } = await twoDevices();
    const rogue = await modifiedClient(world);
    await laptop.syncOne(OWN);
    await mark(laptop, true);
    rogue.send(OWN, said({}));
    await settle(laptop, phone);
    rogue.send(OWN, said({ askedAt: laptop.relay.log(OWN).entries.length }));
    await laptop.syncOne(OWN);
    expect(await olderAt(laptop)).toMatchObject([{ place: 'there', deviceId: rogue.deviceId }]);
    rogue.send(OWN, said({ keys: 0xff_ffff, state: 0xffff_ffff }));
    await revoke(laptop, rogue);
    await laptop.syncOne(OWN);
    expect(await newest(laptop)).toEqual(refused);
    expect(await olderAt(laptop)).toEqual([]);
    expect((await laptop.api.ownRevisions()).askAfter).toBeNull();
  });

  it.each([
    said({ v: 2 }),
    said({ keys: -1 }),
    said({ state: -2 }),
    said({ state: 1.5 }),
    said({ askedAt: 1_000_000 }),
    JSON.stringify({ v: 1, type: 'own-revisions', askedAt: 0 }),
  ])('is refused where it breaks the rules, and what follows is read: %s', async (payload) => {
    const { laptop, world } = await twoDevices();
    const rogue = await modifiedClient(world);
    await laptop.syncOne(OWN);
    rogue.send(OWN, payload);
    await laptop.syncOne(OWN);
    expect(await newest(laptop)).toEqual(refused);
    rogue.send(OWN, said({}));
    await laptop.syncOne(OWN);
    expect((await laptop.api.ownRevisions()).askAfter).not.toBeNull();
  });

  it('makes no device say more than one message of it for each other’s first, however often that is repeated', async () => {
    const { laptop, phone, relay, world } = await twoDevices();
    const rogue = await modifiedClient(world);
    await settle(laptop, phone);
    await mark(laptop, true);
    await phone.readState();
    const before = relay.log(OWN).entries.length;
    for (let i = 0; i < 8; i += 1) {
      rogue.send(OWN, said({}));
      await compare(laptop);
    }
    expect(relay.log(OWN).entries).toHaveLength(before + 8 + 1);
  });
});

describe('own devices that compare what they are given, in any order', () => {
  const action = fc.record({
    who: fc.nat(2),
    what: fc.constantFrom(
      'mark',
      'renew',
      'read',
      'read',
      'ask',
      'ask',
      'tell',
      'tell',
      'send',
      'send',
      'lose',
      'reload',
      'draft',
    ),
  });

  it('raise nothing while the relay tells the truth: marks, renewals, lost answers, killed tabs, a newcomer', async () => {
    let saidAgain = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), async (actions) => {
        const { laptop, phone, relay, world } = await twoDevices();
        const devices = [laptop, phone];
        /** Positions after which each has found all that the relay has. */
        const asked = new Map<TestDevice, number>();
        for (const { what, who } of actions) {
          if (who === devices.length) devices.push(await world.device(ALICE));
          const device = devices[who] ?? laptop;
          if (what === 'read') await device.syncOne(OWN);
          else if (what === 'ask') {
            const { askAfter } = await device.api.ownRevisions();
            if (askAfter !== null && (await isSettled(device))) asked.set(device, askAfter);
          } else if (what === 'tell' && asked.has(device)) {
            await device.api.tellRevisions(asked.get(device)!);
            asked.delete(device);
          } else if (what === 'send') await send(device);
          else if (what === 'lose') await loseAnAnswer(device);
          else if (what === 'draft') {
            const draft = { conversationId: ALICE_AND_BOB, text: `${what} ${who}` };
            await device.api.tellOwnDevices({ reads: [], drafts: [draft] });
          } else if (what === 'reload') device.api = (await device.openTab()).api;
          else if (device.vault().version === (await device.api.vaultVersion())) {
            await device.readState();
            if (what === 'renew') await device.revoke(relay.uuid());
            else if (what === 'mark') await mark(device, (actions.length + who) % 2 === 0);
          }
        }
        for (const device of devices) {
          await device.syncOne(OWN);
          if (device.vault().version > (await device.api.vaultVersion())) await takeOver(device);
        }
        saidAgain += await settle(...devices);
        for (const device of devices) expect(await olderAt(device)).toEqual([]);
      }),
      { numRuns: 15, seed: 20261125 },
    );
    expect(saidAgain).toBeGreaterThan(0);
  });
});

/** The relay takes a message, and its answer doesn't get to the device. */
async function loseAnAnswer(device: TestDevice): Promise<void> {
  const [waiting] = await device.api.outbox(OWN);
  if (waiting === undefined) return;
  const prepared = await device.api.prepareMessage(waiting.messageId);
  if (prepared.kind === 'message' && prepared.epoch === device.relay.log(OWN).epoch)
    device.relay.send(device, prepared);
}
