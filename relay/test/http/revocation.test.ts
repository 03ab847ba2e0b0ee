import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Device,
  directConversationId,
  type RevokedDevice,
  type WelcomeItem,
} from '../../contract/index.ts';
import { sessionLifetime } from '../../src/auth/sessions.ts';
import { privateKeyOf, revocationOf } from '../devices.ts';
import {
  base64Url,
  befriend,
  logIn,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  rotatedVault,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createClients, disconnectReason } from '../mqtt/mqttClient.ts';
import { connectBytes, RawClient } from '../mqtt/rawClient.ts';
import { arriveAt } from '../presence/tab.ts';
import { addMember, commitBody, createGroup, recordEvents, submitCommit } from './conversation.ts';

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let owner: PersonOnDevice;
let tablet: PersonOnDevice;
let contact: PersonOnDevice;
let stranger: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  owner = await signUpOnDevice(relay);
  [tablet, contact, stranger] = await Promise.all([
    onAnotherDevice(relay, owner),
    signUpOnDevice(relay),
    signUpOnDevice(relay),
  ]);
  await befriend(owner, contact);
});

const revoke = (person: Person, deviceId: string, statement = revocationOf(owner, deviceId)) =>
  person.call('DELETE', `/devices/${deviceId}`, { statement });
const revoked = (person: Person) => person.call<RevokedDevice[]>('GET', `/users/${owner.id}/revoked-devices`);
const refused = { status: 401, body: { code: 'device-revoked' } };
const notFound = { status: 404, body: { code: 'not-found' } };

