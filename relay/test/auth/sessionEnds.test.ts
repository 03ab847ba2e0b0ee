import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, limits, topics } from '../../contract/index.ts';
import { revocationOf, sessionOf } from '../devices.ts';
import {
  base64Url,
  befriend,
  call,
  onAnotherDevice,
  type PersonOnDevice,
  rotatedVault,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createClients, granted, nextPacket, pingOf, puback } from '../mqtt/mqttClient.ts';
import { arriveAt, hello, Tab } from '../presence/tab.ts';
import { proofHeaders, proofKeyOf } from '../proofs.ts';

let relay: TestRelay;
let here: PersonOnDevice;
let elsewhere: PersonOnDevice;
const recoveryAuthKey = base64Url(32);
const clients = createClients();
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  here = await signUpOnDevice(relay);
  elsewhere = await onAnotherDevice(relay, here);
  const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
  const recoveryProofKey = proofKeyOf(recoveryAuthKey);
  const vault = { version: 0, sealedVault: base64Url(145), ...wraps, recoveryAuthKey, recoveryProofKey };
  if ((await here.call('PUT', '/vault', vault)).status !== 200) throw new Error('the vault was not stored');
});
afterEach(() => clients.endAll());

const newPassword = () => ({
  password: base64Url(32),
  passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
  passwordProofKey: base64Url(32),
  vault: rotatedVault(1),
});

interface End {
  readonly how: string;
  /** The code that its token is answered with then; `session-expired` by default. */
  readonly code?: ErrorCode;
  /** Status of the call that ends a session. */
  readonly action: () => Promise<{ status: number }>;
  readonly ended: () => PersonOnDevice[];
  readonly kept: () => PersonOnDevice[];
}

const ends: readonly End[] = [
  {
    how: 'by logging out',
    action: () => elsewhere.call('POST', '/logout'),
    ended: () => [elsewhere],
    kept: () => [here],
  },
  {
    how: 'by another one that was opened after it',
    action: () => elsewhere.call('DELETE', `/sessions/${sessionOf(here.token)}`),
    ended: () => [here],
    kept: () => [elsewhere],
  },
  {
    how: 'by one that was opened before it, and proves the password',
    action: () => here.call('DELETE', `/sessions/${sessionOf(elsewhere.token)}`),
    ended: () => [elsewhere],
    kept: () => [here],
  },
  {
    how: 'as the longest idle one, by a log-in beyond how many an account may have',
    action: async () => {
      // With the two that there are, one too many.
      const { sessions } = relay.relay.services;
      for (let more = 2; more <= limits.sessionsPerUser; more += 1) await sessions.open(here.id);
      return { status: 200 };
    },
    ended: () => [here],
    kept: () => [elsewhere],
  },
  {
    how: 'by revoking its device from another',
    code: 'device-revoked',
    action: () =>
      here.call('DELETE', `/devices/${elsewhere.deviceId}`, {
        statement: revocationOf(here, elsewhere.deviceId),
      }),
    ended: () => [elsewhere],
    kept: () => [here],
  },
  {
    how: 'by a new password',
    code: 'password-changed',
    action: () =>
      here.call('PUT', '/users/me/password', { currentPassword: here.password, ...newPassword() }),
    ended: () => [elsewhere],
    kept: () => [here],
  },
  {
    how: 'by recovering the account',
    code: 'password-changed',
    action: async () => {
      const body = { email: here.email, recoveryAuthKey };
      const recovered = await call<{ access_token: string }>(relay, 'POST', '/recovery', { body });
      const token = recovered.body.access_token;
      const change = { method: 'PUT', path: '/users/me/password', body: newPassword() };
      const byRecovery = { token, authKey: recoveryAuthKey, key: 'recovery' } as const;
      const headers = await proofHeaders(relay, byRecovery, change);
      return call(relay, change.method, change.path, { token, headers, body: change.body });
    },
    ended: () => [here, elsewhere],
    kept: () => [],
  },
  {
    how: 'by deleting the account',
    action: () => here.call('DELETE', '/user'),
    ended: () => [here, elsewhere],
    kept: () => [],
  },
];

