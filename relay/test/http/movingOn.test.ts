import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountChange, Device, OpenSession, RevokedDevice, Vault } from '../../contract/index.ts';
import { certificateOf, privateKeyOf, publicKeyOf, revocationOf, sessionSignature } from '../devices.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  onAnotherDevice,
  type PersonOnDevice,
  rotatedVault,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createClients, disconnectReason } from '../mqtt/mqttClient.ts';
import { type Nonce, proofFor, proofKeyOf, signedProof } from '../proofs.ts';
import { messageBody, recordEvents } from './conversation.ts';

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let owner: PersonOnDevice;
let thief: PersonOnDevice;
let contact: PersonOnDevice;
const recoveryAuthKey = base64Url(32);
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  owner = await signUpOnDevice(relay);
  [thief, contact] = await Promise.all([onAnotherDevice(relay, owner), signUpOnDevice(relay)]);
  await befriend(owner, contact);
  const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
  const recoveryProofKey = proofKeyOf(recoveryAuthKey);
  const vault = { version: 0, sealedVault: base64Url(200), ...wraps, recoveryAuthKey, recoveryProofKey };
  if ((await owner.call('PUT', '/vault', vault)).status !== 200) throw new Error('the vault was not stored');
});

const formerKey = privateKeyOf('former');
const newKey = privateKeyOf('new');

/** The same bytes with a zero more, or one byte less. */
function resized(bytes: string, by: 1 | -1): string {
  const whole = Buffer.from(bytes, 'base64url');
  return (by > 0 ? Buffer.concat([whole, Buffer.alloc(1)]) : whole.subarray(0, -1)).toString('base64url');
}

const statements = (...devices: readonly PersonOnDevice[]) =>
  devices.map(({ deviceId, id }) => ({ id: deviceId, statement: revocationOf({ id }, deviceId) }));
const newPassword = base64Url(32);
const request = (changes: object = {}) => ({
  password: newPassword,
  passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
  passwordProofKey: proofKeyOf(newPassword),
  vault: rotatedVault(1),
  accountKey: publicKeyOf(newKey).toString('base64url'),
  revocations: statements(owner, thief),
  ...changes,
});
const moveOn = (changes: object = {}) => owner.call('PUT', '/users/me/account-key', request(changes));
const register = (deviceId: string, bytes: string, token = owner.token) =>
  call(relay, 'PUT', `/devices/${deviceId}`, {
    token,
    body: { name: 'Firefox', certificate: bytes, signature: sessionSignature(token, deviceId) },
  });
const present = () => ({ ...owner, password: newPassword });

