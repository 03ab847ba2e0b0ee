import { beforeEach, describe, expect, it } from 'vitest';
import { selfConversationId } from '../../contract/index.ts';
import { revocationOf } from '../devices.ts';
import { base64Url, logIn, onAnotherDevice, type PersonOnDevice } from '../helpers.ts';
import { commitBody, log, messageBody, send, seqs } from './conversation.ts';
import { aino, eero, eventsFor, relay, submit, withTwoPeople } from './twoPeople.ts';

withTwoPeople();

let phone: PersonOnDevice;
let id: string;

beforeEach(async () => {
  phone = await onAnotherDevice(relay, aino);
  id = selfConversationId(aino.id);
});

const welcomeTo = (device: PersonOnDevice) => [{ deviceIds: [device.deviceId], welcome: base64Url(900) }];
const startOwn = () => submit(aino, commitBody(0, welcomeTo(phone)), id);
const notFound = { status: 404, body: { code: 'not-found' } };

describe("the conversation of a person's own devices", () => {
  it('is started by one of them, welcomes the others, and is told to the person alone', async () => {
    const commit = commitBody(0, welcomeTo(phone));
    const events = await eventsFor([aino, eero], async () => {
      expect(await submit(aino, commit, id)).toMatchObject({ status: 201, body: { seq: 1, epoch: 0 } });
    });
    expect(events.map(([to, { type }]) => [to, type])).toEqual([
      [aino.id, 'welcome'],
      [aino.id, 'commit'],
    ]);
    expect((await phone.call('GET', '/welcomes')).body).toMatchObject([{ conversationId: id, epoch: 1 }]);
    expect((await phone.call('GET', '/conversations')).body).toMatchObject([
      { conversationId: id, epoch: 1, lastSeq: 1, peerReadSeq: null },
    ]);
    const info = await phone.call('GET', `/conversations/${id}/group-info`);
    expect(info).toMatchObject({ status: 200, body: { epoch: 1, groupInfo: commit.groupInfo } });
  });

  it('takes one of several starts and commits, and names the epoch to the others', async () => {
    const starts = await Promise.all([aino, phone].map((device) => submit(device, commitBody(0), id)));
    expect(starts.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 409]);
    expect(await submit(phone, commitBody(4), id)).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 1 },
    });
  });

  it('takes messages to oneself, which nobody else is told of and nobody is notified of', async () => {
    await startOwn();
    const message = messageBody(1);
    const events = await eventsFor([aino, eero], async () => {
      expect(await send(phone, aino, message)).toMatchObject({ status: 201, body: { seq: 2 } });
      expect(await send(phone, aino, message)).toMatchObject({ status: 201, body: { seq: 2 } });
    });
    expect(events).toMatchObject([
      [aino.id, { type: 'message', conversationId: id, seq: 2, content: message.content }],
    ]);
    expect(await log(aino, aino)).toMatchObject([
      { kind: 'commit', conversationId: id },
      { kind: 'application', content: message.content, receiver_id: aino.id, group_id: null },
    ]);
    expect((await aino.call('GET', '/notifications')).body).not.toContainEqual(
      expect.objectContaining({ type: 'message' }),
    );
    expect(await send(phone, aino, messageBody(7))).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 1 },
    });
    expect(await aino.call('PUT', `/messages/${message.messageId}/read`)).toMatchObject(notFound);
  });

  it('is nobody else’s: all that others try is not found, started or not', async () => {
    const attempts = () =>
      Promise.all([
        submit(eero, commitBody(0), id),
        submit(eero, commitBody(1), id),
        eero.call('GET', `/conversations/${id}/group-info`),
      ]);
    for (const answer of await attempts()) expect(answer).toMatchObject(notFound);
    await startOwn();
    for (const answer of await attempts()) expect(answer).toMatchObject(notFound);
    expect((await eero.call('GET', '/conversations')).body).toEqual([]);
    expect(seqs(await log(aino, aino))).toEqual([1]);
  });

  it('is empty before it has been started, and takes no message then', async () => {
    expect(await log(aino, aino)).toEqual([]);
    expect(await send(aino, aino, messageBody(0))).toMatchObject(notFound);
    expect(await aino.call('GET', `/conversations/${id}/group-info`)).toMatchObject(notFound);
  });

  it('welcomes no device of anybody else, and has neither a name nor people who leave', async () => {
    const refused = { status: 422, body: { code: 'invalid-request' } };
    expect(await submit(aino, commitBody(0, welcomeTo(eero)), id)).toMatchObject(refused);
    const named = { ...commitBody(0), sealedName: base64Url(60) };
    expect(await submit(aino, named, id)).toMatchObject(refused);
    const removing = { ...commitBody(0), removed: [eero.id] };
    expect(await submit(aino, removing, id)).toMatchObject(refused);
  });

  it('ends for a device that was revoked', async () => {
    await startOwn();
    await aino.call('DELETE', `/devices/${phone.deviceId}`, {
      statement: revocationOf(aino, phone.deviceId),
    });
    expect(await submit(phone, commitBody(1), id)).toMatchObject({ status: 401 });
    expect(await send(phone, aino, messageBody(1))).toMatchObject({ status: 401 });
  });

  it('is for devices, and goes with the account at once', async () => {
    const session = await logIn(relay, aino);
    const deviceRequired = { status: 403, body: { code: 'device-required' } };
    expect(await submit(session, commitBody(0), id)).toMatchObject(deviceRequired);
    await startOwn();
    expect((await aino.call('DELETE', '/user')).status).toBe(204);
    const { db } = relay.relay.database;
    const rows = await db.selectFrom('conversations').select('id').where('id', '=', id).execute();
    const entries = await db.selectFrom('entries').select('id').where('conversation_id', '=', id).execute();
    expect([...rows, ...entries]).toEqual([]);
  });
});
