import { createSignatureKeyPair, ready } from '@sinetti/crypto-core';
import {
  type AccountState,
  issueDeviceCertificate,
  type PinnedPerson,
  sealAccountState,
  signAccountState,
} from '@sinetti/crypto-core/account';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SealedState } from '#workers/api/cryptoApi.ts';
import { seededRandom } from './support/browser.ts';
import { ALICE, BOB, createPair, type TestDevice } from './support/device.ts';
import { type MemoryRelay, wholeState } from './support/relay.ts';
import { olderAt, settle, settleWithLies, signInTo, twoDevices } from './support/revisions.ts';
import { openVaultOf } from './support/rogue.ts';

beforeAll(ready);

const random = seededRandom('many people');
const idOf = (at: number) => `c0a1c0a1-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;

/** Has one of Alice's devices with the app from before there were segments write a state with so many people besides. */
function writeWhole(relay: MemoryRelay, count: number, revision = 1): AccountState {
  const { accountSeed, sharedKeys } = openVaultOf(relay, ALICE);
  const env = { random, now: () => 0 };
  const { privateKey, publicKey } = createSignatureKeyPair(env);
  const device = { userId: ALICE, deviceId: relay.uuid(), deviceKey: publicKey, notBefore: 0n };
  const pins = Array.from(
    { length: count },
    (_, at): PinnedPerson => ({
      userId: idOf(at),
      keys: [{ standing: 'present', accountKey: random(32) }],
    }),
  );
  const [first] = pins;
  const verified = first === undefined ? [] : [{ userId: idOf(0), accountKey: first.keys[0]!.accountKey }];
  const state = { verified, pins, revision };
  const sealed = sealAccountState(state, sharedKeys, ALICE, env);
  const certificate = issueDeviceCertificate(accountSeed, device);
  relay.states.set(ALICE, wholeState(signAccountState({ certificate, sealed, segments: null }, privateKey)));
  return state;
}

/** Bytes of the body by which the page puts a state in the place of another. */
function bytesWritten(before: SealedState | null, { sealed, segments }: SealedState): number {
  const added = segments.filter((segment) => before?.segments.includes(segment) !== true);
  return JSON.stringify({ version: 1000, sealed, segments: added }).length;
}

async function known(device: TestDevice): Promise<{ people: number; verified: string[] }> {
  const trust = await device.api.contactTrust();
  const marked = trust.filter(({ verifiedAt }) => verifiedAt !== null);
  return { people: trust.length, verified: marked.map(({ userId }) => userId).sort() };
}

/** Alice's laptop and phone, which know some three hundred people, in segments. */
async function manyPeople() {
  const devices = await twoDevices();
  const { laptop, phone, relay } = devices;
  writeWhole(relay, 300, 5);
  for (const device of [laptop, phone]) await device.readState();
  await settle(laptop, phone);
  const state = laptop.state()!;
  expect(state.segments).toHaveLength(5);
  return { ...devices, state };
}

describe('an account state of 10,000 people, written whole by an earlier version', () => {
  it('loses nothing as it comes in segments, and a mark writes less than 20 KB from then on', async () => {
    const { alice: laptop, relay } = await createPair();
    writeWhole(relay, 10_000);
    const whole = relay.states.get(ALICE)!;
    await laptop.readState();
    const before = laptop.state()!;
    expect(whole.segments).toEqual([]);
    expect(before.segments).toHaveLength(157);
    expect(await known(laptop)).toEqual({ people: 10_001, verified: [idOf(0)] });

    const marked = await laptop.mark(BOB, true);
    const unmarked = await laptop.mark(idOf(0), false);
    const written = [bytesWritten(before, marked), bytesWritten(marked, unmarked)];
    for (const bytes of written) expect(bytes).toBeLessThan(20_000);
    expect(await laptop.api.adoptState(unmarked)).toBeNull();
    expect(await known(laptop)).toEqual({ people: 10_001, verified: [BOB] });
  });
});

describe('an account state in segments', () => {
  it('brings a new browser everybody, and another one what has changed', async () => {
    const { laptop, phone, world } = await manyPeople();
    await laptop.mark(idOf(200), true);
    await phone.readState();
    const tablet = await world.device(ALICE);
    for (const device of [laptop, phone, tablet]) {
      expect(await known(device)).toEqual({ people: 301, verified: [idOf(0), idOf(200)] });
    }
  });

  it('is merged of what two devices write at once', async () => {
    const { laptop, phone, relay, state } = await manyPeople();
    const mine = await laptop.mark(idOf(1), true);
    relay.states.set(ALICE, state);
    await phone.api.observeDevices(idOf(1), [certificateOf(idOf(1))]);
    await phone.readState();
    // The laptop's came first: the phone fetches it, merges and writes again.
    relay.states.set(ALICE, mine);
    await phone.readState();
    await laptop.readState();
    expect((await laptop.api.contactTrust()).find(({ userId }) => userId === idOf(1))).toMatchObject({
      keyOffered: true,
      verifiedAt: expect.any(String),
    });
    expect((await phone.api.contactTrust()).find(({ userId }) => userId === idOf(1))).toMatchObject({
      keyOffered: true,
      verifiedAt: expect.any(String),
    });
    expect(laptop.state()).toEqual(phone.state());
  });

  it('is sealed anew, all of it, once the keys are renewed', async () => {
    const { laptop, phone } = await manyPeople();
    const before = laptop.state()!;
    await laptop.revoke(phone.deviceId);
    await laptop.readState();
    const after = laptop.state()!;
    expect(after.segments).toHaveLength(before.segments.length);
    expect(after.segments.filter((segment) => before.segments.includes(segment))).toEqual([]);
  });
});

/** A certificate that the relay has made up for somebody. */
function certificateOf(userId: string): string {
  const device = { userId, deviceId: userId.replace('c', 'd'), deviceKey: random(32), notBefore: 0n };
  return Buffer.from(issueDeviceCertificate(random(32), device)).toString('base64url');
}

describe.each<{ lie: string; told: (now: SealedState, former: SealedState) => SealedState }>([
  {
    lie: 'hands out a former segment beside the others',
    told: (now, former) => ({ ...now, segments: [former.segments[0]!, ...now.segments.slice(1)] }),
  },
  {
    lie: 'adds a former segment to the others, and leaves the present one out',
    told: (now, former) => ({ ...now, segments: [...now.segments.slice(1), former.segments[0]!] }),
  },
  {
    lie: 'gives the former head to the present segments',
    told: (now, former) => ({ ...now, sealed: former.sealed }),
  },
  { lie: 'drops a segment', told: (now) => ({ ...now, segments: now.segments.slice(1) }) },
  { lie: 'drops them all', told: (now) => ({ ...now, segments: [] }) },
])('a relay that $lie', ({ told }) => {
  it('takes no mark away, and its browsers put their own state in the place of that', async () => {
    const { laptop, phone, relay, state } = await manyPeople();
    const now = await laptop.mark(idOf(1), true);
    await phone.readState();
    const mixed = told(now, state);
    for (const device of [laptop, phone]) {
      relay.states.set(ALICE, mixed);
      await device.readState();
      expect(await known(device)).toEqual({ people: 301, verified: [idOf(0), idOf(1)] });
      expect(relay.states.get(ALICE)).not.toEqual(mixed);
      expect(await device.api.adoptState(device.state())).toBeNull();
    }
  });

  it('is noticed by a new browser and by the others, as one that gives an older state', async () => {
    const { laptop, phone, relay, state, world } = await manyPeople();
    const now = await laptop.mark(idOf(1), true);
    await phone.readState();
    const lies = { state: told(now, state), vault: relay.vaults.get(ALICE)! };
    const tablet = await signInTo(relay, world, lies);
    expect(await known(tablet)).toEqual({ people: 0, verified: [] });
    await settleWithLies(lies, [laptop, phone], tablet);
    const there = { place: 'there', deviceId: tablet.deviceId, state: true };
    for (const device of [laptop, phone]) expect(await olderAt(device)).toMatchObject([there]);
    expect(await olderAt(tablet)).toContainEqual(
      expect.objectContaining({ place: 'here', deviceId: laptop.deviceId, state: true }),
    );
  });
});
