import { exportSecret, groupView } from '@sinetti/crypto-core';
import { sealTyping, TYPING_LABEL } from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import type { GivenTyping } from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { seededRandom } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  CAROL,
  createPair,
  createTrio,
  GROUP,
  selfOf,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { Rogue } from './support/rogue.ts';
import { dump } from './support/storage.ts';

/** The sign of a device, as the relay hands it on. */
async function signOf(device: TestDevice, isWriting = true, id = ALICE_AND_BOB): Promise<GivenTyping> {
  const made = await device.api.sealTyping(id, isWriting);
  if (made === null) throw new Error('no member');
  return { userId: device.userId, deviceId: device.deviceId, ...made };
}

const open = (device: TestDevice, given: GivenTyping, id = ALICE_AND_BOB) => device.api.openTyping(id, given);
const flipped = (text: string, at: number) =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

describe('the sign that somebody is writing', () => {
  it('tells others that they are, and that they are no longer, and looks the same to the relay', async () => {
    const { alice, bob, world } = await createPair();
    const started = await signOf(alice);
    expect(await open(bob, started)).toBe(true);
    world.clock.advance(3000);
    const stopped = await signOf(alice, false);
    expect(await open(bob, stopped)).toBe(false);
    expect([started.content.length, stopped.content.length]).toEqual([66, 66]);
    expect(started.content).not.toBe(stopped.content);
  });

  it('takes no ratchet step, and leaves nothing in the storage of either', async () => {
    const { alice, bob } = await createPair();
    const before = await Promise.all([alice, bob].map((device) => device.api.conversation(ALICE_AND_BOB)));
    const bytes = () => Promise.all([alice, bob].map(({ browser }) => dump(browser)));
    const stored = await bytes();
    for (let time = 0; time < 3; time += 1) await open(bob, await signOf(alice));
    expect(await bytes()).toEqual(stored);
    const after = await Promise.all([alice, bob].map((device) => device.api.conversation(ALICE_AND_BOB)));
    expect(after).toEqual(before);
    await alice.send(ALICE_AND_BOB, 'still in step');
    await bob.sync();
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toContain('still in step');
  });

  it('counts once: given again it says nothing, nor one that is older than another', async () => {
    const { alice, bob, world } = await createPair();
    const first = await signOf(alice);
    world.clock.advance(3000);
    const second = await signOf(alice, false);
    expect(await open(bob, second)).toBe(false);
    expect(await open(bob, second)).toBeNull();
    expect(await open(bob, first)).toBeNull();
  });

  it('counts for minutes only, so that a relay brings back no old one', async () => {
    const { alice, bob, world } = await createPair();
    const kept = await signOf(alice);
    world.clock.advance(5 * 60_000 + 1);
    expect(await open(bob, kept)).toBeNull();
    expect(await open(bob, await signOf(alice))).toBe(true);
  });

  it('says nothing where it was altered, or is said to be of another person, device or epoch', async () => {
    const { alice, bob, carol } = await createTrio();
    const sign = await signOf(alice, true, GROUP);
    const changes: Partial<GivenTyping>[] = [
      { content: flipped(sign.content, 40) },
      { content: sign.content.slice(1) },
      { content: '!' },
      { userId: CAROL, deviceId: carol.deviceId },
      { deviceId: bob.deviceId },
      { epoch: sign.epoch + 1 },
      { epoch: sign.epoch - 1 },
    ];
    for (const change of changes) expect(await open(bob, { ...sign, ...change }, GROUP)).toBeNull();
    expect(await open(bob, sign, GROUP)).toBe(true);
  });

  it('says nothing in another epoch, nor in another conversation', async () => {
    const { alice, bob, world } = await createPair();
    const sign = await signOf(alice);
    const phone = await world.device(BOB);
    for (const device of [phone, bob, alice]) await device.sync();
    expect((await alice.api.conversation(ALICE_AND_BOB)).epoch).toBeGreaterThan(sign.epoch);
    expect(await open(bob, sign)).toBeNull();
    expect(await open(bob, await signOf(alice))).toBe(true);
  });

  it('comes from nobody outside, and goes nowhere from there', async () => {
    const { alice, bob, world } = await createPair();
    const sign = await signOf(alice);
    const outsider = await world.device(BOB);
    expect((await outsider.api.conversation(ALICE_AND_BOB)).status).toBe('outside');
    expect(await outsider.api.sealTyping(ALICE_AND_BOB, true)).toBeNull();
    expect(await open(outsider, sign)).toBeNull();
    expect(await open(bob, { ...sign, userId: CAROL, deviceId: crypto.randomUUID() })).toBeNull();
    // One's own other devices write for the same person.
    expect(await open(alice, sign)).toBeNull();
    expect(await alice.api.sealTyping(selfOf(ALICE), true)).toBeNull();
  });

  it('goes to nobody while a device that was revoked is still to be taken out', async () => {
    const { alice, bob, world } = await createPair();
    const phone = await world.device(BOB);
    for (const device of [phone, bob, alice]) await device.sync();
    const statement = await bob.revoke(phone.deviceId);
    await alice.api.setRevoked([{ userId: BOB, deviceId: phone.deviceId, statement }]);
    expect(await alice.api.sealTyping(ALICE_AND_BOB, true)).toBeNull();
    await alice.send(ALICE_AND_BOB, 'to Bob’s laptop');
    expect(await alice.api.sealTyping(ALICE_AND_BOB, true)).not.toBeNull();
  });

  it('is feigned by a member in the name of another, which the relay alone can tell', async () => {
    const { alice, bob, relay, world } = await createTrio();
    const rogue = await Rogue.ofPerson(relay, CAROL);
    rogue.joinFromOutside(GROUP);
    for (const device of [alice, bob]) await device.sync();
    const { groupId, epoch: current } = groupView(rogue.group);
    const place = { groupId, epoch: Number(current), userId: ALICE, deviceId: alice.deviceId };
    const env = { random: seededRandom('feigned'), now: () => world.clock.now() };
    const key = exportSecret(rogue.group, TYPING_LABEL, groupId, 32);
    const content = toBase64Url(sealTyping(key, place, { isWriting: true, at: world.clock.now() }, env));
    expect(await open(bob, { ...place, content }, GROUP)).toBe(true);
  });

  it('refuses what is no sign of a conversation of the person', async () => {
    const { alice } = await createPair();
    const sign = await signOf(alice);
    const others = `direct:${BOB}:${CAROL}`;
    for (const given of [null, {}, { ...sign, epoch: -1 }, { ...sign, content: 'A'.repeat(129) }])
      await expect(open(alice, given as GivenTyping)).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.sealTyping(others, true)).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.sealTyping(ALICE_AND_BOB, 'yes' as never)).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