/** A device with both of its sockets open. */
async function live(person: PersonOnDevice) {
  const client = await clients.connect(relay.mqttUrl, person);
  expect(await granted(client, topics.userMessages(person.id))).toEqual([1]);
  const { tab } = await arriveAt(relay, person);
  return { client, tab, disconnected: nextPacket(client, 'disconnect') };
}

describe('a session that a new password has ended', () => {
  const answer = async () => (await elsewhere.call<{ code: ErrorCode }>('GET', '/profile')).body.code;

  it('says so also after the next log-in, which removes past sessions', async () => {
    const change = { currentPassword: here.password, ...newPassword() };
    expect((await here.call('PUT', '/users/me/password', change)).status).toBe(200);
    await relay.relay.services.sessions.open(here.id);
    expect(await answer()).toBe('password-changed');
  });

  it('says that its device was revoked once it is', async () => {
    const password = base64Url(32);
    const passwordProofKey = proofKeyOf(password);
    const changed = { currentPassword: here.password, ...newPassword(), password, passwordProofKey };
    expect((await here.call('PUT', '/users/me/password', changed)).status).toBe(200);
    const revoke = {
      method: 'DELETE',
      path: `/devices/${elsewhere.deviceId}`,
      body: { statement: revocationOf(here, elsewhere.deviceId) },
    };
    const { token } = here;
    const headers = await proofHeaders(relay, { token, authKey: password, key: 'password' }, revoke);
    const { method, path, body } = revoke;
    expect((await call(relay, method, path, { token, headers, body })).status).toBe(204);
    expect(await answer()).toBe('device-revoked');
  });
});

describe('as many sessions as an account may have', () => {
  it('all live, and a device that was just seen outlives a session that never had one', async () => {
    const { sessions } = relay.relay.services;
    const deviceless = await sessions.open(here.id);
    for (let more = 3; more < limits.sessionsPerUser; more += 1) await sessions.open(here.id);
    expect((await call(relay, 'GET', '/profile', { token: deviceless })).status).toBe(200);
    const seen = Date.now() + 60_000;
    const { db } = relay.relay.database;
    await db.updateTable('devices').set({ last_seen_at: seen }).where('user_id', '=', here.id).execute();
    await sessions.open(here.id);
    expect((await call(relay, 'GET', '/profile', { token: deviceless })).status).toBe(401);
    for (const person of [here, elsewhere]) expect((await person.call('GET', '/profile')).status).toBe(200);
  });
});

describe.each(ends)('a session that ends $how', ({ action, code = 'session-expired', ended, kept }) => {
  it('ends everywhere at once, and no other with it', async () => {
    const ending = await Promise.all(ended().map(live));
    const staying = await Promise.all(kept().map(live));
    expect((await action()).status).toBeLessThan(300);
    for (const person of ended()) {
      expect(await person.call('GET', '/profile')).toMatchObject({
        status: 401,
        body: { code },
      });
    }
    for (const { disconnected, tab } of ending) {
      expect(await disconnected).toMatchObject({
        reasonCode: 0x87,
        properties: { userProperties: { code } },
      });
      expect(await tab.closed).toBe(4401);
      expect(await tab.closeReason).toBe(code);
    }
    for (const [index, person] of kept().entries()) {
      expect((await person.call('GET', '/profile')).status).toBe(200);
      const stayed = staying[index];
      await stayed?.tab.expectNothing();
      expect(stayed && (await puback(stayed.client, topics.ping, pingOf(person)))).toEqual({ reasonCode: 0 });
    }
  });

  it('opens no new connection', async () => {
    expect((await action()).status).toBeLessThan(300);
    for (const person of ended()) {
      expect(await clients.connack(relay.mqttUrl, person)).toMatchObject({
        reasonCode: 0x87,
        properties: { userProperties: { code } },
      });
      const tab = await Tab.open(relay);
      tab.send(hello(person));
      expect(await tab.closed).toBe(4401);
      expect(await tab.closeReason).toBe(code);
    }
  });

  it('leaves its person offline to contacts', async () => {
    const contact = await signUpOnDevice(relay);
    await befriend(here, contact);
    const { tab: watching } = await arriveAt(relay, contact);
    for (const person of ended()) await arriveAt(relay, person);
    expect(await watching.next()).toEqual({ userId: here.id, online: true });
    await action();
    expect(await watching.next()).toEqual({ userId: here.id, online: false });
  });
});
