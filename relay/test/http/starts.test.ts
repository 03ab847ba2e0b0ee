import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Device, directConversationId, type RevokedDevice, type Start } from '../../contract/index.ts';
import { copiedSignature, revocationOf, sessionSignature, signedStart } from '../devices.ts';
import { base64Url, logIn, onAnotherDevice, type Person } from '../helpers.ts';
import { createClients, disconnectReason, puback } from '../mqtt/mqttClient.ts';
import { commitBody, log, messageBody, recordEvents, submitCommit } from './conversation.ts';
import { eero as contact, aino as owner, relay, withTwoPeople } from './twoPeople.ts';

withTwoPeople();
const clients = createClients();
afterEach(() => clients.endAll());

const first = { number: 1, tag: base64Url(16), from: [] as string[] };
const second = { number: 2, tag: base64Url(16), from: [first.tag] };
const copy = { number: 2, tag: base64Url(16), from: [first.tag] };

async function register(start: typeof first, person = owner) {
  return person.call<Start>('PUT', '/devices/me/start', signedStart(person, start));
}
const registered = ({ number, tag }: typeof first) => ({ status: 200, body: { number, tag } });
const send = (start: string | undefined) =>
  owner.call('POST', `/messages/user/${contact.id}`, { ...messageBody(1), ...(start && { start }) });
const another = { status: 409, body: { code: 'another-start' } };
const copied = (person: Person, deviceId = owner.deviceId, statement?: string) =>
  person.call('POST', `/devices/${deviceId}/copied`, {
    signature: copiedSignature(owner.id, deviceId),
    ...(statement && { statement }),
  });
const ended = { status: 401, body: { code: 'device-copied' } };

describe('the start of a device', () => {
  it('is registered where there is none, and in the place of one that it names', async () => {
    expect(await register(first)).toMatchObject(registered(first));
    expect(await register(second)).toMatchObject(registered(second));
    // Its answer was lost, or another tab brings it as well.
    expect(await register({ ...second, from: [second.tag] })).toMatchObject(registered(second));
  });

  it('stays beside one that names neither it nor what it came after', async () => {
    await register(first);
    await register(second);
    expect(await register(copy)).toMatchObject(registered(second));
    // A request that was under way for long brings nothing back.
    expect(await register(first)).toMatchObject(registered(second));
  });

  it('is told to the person once it is the one that is registered, and only then', async () => {
    const events = await recordEvents(relay, [owner, contact], async () => {
      await register(first);
      await register(second);
      await register({ ...second, from: [second.tag] });
      await register(copy);
      await register(first);
    });
    const told = ({ tag }: typeof first) => [owner.id, { type: 'start', deviceId: owner.deviceId, tag }];
    expect(events).toEqual([told(first), told(second)]);
  });

  it('is the one word of a device that counts: all of it is signed', async () => {
    const signed = signedStart(owner, first);
    for (const other of [
      { number: 2 },
      { tag: base64Url(16) },
      { from: [base64Url(16)] },
      { signature: base64Url(64) },
    ]) {
      const body = { ...signed, ...other };
      expect(await owner.call('PUT', '/devices/me/start', body)).toMatchObject({ status: 403 });
    }
    expect(await contact.call('PUT', '/devices/me/start', signed)).toMatchObject({ status: 403 });
  });

  it('has one text: a tag of other length or with spare bits is refused', async () => {
    for (const tag of [base64Url(15), base64Url(17), `${'A'.repeat(21)}B`]) {
      const body = signedStart(owner, { ...first, tag });
      expect(await owner.call('PUT', '/devices/me/start', body)).toMatchObject({ status: 422 });
    }
  });
});