describe('moving on after a theft', () => {
  it('takes vault, password and account key, and revokes every device, in one call', async () => {
    const body = request();
    expect(await owner.call('PUT', '/users/me/account-key', body)).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    const { sealedVault } = body.vault;
    expect((await owner.call<Vault>('GET', '/vault')).body).toEqual({
      version: 2,
      sealedVault,
      hasRecoveryKey: false,
    });
    expect((await owner.call<Device[]>('GET', '/devices')).body).toEqual([]);
    const revoked = (await contact.call<RevokedDevice[]>('GET', `/users/${owner.id}/revoked-devices`)).body;
    const byId = Object.fromEntries(revoked.map(({ id, statement }) => [id, statement]));
    expect(byId).toEqual(Object.fromEntries(body.revocations.map(({ id, statement }) => [id, statement])));
    expect((await contact.call('POST', `/users/${owner.id}/key-packages/claim`)).body).toEqual([]);
    expect((await logIn(relay, present())).token).toBeTruthy();
  });

  it('ends every other session and says why, and lets this one register its browser anew', async () => {
    const clients = createClients();
    const client = await clients.connect(relay.mqttUrl, thief);
    const reason = disconnectReason(client);
    await moveOn();
    expect(await reason).toBe(0x87);
    await clients.endAll();
    expect(await thief.call('GET', '/profile')).toMatchObject({
      status: 401,
      body: { code: 'password-changed' },
    });
    // Neither does a session act for a device that is no more.
    expect(await owner.call('POST', `/messages/user/${contact.id}`, messageBody(1))).toMatchObject({
      status: 403,
      body: { code: 'device-required' },
    });
    const deviceId = randomUUID();
    expect((await register(deviceId, certificateOf(owner.id, deviceId, newKey))).status).toBe(200);
    expect((await owner.call<Device[]>('GET', '/devices')).body).toMatchObject([
      { id: deviceId, current: true },
    ]);
  });

  it('lets this session end soon where it registers no browser anew', async () => {
    await moveOn();
    expect((await owner.call<OpenSession[]>('GET', '/sessions')).body).toMatchObject([
      { device_id: null, expires_at: new Date(now + 15 * 60 * 1000).toISOString() },
    ]);
  });

  it('tells contacts of the devices, and the person which device it was', async () => {
    const events = await recordEvents(relay, [owner, contact], moveOn);
    const revoked = [owner, thief].map(({ deviceId: id }) => ({
      type: 'devices',
      userId: owner.id,
      deviceId: id,
    }));
    const heardBy = (person: PersonOnDevice) =>
      events.filter(([userId]) => userId === person.id).map(([, event]) => event);
    expect(heardBy(contact)).toHaveLength(2);
    expect(heardBy(contact)).toEqual(expect.arrayContaining(revoked));
    expect(heardBy(owner)).toEqual([{ type: 'account' }]);
    const deviceId = randomUUID();
    await register(deviceId, certificateOf(owner.id, deviceId, newKey));
    const changes = (await owner.call<AccountChange[]>('GET', '/account-changes')).body;
    expect(changes.at(-1)).toMatchObject({ kind: 'moved-on', device_id: deviceId, device_name: 'Firefox' });
  });

  it('takes devices from then on that the new account key has certified, and no others', async () => {
    await moveOn();
    const deviceId = randomUUID();
    const refused = { status: 403, body: { code: 'forbidden' } };
    for (const bytes of [
      certificateOf(owner.id, deviceId, formerKey),
      certificateOf(owner.id, deviceId, newKey, formerKey),
      certificateOf(contact.id, deviceId, newKey),
      certificateOf(owner.id, randomUUID(), newKey),
      resized(certificateOf(owner.id, deviceId, newKey), 1),
      resized(certificateOf(owner.id, deviceId, newKey), -1),
      base64Url(200),
      base64Url(1),
    ]) {
      expect(await register(deviceId, bytes)).toMatchObject(refused);
    }
    // A revoked device is gone for good, whoever certifies it.
    expect(await register(thief.deviceId, certificateOf(owner.id, thief.deviceId, newKey))).toMatchObject({
      status: 409,
      body: { code: 'device-conflict' },
    });
    expect((await register(deviceId, certificateOf(owner.id, deviceId, newKey))).status).toBe(200);
  });

  it('leaves a thief with the old password and recovery key outside', async () => {
    await moveOn();
    const wrong = { status: 401, body: { code: 'wrong-credentials' } };
    const login = { email: owner.username, password: owner.password };
    expect(await call(relay, 'POST', '/login', { body: login })).toMatchObject(wrong);
    const recovery = { email: owner.username, recoveryAuthKey };
    expect(await call(relay, 'POST', '/recovery', { body: recovery })).toMatchObject(wrong);
  });

  it('is refused as a whole when a device has signed in meanwhile', async () => {
    const another = await onAnotherDevice(relay, owner);
    expect(await moveOn()).toMatchObject({ status: 409, body: { code: 'device-conflict' } });
    expect(await moveOn({ revocations: statements(owner, owner, thief) })).toMatchObject({
      body: { code: 'device-conflict' },
    });
    expect(await moveOn({ revocations: statements(owner, thief, contact) })).toMatchObject({
      body: { code: 'device-conflict' },
    });
    expect((await owner.call<Vault>('GET', '/vault')).body.version).toBe(1);
    expect((await another.call<Device[]>('GET', '/devices')).body).toHaveLength(3);
    expect((await contact.call('GET', `/users/${owner.id}/revoked-devices`)).body).toEqual([]);
    expect((await logIn(relay, owner)).token).toBeTruthy();
    expect((await moveOn({ revocations: statements(owner, thief, another) })).status).toBe(200);
  });

  it('is refused with a vault of another version, and with one for a recovery key', async () => {
    expect(await moveOn({ vault: rotatedVault(2) })).toMatchObject({
      status: 409,
      body: { code: 'stale-version', version: 1 },
    });
    expect(await moveOn({ vault: rotatedVault(1, base64Url(73)) })).toMatchObject({ status: 422 });
  });

  it('is done once: the same call again says that the password it was proven by is no more', async () => {
    const body = request();
    await owner.call('PUT', '/users/me/account-key', body);
    const deviceId = randomUUID();
    await register(deviceId, certificateOf(owner.id, deviceId, newKey));
    expect(await owner.call('PUT', '/users/me/account-key', body)).toMatchObject({
      status: 403,
      body: { code: 'proof-refused' },
    });
    const proof = await proofFor(
      relay,
      { token: owner.token, authKey: newPassword },
      { operation: 'PUT /users/me/account-key', body },
    );
    const headers = { 'x-proof': proof };
    expect(
      await call(relay, 'PUT', '/users/me/account-key', { token: owner.token, headers, body }),
    ).toMatchObject({ status: 409, body: { code: 'stale-version', version: 2 } });
  });
});

