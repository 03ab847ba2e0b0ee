import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedKeyPackage } from '../../contract/index.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import {
  base64Url,
  befriend,
  type Person,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());

describe('KeyPackages of several suites', () => {
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
    const { body } = await contact.call<ClaimedKeyPackage[]>('POST', `/users/${owner.id}/key-packages/claim`);
    expect(body.map((one) => one.keyPackage)).toEqual([old.lastResort]);
  });

  it('are neither given nor counted from 89 days on, deleted by the job, and new ones take their place', async () => {
    const [owner, contact] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(owner, contact);
    const { db } = relay.relay.database;
    const tables = ['key_packages', 'last_resort_key_packages'] as const;
    const now = Date.now();
    const lifetime = 89 * 24 * 60 * 60 * 1000;
    const job = createPurgeJob({ db, clock: () => now, log: relay.relay.app.log });
    const age = async (by: number) => {
      for (const table of tables)
        await db
          .updateTable(table)
          .set({ created_at: now - by })
          .execute();
    };
    const counted = async () =>
      (await owner.call<{ suites: unknown[] }>('GET', '/key-packages')).body.suites[0];
    const stored = async () => {
      const rows = tables.map((table) =>
        db.selectFrom(table).select('suite').where('device_id', '=', owner.deviceId).execute(),
      );
      return (await Promise.all(rows)).map(({ length }) => length);
    };
    await publish(owner, present);
    // The relay's clock goes on while the test runs.
    await age(lifetime - 60_000);
    await job.run();
    expect(await counted()).toEqual({ suite: present, available: 1, lastResort: true });
    await age(lifetime);
    expect(await counted()).toEqual({ suite: present, available: 0, lastResort: false });
    expect(await claimed(contact, [owner.id], [present])).toEqual([]);
    expect(await stored()).toEqual([1, 1]);
    const second = await publish(owner, present);
    expect(await stored()).toEqual([2, 1]);
    await job.run();
    expect(await stored()).toEqual([1, 1]);
    expect(await claimed(contact, [owner.id], [present])).toEqual([second.single]);
    expect(await claimed(contact, [owner.id], [present])).toEqual([second.lastResort]);
  });

  it('are given newest first, as those say what the browser can do by now', async () => {
    const [owner, contact] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(owner, contact);
    const before = await publish(owner, present);
    await relay.relay.database.db
      .updateTable('key_packages')
      .set((column) => ({ created_at: column('created_at', '-', 1000) }))
      .where('device_id', '=', owner.deviceId)
      .execute();
    const [single, lastResort] = [base64Url(300), base64Url(300)];
    await owner.call('POST', '/key-packages', { keyPackages: [single], lastResort, suite: present });
    const given = [];
    for (let i = 0; i < 3; i += 1) given.push(...(await claimed(contact, [owner.id], [present])));
    expect(given).toEqual([single, before.single, lastResort]);
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