describe('what a device sends', () => {
  beforeEach(async () => {
    await submitCommit(owner, directConversationId(owner.id, contact.id), commitBody(0));
  });

  it('names no start before one is registered, as devices of an earlier version do', async () => {
    expect((await send(undefined)).status).toBe(201);
  });

  it('names the start that is registered, or is refused: over REST', async () => {
    await register(first);
    expect((await send(first.tag)).status).toBe(201);
    await register(second);
    expect(await send(first.tag)).toMatchObject(another);
    expect(await send(undefined)).toMatchObject(another);
    expect((await send(second.tag)).status).toBe(201);
  });

  it('names it over MQTT too', async () => {
    await register(first);
    const client = await clients.connect(relay.mqttUrl, owner);
    const publish = (start: string) => {
      const message = { ...messageBody(1), type: 'message', senderId: owner.id, recipientId: contact.id };
      const payload = { ...message, timestamp: new Date().toISOString(), start };
      return puback(client, `user/${contact.id}/messages`, JSON.stringify(payload));
    };
    expect(await publish(first.tag)).toMatchObject({ reasonCode: 0 });
    expect(await publish(second.tag)).toMatchObject({ code: 'another-start' });
    expect(await log(owner, contact)).toHaveLength(2);
  });

  it('names it with commits', async () => {
    await register(first);
    const id = directConversationId(owner.id, contact.id);
    const body = commitBody(1);
    expect(await submitCommit(owner, id, body)).toMatchObject(another);
    const named = { ...body, start: first.tag };
    expect((await submitCommit(owner, id, named)).status).toBe(201);
  });
});

describe('a device whose data is in two places', () => {
  it('says so itself: its sessions end at once, and are told why', async () => {
    const client = await clients.connect(relay.mqttUrl, owner);
    const reason = disconnectReason(client);
    expect((await copied(owner)).status).toBe(204);
    await reason;
    expect(await owner.call('GET', '/profile')).toMatchObject(ended);
  });

  it('can be said by nobody else', async () => {
    const body = { signature: base64Url(64) };
    expect(await owner.call('POST', `/devices/${owner.deviceId}/copied`, body)).toMatchObject({
      status: 403,
    });
    expect(await copied(contact)).toMatchObject({ status: 404 });
    expect((await owner.call('GET', '/profile')).status).toBe(200);
  });

  it('takes no session again, before and after it was revoked, and says why', async () => {
    await copied(owner);
    const conflict = { status: 409, body: { code: 'device-conflict', copied: true } };
    const { deviceId, certificate } = owner;
    const take = async (session: Person) =>
      session.call('PUT', `/devices/${deviceId}`, {
        name: 'Browser',
        certificate,
        signature: sessionSignature(session.token, deviceId),
      });
    const here = await logIn(relay, owner);
    expect(await take(here)).toMatchObject(conflict);
    expect(await copied(here, deviceId, base64Url(120))).toMatchObject({ status: 403 });
    const statement = revocationOf(owner, deviceId);
    expect((await copied(here, deviceId, statement)).status).toBe(204);
    const there = await logIn(relay, owner);
    expect(await take(there)).toMatchObject(conflict);
    // The other place says the same.
    expect((await copied(there, deviceId, statement)).status).toBe(204);
    const revoked = await contact.call<RevokedDevice[]>('GET', `/users/${owner.id}/revoked-devices`);
    expect(revoked.body).toMatchObject([{ id: deviceId, statement }]);
    expect((await there.call<Device[]>('GET', '/devices')).body).toEqual([]);
  });

  it('is one like any other to a stranger, who learns nothing of it', async () => {
    const tablet = await onAnotherDevice(relay, owner);
    const plain = await onAnotherDevice(relay, owner);
    for (const { deviceId } of [owner, plain]) {
      const statement = revocationOf(owner, deviceId);
      const isCopied = deviceId === owner.deviceId;
      const answer = isCopied
        ? await copied(tablet, deviceId, statement)
        : await plain.call('DELETE', `/devices/${deviceId}`, { statement });
      expect(answer.status).toBe(204);
    }
    const fresh = await logIn(relay, contact);
    const asked = async (deviceId: string) => {
      const { certificate } = contact;
      const signature = sessionSignature(fresh.token, deviceId);
      const taken = await fresh.call('PUT', `/devices/${deviceId}`, {
        name: 'Browser',
        certificate,
        signature,
      });
      const told = await copied(contact, deviceId);
      return [told, taken].map(({ body, status }) => ({ body, status }));
    };
    expect(await asked(owner.deviceId)).toEqual(await asked(plain.deviceId));
    expect((await asked(owner.deviceId))[0]).toMatchObject({ status: 404 });
  });

  it('is revoked by the first word that has a statement, with its other sessions ended for that reason', async () => {
    const tablet = await onAnotherDevice(relay, owner);
    const statement = revocationOf(owner, owner.deviceId);
    expect((await copied(tablet, owner.deviceId, statement)).status).toBe(204);
    expect(await owner.call('GET', '/profile')).toMatchObject(ended);
    expect((await tablet.call('GET', '/profile')).status).toBe(200);
  });
});
