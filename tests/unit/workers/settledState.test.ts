import { afterEach, describe, expect, it, vi } from 'vitest';
import { Sealer } from '#workers/storage/sealer.ts';
import { ALICE, BOB, createPair } from './support/device.ts';

afterEach(() => vi.restoreAllMocks());

const countPins = () => {
  const opened = vi.spyOn(Sealer.prototype, 'open');
  return () => {
    const count = opened.mock.calls.filter(([store]) => store === 'pins').length;
    opened.mockClear();
    return count;
  };
};

describe('taking over the account state', () => {
  it('opens each pin once, and none where nothing has changed since', async () => {
    const { alice: laptop, world } = await createPair();
    await laptop.readState();
    const phone = await world.device(ALICE);
    const count = countPins();
    await laptop.mark(BOB, true);
    const state = laptop.state();
    count();
    expect(await phone.api.adoptState(state)).toBeNull();
    expect(count()).toBe(1);
    expect(await phone.api.adoptState(state)).toBeNull();
    expect(count()).toBe(0);
    expect(await phone.api.contactTrust()).toMatchObject([{ userId: BOB, verifiedAt: expect.any(String) }]);
  });

  it('is done again once a pin is another, or the state is older', async () => {
    const { alice: laptop, world } = await createPair();
    await laptop.readState();
    const older = laptop.state();
    await laptop.mark(BOB, true);
    const state = laptop.state();
    expect(await laptop.api.adoptState(state)).toBeNull();
    expect(await laptop.api.adoptState(older)).not.toBeNull();
    expect(await laptop.api.adoptState(state)).toBeNull();
    // Somebody new is seen here, who is to be in the state.
    const carl = await world.device(ALICE.replace('a', 'c'));
    const { certificate } = await carl.api.openDevice();
    await laptop.api.observeDevices(carl.userId, [certificate]);
    expect(await laptop.api.adoptState(state)).not.toBeNull();
  });

  it('is done again once the device that has signed it is revoked', async () => {
    const { alice: laptop, world } = await createPair();
    await laptop.readState();
    const phone = await world.device(ALICE);
    await phone.mark(BOB, true);
    const state = laptop.state();
    expect(await laptop.api.adoptState(state)).toBeNull();
    const statement = await laptop.revoke(phone.deviceId);
    await laptop.api.setRevoked([{ userId: ALICE, deviceId: phone.deviceId, statement }]);
    expect(await laptop.api.adoptState(state)).not.toBeNull();
  });
});
