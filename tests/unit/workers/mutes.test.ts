import { describe, expect, it } from 'vitest';
import type { Mute } from '#workers/api/cryptoApi.ts';
import { ALICE, ALICE_AND_BOB, BOB, CAROL, createWorld, GROUP, type TestDevice } from './support/device.ts';
import { OWN, threeDevices } from './support/ownDevices.ts';

const hour = 60 * 60_000;
const forGood = 8.64e15;

/** Tells what is to be told. */
async function tell(device: TestDevice): Promise<void> {
  await device.sync();
  await device.api.tellOwnDevices({ reads: [], drafts: [] });
  for (const { messageId } of await device.api.outbox(OWN)) await device.flush(messageId);
  await device.sync();
}

/** Returns whether what a device reads now tells of other mutes. */
async function isTold(device: TestDevice): Promise<boolean> {
  const { lastSeq } = await device.api.conversation(OWN);
  const { ownState } = await device.api.processEntries(OWN, device.relay.entries(OWN, lastSeq));
  return ownState?.mutes === true;
}

const mute = (change: Partial<Mute> = {}): Mute => ({
  conversationId: ALICE_AND_BOB,
  until: forGood,
  mentions: true,
  ...change,
});

describe('a muted conversation', () => {
  it('is muted on this device at once, without any other, and until its time is over', async () => {
    const { clock, device } = createWorld();
    const alice = await device(ALICE);
    const week = mute({ until: clock.now() + hour });
    await alice.api.setMute(week);
    await alice.api.setMute(mute({ conversationId: GROUP, mentions: false }));
    expect(await alice.api.mutes()).toEqual([week, mute({ conversationId: GROUP, mentions: false })]);
    const reloaded = await alice.openTab();
    expect(await reloaded.api.mutes()).toHaveLength(2);
    clock.advance(hour);
    expect(await alice.api.mutes()).toEqual([mute({ conversationId: GROUP, mentions: false })]);
  });

  it('is muted on the other devices as they hear of it, and no longer likewise', async () => {
    const { laptop, phone } = await threeDevices();
    await laptop.api.setMute(mute());
    await tell(laptop);
    expect(await isTold(phone)).toBe(true);
    expect(await phone.api.mutes()).toEqual([mute()]);
    await phone.api.setMute(mute({ until: 0 }));
    await tell(phone);
    expect(await isTold(laptop)).toBe(true);
    expect(await laptop.api.mutes()).toEqual([]);
  });

  it('is as the last word has it, whichever comes last', async () => {
    const { laptop, phone } = await threeDevices();
    await laptop.api.setMute(mute());
    await phone.api.setMute(mute());
    await phone.api.setMute(mute({ mentions: false }));
    for (const device of [phone, laptop, phone, laptop]) await tell(device);
    for (const device of [phone, laptop])
      expect(await device.api.mutes()).toEqual([mute({ mentions: false })]);
  });

  it('is muted on a device that comes later, and said once', async () => {
    const { laptop, world } = await threeDevices();
    await laptop.api.setMute(mute());
    await tell(laptop);
    expect(await laptop.api.tellOwnDevices({ reads: [], drafts: [] })).toBe(false);
    const later = await world.device(ALICE);
    await later.sync();
    expect(await later.api.mutes()).toEqual([]);
    await tell(laptop);
    await later.sync();
    expect(await later.api.mutes()).toEqual([mute()]);
  });

  it('is one of the person’s own', async () => {
    const { device } = createWorld();
    const alice = await device(ALICE);
    for (const wrong of [mute({ conversationId: `direct:${BOB}:${CAROL}` }), mute({ until: -1 }), null])
      await expect(alice.api.setMute(wrong as Mute)).rejects.toMatchObject({ code: 'usage' });
  });
});