describe('revoking a device', () => {
  it('takes it out of the list, and shows the signed statement to who has to act on it', async () => {
    const statement = revocationOf(owner, tablet.deviceId);
    now += 60_000;
    expect((await revoke(owner, tablet.deviceId, statement)).status).toBe(204);
    const devices = (await owner.call<Device[]>('GET', '/devices')).body;
    expect(devices.map(({ id }) => id)).toEqual([owner.deviceId]);
    const expected = [{ id: tablet.deviceId, statement, revoked_at: new Date(now).toISOString() }];
    for (const person of [owner, contact]) {
      expect((await revoked(person)).body).toEqual(expected);
      expect((await person.call('GET', `/users/${owner.id}/devices`)).body).toEqual([
        { id: owner.deviceId, certificate: owner.certificate },
      ]);
    }
    expect(await revoked(stranger)).toMatchObject(notFound);
  });

  it('puts the vault that was sealed anew in the place of the one so far, both or neither', async () => {
    const first = { version: 0, sealedVault: base64Url(200), passwordWrap: base64Url(73) };
    const recovery = { recoveryWrap: base64Url(73), recoveryAuthKey: base64Url(32) };
    await owner.call('PUT', '/vault', { ...first, ...recovery });
    const revokeWith = (vault: object) =>
      owner.call('DELETE', `/devices/${tablet.deviceId}`, {
        statement: revocationOf(owner, tablet.deviceId),
        vault,
      });
    expect(await revokeWith(rotatedVault(2, base64Url(73)))).toMatchObject({
      status: 409,
      body: { code: 'stale-version', version: 1 },
    });
    expect((await tablet.call('GET', '/profile')).status).toBe(200);
    const vault = rotatedVault(1, base64Url(73));
    expect((await revokeWith(vault)).status).toBe(204);
    expect(await tablet.call('GET', '/profile')).toMatchObject(refused);
    const { sealedVault, passwordWrap, recoveryWrap } = vault;
    expect((await owner.call('GET', '/vault')).body).toEqual({
      version: 2,
      sealedVault,
      hasRecoveryKey: true,
    });
    const fresh = await logIn(relay, owner);
    expect((await fresh.call('GET', '/vault/wraps')).body).toEqual({ passwordWrap, recoveryWrap });
  });

  it('renews no keys for a device that revokes itself, with nothing but its session', async () => {
    const first = { version: 0, sealedVault: base64Url(200), passwordWrap: base64Url(73) };
    await owner.call('PUT', '/vault', first);
    const body = { statement: revocationOf(owner, owner.deviceId), vault: rotatedVault(1) };
    expect(await owner.call('DELETE', `/devices/${owner.deviceId}`, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
    expect((await owner.call<{ version: number }>('GET', '/vault')).body.version).toBe(1);
  });

  it('is in one list for the person, contacts and fellow members', async () => {
    const statement = revocationOf(owner, tablet.deviceId);
    now += 60_000;
    await revoke(owner, tablet.deviceId, statement);
    const since = new Date(now).toISOString();
    const listed = { id: tablet.deviceId, user_id: owner.id, statement, revoked_at: since };
    const all = (person: Person, query = '') => person.call('GET', `/revoked-devices${query}`);
    for (const person of [owner, contact]) {
      expect((await all(person)).body).toEqual([listed]);
      expect((await all(person, `?since=${since}`)).body).toEqual([listed]);
      const later = new Date(now + 1).toISOString();
      expect((await all(person, `?since=${later}`)).body).toEqual([]);
    }
    expect((await all(stranger)).body).toEqual([]);
    const fellow = await signUpOnDevice(relay);
    await befriend(contact, fellow);
    const groupId = await createGroup(contact);
    await addMember(contact, groupId, owner, commitBody(0));
    await addMember(contact, groupId, fellow, commitBody(1));
    expect((await all(fellow)).body).toEqual([listed]);
    expect(await all(owner, '?since=yesterday')).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });

  it('reaches the device itself before its connection is closed', async () => {
    const clients = createClients();
    const client = await clients.connect(relay.mqttUrl, tablet);
    const heard: string[] = [];
    client.on('message', (_topic, payload) => heard.push(String(payload)));
    await client.subscribeAsync(`user/${owner.id}/messages`);
    const reason = disconnectReason(client);
    await revoke(owner, tablet.deviceId);
    expect(await reason).toBe(0x87);
    expect(heard.map((payload) => JSON.parse(payload))).toEqual([
      { type: 'devices', userId: owner.id, deviceId: tablet.deviceId },
    ]);
    await clients.endAll();
  });

  it('ends its sessions at once, on open connections too, and no other session', async () => {
    const clients = createClients();
    const [mqttClient, otherClient] = [
      await clients.connect(relay.mqttUrl, tablet),
      await clients.connect(relay.mqttUrl, owner),
    ];
    const { tab } = await arriveAt(relay, tablet);
    const reason = disconnectReason(mqttClient);
    expect((await revoke(owner, tablet.deviceId)).status).toBe(204);
    expect(await reason).toBe(0x87);
    expect(await tab.closed).toBe(4401);
    expect(await tablet.call('GET', '/profile')).toMatchObject(refused);
    const again = await RawClient.open(relay.mqttUrl);
    again.send(connectBytes({ token: tablet.token }));
    const why = { userProperties: { code: 'device-revoked' } };
    expect((await again.ending()).packets).toMatchObject([
      { cmd: 'connack', reasonCode: 0x87, properties: why },
    ]);
    expect(otherClient.connected).toBe(true);
    expect((await owner.call('GET', '/profile')).status).toBe(200);
    await clients.endAll();
  });

  it('deletes its KeyPackages and Welcomes, and leaves those of other devices', async () => {
    for (const device of [owner, tablet]) {
      const keyPackages = { keyPackages: [base64Url(300)], lastResort: base64Url(300) };
      await device.call('POST', '/key-packages', keyPackages);
    }
    const conversationId = directConversationId(owner.id, contact.id);
    const shared = { deviceIds: [owner.deviceId, tablet.deviceId], welcome: base64Url(900) };
    const alone = { deviceIds: [tablet.deviceId], welcome: base64Url(900) };
    expect((await submitCommit(contact, conversationId, commitBody(0, [shared]))).status).toBe(201);
    expect((await submitCommit(contact, conversationId, commitBody(1, [alone]))).status).toBe(201);
    await revoke(owner, tablet.deviceId);
    const claimed = await contact.call('POST', `/users/${owner.id}/key-packages/claim`);
    expect(claimed.body).toMatchObject([{ deviceId: owner.deviceId }]);
    expect((await owner.call<WelcomeItem[]>('GET', '/welcomes')).body).toMatchObject([
      { welcome: shared.welcome },
    ]);
    const { db } = relay.relay.database;
    const stored = await db
      .selectFrom('welcomes')
      .select('epoch')
      .where('conversation_id', '=', conversationId)
      .execute();
    expect(stored).toEqual([{ epoch: 1 }]);
    const late = { deviceIds: [tablet.deviceId], welcome: base64Url(900) };
    expect(await submitCommit(contact, conversationId, commitBody(2, [late]))).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });

  it('cannot be undone by registering the device again', async () => {
    await revoke(owner, tablet.deviceId);
    const again = { name: 'A browser', certificate: tablet.certificate };
    const fresh = await logIn(relay, owner);
    expect(await fresh.call('PUT', `/devices/${tablet.deviceId}`, again)).toMatchObject({
      status: 409,
      body: { code: 'device-conflict' },
    });
    expect(await revoke(owner, tablet.deviceId)).toMatchObject(notFound);
  });

  it("is its owner's alone", async () => {
    for (const person of [contact, stranger]) {
      expect(await revoke(person, tablet.deviceId)).toMatchObject(notFound);
      expect(await revoke(person, randomUUID())).toMatchObject(notFound);
    }
    expect((await tablet.call('GET', '/profile')).status).toBe(200);
    expect((await revoked(owner)).body).toEqual([]);
  });

  it('is refused without the statement', async () => {
    const answer = await owner.call('DELETE', `/devices/${tablet.deviceId}`);
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect((await tablet.call('GET', '/profile')).status).toBe(200);
  });

  it("is refused unless its statement is the account key's", async () => {
    const statements = [
      base64Url(120),
      revocationOf(owner, owner.deviceId),
      revocationOf(owner, tablet.deviceId, privateKeyOf('another account')),
      revocationOf(stranger, tablet.deviceId),
      `${revocationOf(owner, tablet.deviceId)}AAAA`,
    ];
    for (const statement of statements) {
      for (const by of [owner, tablet]) {
        expect(await revoke(by, tablet.deviceId, statement)).toMatchObject({
          status: 403,
          body: { code: 'forbidden' },
        });
      }
    }
    expect((await tablet.call('GET', '/profile')).status).toBe(200);
  });

  it('may be done by the device itself', async () => {
    expect((await revoke(tablet, tablet.deviceId)).status).toBe(204);
    expect(await tablet.call('GET', '/profile')).toMatchObject(refused);
  });

  it('is told to a browser that was away until its token expires, also after other log-ins', async () => {
    expect((await revoke(owner, tablet.deviceId)).status).toBe(204);
    await logIn(relay, owner);
    now += sessionLifetime - 1000;
    expect(await tablet.call('GET', '/profile')).toMatchObject(refused);
    now += 1000;
    expect(await tablet.call('GET', '/profile')).toMatchObject({ body: { code: 'session-expired' } });
    const rows = () =>
      relay.relay.database.db.selectFrom('sessions').select('id').where('end_code', 'is not', null);
    expect(await rows().where('user_id', '=', owner.id).execute()).toHaveLength(1);
    await logIn(relay, owner);
    expect(await rows().where('user_id', '=', owner.id).execute()).toEqual([]);
  });

  it('is published to the person, contacts and fellow members, once each', async () => {
    const fellow = await signUpOnDevice(relay);
    await befriend(contact, fellow);
    const groupId = await createGroup(contact);
    await addMember(contact, groupId, owner, commitBody(0));
    await addMember(contact, groupId, fellow, commitBody(1));
    const people = [owner, contact, fellow, stranger];
    const events = await recordEvents(relay, people, () => revoke(owner, tablet.deviceId));
    const event = { type: 'devices', userId: owner.id, deviceId: tablet.deviceId };
    const told = events.filter(([, { type }]) => type === 'devices');
    expect(told).toHaveLength(3);
    expect(new Map(told)).toEqual(new Map([owner, contact, fellow].map(({ id }) => [id, event])));
    expect((await revoked(fellow)).body).toHaveLength(1);
  });
});
