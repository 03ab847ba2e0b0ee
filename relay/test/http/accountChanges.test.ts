import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountChange } from '../../contract/index.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import { certificateOf, revocationOf, sessionSignature } from '../devices.ts';
import {
  base64Url,
  call,
  onAnotherDevice,
  type PersonOnDevice,
  rotatedVault,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { proofHeaders, proofKeyOf } from '../proofs.ts';
import { recordEvents } from './conversation.ts';

const week = 7 * 24 * 60 * 60 * 1000;
let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let here: PersonOnDevice;
let elsewhere: PersonOnDevice;
const recoveryAuthKey = base64Url(32);
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  here = await signUpOnDevice(relay);
  elsewhere = await onAnotherDevice(relay, here);
  await here.call('PUT', '/vault', { version: 0, sealedVault: base64Url(145), passwordWrap: base64Url(73) });
});

const changes = async () => (await elsewhere.call<AccountChange[]>('GET', '/account-changes')).body;
const recoveryKey = () => ({
  recoveryWrap: base64Url(73),
  recoveryAuthKey,
  recoveryProofKey: proofKeyOf(recoveryAuthKey),
});
const newPassword = (password: string, version: number) => ({
  password,
  passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
  passwordProofKey: proofKeyOf(password),
  vault: rotatedVault(version),
});

describe('a change of who owns the account', () => {
  it.each<[AccountChange['kind'], () => Promise<{ status: number }>]>([
    ['vault', () => here.call('PUT', '/vault', { version: 1, sealedVault: base64Url(145) })],
    [
      'recovery-key-created',
      () => here.call('PUT', '/vault', { version: 1, sealedVault: base64Url(145), ...recoveryKey() }),
    ],
    [
      'email',
      () => here.call('PUT', '/users/me', { username: here.username, email: `${randomUUID()}@example.org` }),
    ],
    [
      'username',
      () =>
        here.call('PUT', '/users/me', {
          username: `uusi${randomUUID().slice(0, 8)}`,
          email: `${here.username}@example.org`,
        }),
    ],
    ['message-backup', () => here.call('DELETE', '/history')],
    [
      'device-revoked',
      async () => {
        const { deviceId } = await onAnotherDevice(relay, here);
        return here.call('DELETE', `/devices/${deviceId}`, { statement: revocationOf(here, deviceId) });
      },
    ],
  ])('is told to the other devices at once, with the device that made it: %s', async (kind, change) => {
    let status = 0;
    const events = await recordEvents(relay, [here], async () => {
      ({ status } = await change());
    });
    expect(status).toBeLessThan(300);
    expect(events).toContainEqual([here.id, { type: 'account' }]);
    expect(await changes()).toEqual([
      {
        id: expect.any(String),
        kind,
        device_id: here.deviceId,
        device_name: 'A browser',
        created_at: new Date(now).toISOString(),
      },
    ]);
  });

  it('is told as another recovery key where there was one, and as the first where there was none', async () => {
    const set = (version: number) => {
      now += 1;
      return here.call('PUT', '/vault', { version, sealedVault: base64Url(145), ...recoveryKey() });
    };
    for (const version of [1, 2]) expect((await set(version)).status).toBe(200);
    expect((await changes()).map(({ kind }) => kind)).toEqual(['recovery-key-created', 'recovery-key']);
  });

  it('is told as the first recovery key where there is no part of one, and as another or none where there is', async () => {
    const { recoveryWrap, ...credentials } = recoveryKey();
    const none = { recoveryWrap: null };
    const parts = [none, credentials, credentials, { recoveryWrap }, recoveryKey(), none, recoveryKey()];
    for (const [at, part] of parts.entries()) {
      now += 1;
      const vault = { version: at + 1, sealedVault: base64Url(145), ...part };
      expect((await here.call('PUT', '/vault', vault)).status).toBe(200);
    }
    expect((await changes()).map(({ kind }) => kind)).toEqual([
      'vault',
      'recovery-key-created',
      'recovery-key',
      'vault',
      'recovery-key',
      'recovery-key',
      'recovery-key-created',
    ]);
  });

  it('is told to a device that logs in later, a new password included', async () => {
    const password = base64Url(32);
    const body = { currentPassword: here.password, ...newPassword(password, 1) };
    expect((await here.call('PUT', '/users/me/password', body)).status).toBe(200);
    elsewhere = await onAnotherDevice(relay, { ...here, password });
    expect(await changes()).toMatchObject([{ kind: 'password', device_id: here.deviceId }]);
  });

  it('has the device that a recovered session got afterwards', async () => {
    await here.call('PUT', '/vault', { version: 1, sealedVault: base64Url(145), ...recoveryKey() });
    const recovered = await call<{ access_token: string }>(relay, 'POST', '/recovery', {
      body: { email: here.email, recoveryAuthKey },
    });
    const token = recovered.body.access_token;
    const password = base64Url(32);
    const change = {
      method: 'PUT',
      path: '/users/me/password',
      body: newPassword(password, 2),
    };
    const byRecovery = { token, authKey: recoveryAuthKey, key: 'recovery' } as const;
    const headers = await proofHeaders(relay, byRecovery, change);
    now += 1;
    await call(relay, change.method, change.path, { token, headers, body: change.body });
    elsewhere = await onAnotherDevice(relay, { ...here, password });
    expect((await changes()).at(-1)).toMatchObject({ kind: 'password', device_id: null, device_name: null });
    const deviceId = randomUUID();
    const certificate = certificateOf(here.id, deviceId);
    const device = { name: 'Another browser', certificate, signature: sessionSignature(token, deviceId) };
    await call(relay, 'PUT', `/devices/${deviceId}`, { token, body: device });
    expect((await changes()).at(-1)).toMatchObject({
      kind: 'password',
      device_id: deviceId,
      device_name: 'Another browser',
    });
  });

  it('is forgotten after a week', async () => {
    await here.call('PUT', '/vault', { version: 1, sealedVault: base64Url(145) });
    now += week - 1;
    expect(await changes()).toHaveLength(1);
    now += 1;
    expect(await changes()).toEqual([]);
    await createPurgeJob({ db: relay.relay.database.db, clock: () => now, log: relay.relay.app.log }).run();
    expect(await relay.relay.database.db.selectFrom('account_changes').selectAll().execute()).toEqual([]);
  });
});

it('what needs no proof is no change of who owns the account', async () => {
  const other = await onAnotherDevice(relay, here);
  const statement = revocationOf(other, other.deviceId);
  await other.call('DELETE', `/devices/${other.deviceId}`, { statement });
  await here.call('PUT', '/users/me', {
    username: here.username.toUpperCase(),
    email: here.email,
  });
  expect(await changes()).toEqual([]);
});
