import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultQuotas, type QuotaName } from '../../src/rateLimits/quotas.ts';
import {
  base64Url,
  befriend,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup } from '../http/conversation.ts';

let now: number;
let relay: TestRelay;
beforeEach(() => {
  now = Date.parse('2026-03-01T12:00:00.000Z');
});
afterEach(() => relay.close());

/** A relay without any limit but these. */
async function relayWith(limits: Partial<Record<QuotaName, string>>): Promise<void> {
  const changes = Object.keys(defaultQuotas).map((name) => `${name}=${limits[name as QuotaName] ?? 'off'}`);
  relay = await startTestRelay({ environment: { RATE_LIMITS: changes.join(',') }, clock: () => now });
}

describe('the target of others', () => {
  it('keeps its KeyPackages: whoever takes too many gets last-resort ones', async () => {
    await relayWith({ 'claim.account-target': '3/30s', 'claim.target': '5/50s' });
    const [eero, mette, aino] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    for (const person of [eero, mette]) await befriend(aino, person);
    const keyPackages = Array.from({ length: 20 }, () => base64Url(300));
    await aino.call('POST', '/key-packages', { keyPackages, lastResort: base64Url(300) });
    const claim = async (from: PersonOnDevice) => {
      const answer = await from.call<{ lastResort: boolean }[]>(
        'POST',
        `/users/${aino.id}/key-packages/claim`,
      );
      return answer.body.map(({ lastResort }) => lastResort);
    };
    const left = async () => (await aino.call<{ available: number }>('GET', '/key-packages')).body.available;
    for (let time = 0; time < 3; time += 1) expect(await claim(eero)).toEqual([false]);
    for (let time = 0; time < 10; time += 1) expect(await claim(eero)).toEqual([true]);
    expect(await left()).toBe(17);
    const both = () =>
      mette.call<{ lastResort: boolean }[]>('POST', '/key-packages/claim', { user_ids: [aino.id] });
    for (const lastResort of [false, false, true])
      expect((await both()).body).toMatchObject([{ lastResort }]);
    expect(await left()).toBe(15);
    now += 10_000;
    expect(await claim(eero)).toEqual([false]);
  });

  it('keeps its hour of KeyPackages for those who get some: a stranger uses up nothing', async () => {
    await relayWith({ 'claim.target': '2/2h' });
    const [eero, stranger, aino] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    await befriend(aino, eero);
    await aino.call('POST', '/key-packages', { keyPackages: [base64Url(300)], lastResort: base64Url(300) });
    for (let time = 0; time < 2; time += 1) {
      const alone = await stranger.call('POST', `/users/${aino.id}/key-packages/claim`);
      const among = await stranger.call('POST', '/key-packages/claim', { user_ids: [stranger.id, aino.id] });
      for (const answer of [alone, among])
        expect(answer).toMatchObject({ status: 403, body: { code: 'not-a-contact' } });
    }
    expect((await eero.call('POST', `/users/${aino.id}/key-packages/claim`)).body).toMatchObject([
      { lastResort: false },
    ]);
  });

  it('keeps its day of groups, however often its devices are added to the group that it is in', async () => {
    await relayWith({ 'added.target': '2/2h' });
    const [aino, eero, mette] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    for (const person of [eero, mette]) await befriend(aino, person);
    const groupId = await createGroup(eero);
    await addMember(eero, groupId, aino, commitBody(0));
    for (const epoch of [1, 2, 3]) {
      const again = { user_ids: [aino.id], ...commitBody(epoch) };
      expect((await eero.call('POST', `/group/${groupId}/add`, again)).status).toBe(201);
    }
    expect((await addMember(mette, await createGroup(mette), aino, commitBody(0))).status).toBe(201);
  });

  it('keeps its day of groups where one other puts it into groups again and again, or asks', async () => {
    await relayWith({ 'added.account-target': '2/2h', 'added.target': '4/4h' });
    const [aino, eero, mette] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    for (const person of [eero, mette]) await befriend(aino, person);
    const put = async (from: PersonOnDevice) => addMember(from, await createGroup(from), aino, commitBody(0));
    const ask = async (from: PersonOnDevice) =>
      from.call('POST', `/group/${await createGroup(from)}/invitations`, { user_ids: [aino.id] });
    expect((await put(eero)).status).toBe(201);
    await aino.call('PUT', '/users/me/asked-first', { asked_first: true });
    expect((await ask(eero)).status).toBe(200);
    const refused = { status: 413, body: { code: 'quota', quota: 'groups', retryAfter: 3600 } };
    for (let time = 0; time < 5; time += 1) {
      expect(await ask(eero)).toMatchObject(refused);
      expect(await put(eero)).toMatchObject(refused);
    }
    await aino.call('PUT', '/users/me/asked-first', { asked_first: false });
    for (let time = 0; time < 2; time += 1) expect((await put(mette)).status).toBe(201);
    now += 3_600_000;
    expect((await put(eero)).status).toBe(201);
  });

  it('is put into so many groups a day, whoever does it, and into no more', async () => {
    await relayWith({ 'added.target': '4/4h' });
    const [aino, eero, mette] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    for (const person of [eero, mette]) await befriend(aino, person);
    await befriend(eero, mette);
    const put = async (from: PersonOnDevice, who: PersonOnDevice) =>
      addMember(from, await createGroup(from), who, commitBody(0));
    for (const from of [eero, mette, eero]) expect((await put(from, aino)).status).toBe(201);
    // One that fails doesn't count.
    expect((await addMember(eero, await createGroup(eero), aino, commitBody(7))).status).toBe(409);
    expect((await put(mette, aino)).status).toBe(201);
    const refused = { status: 413, body: { code: 'quota', quota: 'groups', retryAfter: 3600 } };
    for (const from of [eero, mette]) expect(await put(from, aino)).toMatchObject(refused);
    expect((await put(aino, eero)).status).toBe(201);
    now += 3_600_000;
    expect((await put(eero, aino)).status).toBe(201);
  });
});
