import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClaimedKeyPackage, type Device, type DeviceCertificate, limits } from '../../contract/index.ts';
import { certificateOf, privateKeyOf, sessionSignature } from '../devices.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  onAnotherDevice,
  type Person,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';

const minute = 60_000;
let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());

const register = (person: Person, id: string, certificate: string, name = 'A browser') =>
  person.call<Device>('PUT', `/devices/${id}`, { name, certificate });

describe('registering a device', () => {
  it('binds the session, under the same token', async () => {
    const person = await signUp(relay);
    expect(await person.call('GET', '/welcomes')).toMatchObject({
      status: 403,
      body: { code: 'device-required' },
    });
    const id = randomUUID();
    const certificate = certificateOf(person.id, id);
    expect((await register(person, id, certificate, ' Firefox on Linux ')).body).toEqual({
      id,
      name: 'Firefox on Linux',
      certificate,
      created_at: new Date(now).toISOString(),
      last_seen_at: new Date(now).toISOString(),
      current: true,
    });
    expect((await person.call('GET', '/welcomes')).status).toBe(200);
  });

  it('resumes it in a later session under the same certificate', async () => {
    const first = await signUpOnDevice(relay);
    const later = await logIn(relay, first);
    expect((await later.call('GET', '/welcomes')).status).toBe(403);
    expect(await register(later, first.deviceId, first.certificate, 'Renamed')).toMatchObject({
      status: 200,
      body: { id: first.deviceId, name: 'Renamed', current: true },
    });
    expect((await later.call<Device[]>('GET', '/devices')).body).toHaveLength(1);
  });

  it('refuses another certificate, another person and a second device for one session', async () => {
    const owner = await signUpOnDevice(relay);
    const conflict = { status: 409, body: { code: 'device-conflict' } };
    const [later, stranger, id] = [await logIn(relay, owner), await signUp(relay), randomUUID()];
    const another = certificateOf(owner.id, owner.deviceId, privateKeyOf('another account'));
    expect(await register(later, owner.deviceId, another)).toMatchObject(conflict);
    const theirs = certificateOf(stranger.id, owner.deviceId);
    expect(await register(stranger, owner.deviceId, theirs)).toMatchObject(conflict);
    expect(await register(owner, id, certificateOf(owner.id, id))).toMatchObject(conflict);
    expect((await owner.call<Device[]>('GET', '/devices')).body).toHaveLength(1);
  });

  it('takes the device itself to say so: a stolen token is not enough', async () => {
    const owner = await signUpOnDevice(relay);
    const [stolen, another] = [await logIn(relay, owner), await logIn(relay, owner)];
    const device = { name: 'A browser', certificate: owner.certificate };
    const take = (signature: string | undefined, id = owner.deviceId, body: object = device) =>
      call(relay, 'PUT', `/devices/${id}`, { token: stolen.token, body: { ...body, signature } });
    const refused = { status: 403, body: { code: 'forbidden' } };
    const id = randomUUID();
    const attempts = [
      take(undefined),
      take(base64Url(64)),
      // One certificate is of another session, and one of another device.
      take(sessionSignature(another.token, owner.deviceId)),
      take(sessionSignature(stolen.token, id)),
      // A device whose certificate is none, or another one's.
      take(sessionSignature(stolen.token, id), id),
      take(sessionSignature(stolen.token, id), id, { name: 'A browser', certificate: base64Url(200) }),
    ];
    for (const attempt of attempts) expect(await attempt).toMatchObject(refused);
    expect(await stolen.call('GET', '/welcomes')).toMatchObject({ body: { code: 'device-required' } });
    expect((await take(sessionSignature(stolen.token, owner.deviceId))).status).toBe(200);
    // From then on it is the session's, and can be given another name.
    expect((await take(undefined)).status).toBe(200);
  });

  it('refuses a device whose key is of small order: one signature would do for every session', async () => {
    const person = await signUp(relay);
    const id = randomUUID();
    const points = [
      '0100000000000000000000000000000000000000000000000000000000000000',
      '0100000000000000000000000000000000000000000000000000000000000080',
      '0000000000000000000000000000000000000000000000000000000000000000',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    ];
    for (const point of points) {
      const certificate = Buffer.from(certificateOf(person.id, id), 'base64url');
      const key = certificate.subarray(1 + 37 + 37 + 1, 1 + 37 + 37 + 1 + 32);
      key.set(Buffer.from(point, 'hex'));
      // R is the neutral element and S is 0, which holds for a neutral key whatever is signed.
      const signature = Buffer.concat([Buffer.of(1), Buffer.alloc(63)]).toString('base64url');
      const body = { name: 'A browser', certificate: certificate.toString('base64url'), signature };
      const answer = await call(relay, 'PUT', `/devices/${id}`, { token: person.token, body });
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });

  it('stops at the limit', async () => {
    const person = await signUp(relay);
    for (let count = 0; count < limits.devicesPerUser; count++) await onAnotherDevice(relay, person);
    const id = randomUUID();
    // The session of the sign-up may have been the idlest of too many.
    const anew = await logIn(relay, person);
    expect(await register(anew, id, certificateOf(person.id, id))).toMatchObject({
      status: 409,
      body: { code: 'limit-reached' },
    });
  });

  it.each([
    ['name', { name: ' ', certificate: base64Url(10) }],
    ['name', { name: 'a\nb', certificate: base64Url(10) }],
    ['certificate', { name: 'A', certificate: base64Url(limits.certificateMax + 1) }],
    ['certificate', { name: 'A', certificate: 'not base64url!' }],
    ['certificate', { name: 'A' }],
  ])('refuses a bad %s and names it', async (field, body) => {
    const person = await signUp(relay);
    const answer = await person.call('PUT', `/devices/${randomUUID()}`, body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
  });
});

describe('devices', () => {
  it('are listed to their owner, with the one that asks', async () => {
    const first = await signUpOnDevice(relay);
    now += minute;
    const second = await onAnotherDevice(relay, first);
    const devices = (await second.call<Device[]>('GET', '/devices')).body;
    expect(devices.map(({ id, current }) => [id, current])).toEqual([
      [first.deviceId, false],
      [second.deviceId, true],
    ]);
  });

  it('show when they were last seen, to within five minutes', async () => {
    const person = await signUpOnDevice(relay);
    const registered = now;
    const lastSeen = async () => {
      const other = await logIn(relay, person);
      return (await other.call<Device[]>('GET', '/devices')).body[0]?.last_seen_at;
    };
    now = registered + 4 * minute;
    await person.call('GET', '/profile');
    expect(await lastSeen()).toBe(new Date(registered).toISOString());
    now = registered + 6 * minute;
    await person.call('GET', '/profile');
    expect(await lastSeen()).toBe(new Date(now).toISOString());
  });

  it("show their certificates to their owner and the owner's contacts alone", async () => {
    const [owner, contact, stranger] = [
      await signUpOnDevice(relay),
      await signUp(relay),
      await signUp(relay),
    ];
    await befriend(owner, contact);
    const expected = [{ id: owner.deviceId, certificate: owner.certificate }];
    for (const person of [owner, contact]) {
      const answer = await person.call<DeviceCertificate[]>('GET', `/users/${owner.id}/devices`);
      expect(answer).toMatchObject({ status: 200, body: expected });
    }
    const refused = await stranger.call('GET', `/users/${owner.id}/devices`);
    expect(refused).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect((await stranger.call('GET', `/users/${randomUUID()}/devices`)).body).toEqual(refused.body);
  });
});

describe('KeyPackages', () => {
  const claim = (person: Person, ownerId: string) =>
    person.call<ClaimedKeyPackage[]>('POST', `/users/${ownerId}/key-packages/claim`);

  it('are counted, and the same one counts once', async () => {
    const person = await signUpOnDevice(relay);
    const none = { available: 0, lastResort: false };
    expect((await person.call('GET', '/key-packages')).body).toEqual({
      ...none,
      suites: [
        { suite: 0xf04d, ...none },
        { suite: 0x004d, ...none },
      ],
    });
    const keyPackages = [base64Url(300), base64Url(300)];
    const lastResort = base64Url(300);
    const answer = await person.call('POST', '/key-packages', { keyPackages, lastResort });
    expect(answer).toMatchObject({ status: 201, body: { available: 2 } });
    const again = await person.call('POST', '/key-packages', {
      keyPackages: [...keyPackages, base64Url(300)],
    });
    expect(again).toMatchObject({ status: 201, body: { available: 3 } });
    expect((await person.call('GET', '/key-packages')).body).toMatchObject({
      available: 3,
      lastResort: true,
    });
  });

  it('are given once each, then the last-resort one is, and a new one replaces it', async () => {
    const [owner, contact] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(owner, contact);
    const keyPackages = [base64Url(300), base64Url(300), base64Url(300)];
    const lastResort = base64Url(300);
    await owner.call('POST', '/key-packages', { keyPackages, lastResort });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => claim(contact, owner.id)));
    const claimed = answers.flatMap((answer) => answer.body);
    expect(
      claimed
        .filter((one) => !one.lastResort)
        .map((one) => one.keyPackage)
        .sort(),
    ).toEqual([...keyPackages].sort());
    expect(claimed.filter((one) => one.lastResort).map((one) => one.keyPackage)).toEqual([
      lastResort,
      lastResort,
    ]);
    expect(new Set(claimed.map((one) => one.deviceId))).toEqual(new Set([owner.deviceId]));

    const replacement = base64Url(300);
    await owner.call('POST', '/key-packages', { keyPackages: [], lastResort: replacement });
    expect((await claim(contact, owner.id)).body).toEqual([
      { deviceId: owner.deviceId, keyPackage: replacement, lastResort: true },
    ]);
  });

  it('come one from each device; the calling device and those without any are left out', async () => {
    const first = await signUpOnDevice(relay);
    const second = await onAnotherDevice(relay, first);
    await onAnotherDevice(relay, first);
    for (const device of [first, second]) {
      await device.call('POST', '/key-packages', { keyPackages: [base64Url(300), base64Url(300)] });
    }
    const contact = await signUpOnDevice(relay);
    await befriend(first, contact);
    const byContact = (await claim(contact, first.id)).body.map((one) => one.deviceId);
    expect(byContact.sort()).toEqual([first.deviceId, second.deviceId].sort());
    expect((await claim(first, first.id)).body.map((one) => one.deviceId)).toEqual([second.deviceId]);
  });

  it('are refused to somebody who is no contact', async () => {
    const [owner, stranger] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await owner.call('POST', '/key-packages', { keyPackages: [base64Url(300)] });
    expect(await claim(stranger, owner.id)).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
    expect(await claim(stranger, randomUUID())).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect((await owner.call('GET', '/key-packages')).body).toMatchObject({ available: 1 });
  });

  it('of several people come by one call: all of them, or none is taken', async () => {
    const [one, other, contact] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    await befriend(one, contact);
    const claimAll = (...userIds: string[]) =>
      contact.call<(ClaimedKeyPackage & { userId: string })[]>('POST', '/key-packages/claim', {
        user_ids: userIds,
      });
    const stock = new Map([one, other].map((person) => [person.id, base64Url(300)]));
    for (const person of [one, other]) {
      await person.call('POST', '/key-packages', { keyPackages: [stock.get(person.id)] });
    }
    expect(await claimAll(one.id, other.id)).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
    expect(await claimAll(one.id, randomUUID())).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect((await one.call('GET', '/key-packages')).body).toMatchObject({ available: 1 });

    await befriend(other, contact);
    const { body } = await claimAll(one.id, other.id, one.id);
    expect(body.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))).toEqual(
      [one, other]
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ id, deviceId }) => ({
          userId: id,
          deviceId,
          keyPackage: stock.get(id),
          lastResort: false,
        })),
    );
    const tooMany = Array.from({ length: limits.peoplePerClaim + 1 }, () => randomUUID());
    for (const userIds of [[], tooMany]) {
      expect((await claimAll(...userIds)).status).toBe(422);
    }
  });

  describe('of several suites', () => {
    const [present, former] = [0xf04d, 0x004d] as const;
    const claimAs = (person: Person, userIds: readonly string[], suites?: readonly number[]) =>
      person.call<(ClaimedKeyPackage & { userId: string })[]>('POST', '/key-packages/claim', {
        user_ids: userIds,
        ...(suites === undefined ? {} : { suites }),
      });
    const claimed = async (...args: Parameters<typeof claimAs>) =>
      (await claimAs(...args)).body.map((one) => one.keyPackage).sort();

    /** Publishes a single-use and a last-resort KeyPackage. */
    async function publish(device: Person, suite?: number) {
      const [single, lastResort] = [base64Url(300), base64Url(300)];
      const body = { keyPackages: [single], lastResort, ...(suite === undefined ? {} : { suite }) };
      expect((await device.call('POST', '/key-packages', body)).body).toEqual({ available: 1 });
      return { single, lastResort };
    }

    it('are kept beside one another, and counted by suite; without one, 0x004D is meant', async () => {
      const [owner, contact] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
      await befriend(owner, contact);
      const old = await publish(owner);
      const modern = await publish(owner, present);
      expect((await owner.call('GET', '/key-packages')).body).toEqual({
        available: 1,
        lastResort: true,
        suites: [
          { suite: present, available: 1, lastResort: true },
          { suite: former, available: 1, lastResort: true },
        ],
      });
      expect(await claimed(contact, [owner.id])).toEqual([old.single]);
      expect(await claimed(contact, [owner.id], [former])).toEqual([old.lastResort]);
      expect(await claimed(contact, [owner.id], [present])).toEqual([modern.single]);
      const replaced = base64Url(300);
      await owner.call('POST', '/key-packages', { keyPackages: [], lastResort: replaced, suite: present });
      expect(await claimed(contact, [owner.id], [present])).toEqual([replaced]);
      expect((await claim(contact, owner.id)).body.map((one) => one.keyPackage)).toEqual([old.lastResort]);
    });

    it('are given of the first suite that all devices have, and those that have none of any don’t count', async () => {
      const people = [
        await signUpOnDevice(relay),
        await signUpOnDevice(relay),
        await signUpOnDevice(relay),
      ] as const;
      const [one, behind, without] = people;
      const contact = await signUpOnDevice(relay);
      for (const person of people) await befriend(person, contact);
      const [oneOld, oneNew] = [await publish(one, former), await publish(one, present)];
      const old = await publish(behind, former);
      const best = [present, former];
      expect(await claimed(contact, [one.id, without.id], best)).toEqual([oneNew.single]);
      expect(await claimed(contact, [one.id, behind.id], best)).toEqual([oneOld.single, old.single].sort());
      // The wish of who asks for one suite only: a device that lacks it is left out.
      expect(await claimed(contact, [one.id, behind.id], [present])).toEqual([oneNew.lastResort]);
      const late = await publish(behind, present);
      expect(await claimed(contact, [one.id, behind.id], best)).toEqual(
        [oneNew.lastResort, late.single].sort(),
      );
      expect(await claimed(contact, [behind.id], [former, present])).toEqual([old.lastResort]);
    });

    it.each([[[]], [[3]], [[present, former, present]], ['61517']])('as %j are refused', async (suites) => {
      const person = await signUpOnDevice(relay);
      const body = { user_ids: [person.id], suites };
      expect((await person.call('POST', '/key-packages/claim', body)).status).toBe(422);
      expect(await person.call('POST', '/key-packages', { keyPackages: [], suite: 3 })).toMatchObject({
        status: 422,
      });
    });
  });

  it('are refused beyond the limit, and then none is stored', async () => {
    const person = await signUpOnDevice(relay);
    const hundred = () => Array.from({ length: limits.keyPackagesPerRequest }, () => base64Url(40));
    await person.call('POST', '/key-packages', { keyPackages: hundred() });
    await person.call('POST', '/key-packages', { keyPackages: hundred() });
    const lastResort = base64Url(40);
    expect(
      await person.call('POST', '/key-packages', { keyPackages: [base64Url(40)], lastResort }),
    ).toMatchObject({
      status: 409,
      body: { code: 'limit-reached' },
    });
    expect((await person.call('GET', '/key-packages')).body).toMatchObject({
      available: 200,
      lastResort: false,
    });
    // Those of all suites together are limited.
    expect(
      await person.call('POST', '/key-packages', { keyPackages: [base64Url(40)], suite: 0xf04d }),
    ).toMatchObject({ status: 409, body: { code: 'limit-reached' } });
    const tooMany = { keyPackages: [...hundred(), base64Url(40)] };
    expect(await person.call('POST', '/key-packages', tooMany)).toMatchObject({ status: 422 });
  });

  it('need a device', async () => {
    const person = await signUp(relay);
    const refused = { status: 403, body: { code: 'device-required' } };
    expect(await person.call('GET', '/key-packages')).toMatchObject(refused);
    expect(await person.call('POST', '/key-packages', { keyPackages: [] })).toMatchObject(refused);
    expect(await claim(person, person.id)).toMatchObject(refused);
  });
});
