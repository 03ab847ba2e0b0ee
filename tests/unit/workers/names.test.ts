import { describe, expect, it } from 'vitest';
import { ALICE, BOB, CAROL, createPair, createWorld, PASSWORD, type TestDevice } from './support/device.ts';

async function nameIn(device: TestDevice, userId: string) {
  return (await device.api.contactTrust()).find((contact) => contact.userId === userId)?.name;
}

/** Has a device sign a name as somebody does who logs in with it. */
async function signed(device: TestDevice, username: string): Promise<string> {
  device.api = device.browser.tab();
  await device.api.beginLogin(PASSWORD, device.owner().passwordParams);
  await device.api.openVault(device.userId, device.vault());
  await device.api.openDevice();
  const name = await device.api.signName(username);
  await device.api.forgetVault();
  return name;
}

const take = (device: TestDevice, userId: string, signedName: string) =>
  device.api.takeNames([{ userId, signedName }]);

describe('a name', () => {
  it('is what its owner has signed, whatever comes later from others', async () => {
    const { alice, bob } = await createPair();
    expect(await nameIn(alice, BOB)).toBeNull();
    const first = await signed(bob, 'bob');
    await take(alice, BOB, first);
    expect(await nameIn(alice, BOB)).toBe('bob');
    const second = await signed(bob, 'robert');
    await take(alice, BOB, second);
    await take(alice, BOB, first);
    expect(await nameIn(alice, BOB)).toBe('robert');
  });

  it('is not given to another person, and not taken of a stranger', async () => {
    const { alice, bob, world } = await createPair();
    const carol = await world.device(CAROL);
    await alice.api.observeDevices(CAROL, [(await carol.api.openDevice()).certificate]);
    const [bobs, carols] = [await signed(bob, 'bob'), await signed(carol, 'carol')];
    await take(alice, CAROL, bobs);
    await take(alice, BOB, carols);
    expect([await nameIn(alice, BOB), await nameIn(alice, CAROL)]).toEqual([null, null]);
    const elsewhere = createWorld('elsewhere');
    const imposter = await elsewhere.device(BOB);
    await take(alice, BOB, await signed(imposter, 'mallory'));
    await take(alice, BOB, 'AAAA');
    expect(await nameIn(alice, BOB)).toBeNull();
    expect(await alice.api.contactTrust()).not.toContainEqual(expect.objectContaining({ userId: ALICE }));
  });

  it('counts of equal ones by the higher device id, and of no revoked device', async () => {
    const { alice, bob, world } = await createPair();
    const tablet = await world.device(BOB);
    const [low, high] = [bob, tablet].sort((one, other) => (one.deviceId < other.deviceId ? -1 : 1));
    const names = [await signed(low!, 'low'), await signed(high!, 'high')];
    for (const name of [...names, ...names]) await take(alice, BOB, name);
    expect(await nameIn(alice, BOB)).toBe('high');
    const statement = await tablet.api.ownRevocation();
    await alice.api.setRevoked([{ userId: BOB, deviceId: tablet.deviceId, statement: statement! }]);
    await take(alice, BOB, await signed(tablet, 'stolen'));
    expect(await nameIn(alice, BOB)).toBe('high');
  });

  it('of a device that is revoked by now stays until a live one says another, of whatever revision', async () => {
    const { alice, bob, world } = await createPair();
    const tablet = await world.device(BOB);
    await take(alice, BOB, await signed(tablet, 'first'));
    await take(alice, BOB, await signed(tablet, 'stolen'));
    const earlier = await signed(bob, 'bob');
    await take(alice, BOB, earlier);
    expect(await nameIn(alice, BOB)).toBe('stolen');
    const statement = await tablet.api.ownRevocation();
    await alice.api.setRevoked([{ userId: BOB, deviceId: tablet.deviceId, statement: statement! }]);
    // One that it signed before is still the person's.
    expect(await nameIn(alice, BOB)).toBe('stolen');
    await take(alice, BOB, earlier);
    expect(await nameIn(alice, BOB)).toBe('bob');
    await take(alice, BOB, await signed(tablet, 'stolen again'));
    expect(await nameIn(alice, BOB)).toBe('bob');
  });

  it('is signed only as the person has just typed it', async () => {
    const { alice } = await createPair();
    await expect(alice.api.signName('mallory')).rejects.toMatchObject({ code: 'usage' });
    alice.browser.typist.knows(PASSWORD);
    const operation = { kind: 'change-names', target: 'alicia a@example.org', id: null } as const;
    await alice.api.confirm(operation, alice.owner());
    await expect(alice.api.signName('mallory')).rejects.toMatchObject({ code: 'usage' });
    await alice.api.confirm(operation, alice.owner());
    await expect(alice.api.signName('alicia')).resolves.toBeTypeOf('string');
    await expect(alice.api.signName('alicia')).rejects.toMatchObject({ code: 'usage' });
  });
});