describe('moving on', () => {
  const path = '/users/me/account-key';
  const send = (body: object, proof: string | null, token = owner.token) =>
    call(relay, 'PUT', path, { token, body, ...(proof === null ? {} : { headers: { 'x-proof': proof } }) });
  const proofOf = (body: object, operation = `PUT ${path}`) =>
    proofFor(relay, { token: owner.token, authKey: owner.password }, { operation, body });

  it('takes a proof over exactly this call, of this session and this password', async () => {
    const body = request();
    const nonce = (await call<Nonce>(relay, 'POST', '/proof-nonce', { token: owner.token })).body;
    const guessed = signedProof({ authKey: base64Url(32) }, { operation: `PUT ${path}`, body }, nonce);
    const theirs = await proofFor(
      relay,
      { token: thief.token, authKey: owner.password },
      { operation: `PUT ${path}`, body },
    );
    expect(await send(body, null)).toMatchObject({ status: 403, body: { code: 'proof-required' } });
    for (const proof of [
      guessed,
      theirs,
      await proofOf(body, 'PUT /users/me/password'),
      await proofOf({ ...body, accountKey: base64Url(32) }),
      await proofOf({ ...body, revocations: statements(owner) }),
      'AAAA',
    ]) {
      expect(await send(body, proof)).toMatchObject({ status: 403, body: { code: 'proof-refused' } });
    }
    expect((await owner.call<Vault>('GET', '/vault')).body.version).toBe(1);
    expect((await send(body, await proofOf(body))).status).toBe(200);
  });

  it("revokes nobody else's device, whatever the body names", async () => {
    const body = request({ revocations: statements(owner, contact) });
    expect(await send(body, await proofOf(body))).toMatchObject({ body: { code: 'device-conflict' } });
    expect((await contact.call<Device[]>('GET', '/devices')).body).toHaveLength(1);
  });

  it('is for a session with a device, and not for one of the recovery key', async () => {
    const fresh = await logIn(relay, owner);
    const body = request();
    expect(await send(body, null, fresh.token)).toMatchObject({ body: { code: 'device-required' } });
    const recovery = { email: owner.username, recoveryAuthKey };
    const { access_token } = (
      await call<{ access_token: string }>(relay, 'POST', '/recovery', { body: recovery })
    ).body;
    expect(await send(body, null, access_token)).toMatchObject({ body: { code: 'forbidden' } });
    now += 1;
  });
});
