import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { directConversationId, limits, type WelcomeItem } from '../../contract/index.ts';
import { signedCommit } from '../devices.ts';
import { base64Url, call, onAnotherDevice, type Person } from '../helpers.ts';
import { commitBody, log, seqs } from './conversation.ts';
import {
  aino,
  conversationId,
  eero,
  eventsFor,
  relay,
  start,
  stranger,
  submit,
  withTwoPeople,
} from './twoPeople.ts';

withTwoPeople();

describe('starting a conversation', () => {
  it('stores the commit, the GroupInfo and a Welcome for each device', async () => {
    const eeroTablet = await onAnotherDevice(relay, eero);
    const welcome = base64Url(900);
    const body = commitBody(0, [{ deviceIds: [eero.deviceId, eeroTablet.deviceId], welcome }]);
    const answer = await submit(aino, body);
    expect(answer).toMatchObject({ status: 201, body: { seq: 1, epoch: 0 } });
    expect(await log(eero, aino)).toEqual([
      {
        id: answer.body.id,
        conversationId,
        seq: 1,
        epoch: 0,
        kind: 'commit',
        sender_id: aino.id,
        sender_device_id: aino.deviceId,
        receiver_id: eero.id,
        group_id: null,
        content: body.commit,
        timestamp: answer.body.timestamp,
        created_at: answer.body.timestamp,
        delivered: false,
        is_read: false,
      },
    ]);
    for (const device of [eero, eeroTablet]) {
      expect((await device.call<WelcomeItem[]>('GET', '/welcomes')).body).toEqual([
        { id: expect.any(String), conversationId, epoch: 1, seq: 1, welcome },
      ]);
    }
    expect((await aino.call('GET', '/welcomes')).body).toEqual([]);
    expect((await eero.call('GET', `/conversations/${conversationId}/group-info`)).body).toEqual({
      epoch: 1,
      groupInfo: body.groupInfo,
    });
    expect((await eero.call('GET', '/conversations')).body).toEqual([
      { conversationId, epoch: 1, lastSeq: 1, readSeq: 0, peerReadSeq: null },
    ]);
  });

  it('succeeds for exactly one of several who do so at once', async () => {
    const bodies = Array.from({ length: 8 }, () => commitBody(0));
    const answers = await Promise.all(
      bodies.map((body, index) => submit(index % 2 === 0 ? aino : eero, body)),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    for (const loser of answers.filter((answer) => answer.status !== 201)) {
      expect(loser).toMatchObject({ status: 409, body: { code: 'stale-epoch', epoch: 1 } });
    }
    const winner = bodies[answers.findIndex((answer) => answer.status === 201)];
    expect(await log(aino, eero)).toMatchObject([{ seq: 1, content: winner?.commit }]);
    const groupInfo = await aino.call('GET', `/conversations/${conversationId}/group-info`);
    expect(groupInfo.body).toMatchObject({ groupInfo: winner?.groupInfo });
  });

  it('is for contacts, under the one id of the two', async () => {
    const withStranger = directConversationId(aino.id, stranger.id);
    expect(await submit(aino, commitBody(0), withStranger)).toMatchObject({
      status: 403,
      body: { code: 'not-a-contact' },
    });
    const [lower, higher] = [aino.id, eero.id].sort();
    const notHers = [
      `direct:${higher}:${lower}`,
      `direct:${aino.id}:${aino.id}`,
      directConversationId(eero.id, stranger.id),
      directConversationId(aino.id, randomUUID()),
      `group:${randomUUID()}`,
    ];
    for (const id of notHers) {
      expect(await submit(aino, commitBody(0), id)).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    }
    expect(await submit(aino, commitBody(0), 'direct:x:y')).toMatchObject({ status: 422 });
    expect((await aino.call('GET', '/conversations')).body).toEqual([]);
  });
});

describe('a commit', () => {
  it('moves the conversation to the next epoch and replaces the GroupInfo', async () => {
    await start();
    const body = commitBody(1);
    expect(await submit(eero, body)).toMatchObject({ status: 201, body: { seq: 2, epoch: 1 } });
    expect((await aino.call('GET', `/conversations/${conversationId}/group-info`)).body).toEqual({
      epoch: 2,
      groupInfo: body.groupInfo,
    });
  });

  it('takes the signature of the device that submits it: a stolen token changes no conversation', async () => {
    await start();
    const tablet = await onAnotherDevice(relay, aino);
    const body = commitBody(1);
    const path = `/conversations/${conversationId}/commits`;
    const submitted = (changed: object) =>
      call(relay, 'POST', path, { token: aino.token, body: { ...body, ...changed } });
    const signed = signedCommit(aino.deviceId, conversationId, body);
    const others = [
      { signature: base64Url(64) },
      signedCommit(tablet.deviceId, conversationId, body),
      signedCommit(aino.deviceId, directConversationId(aino.id, stranger.id), body),
      { ...signedCommit(aino.deviceId, conversationId, { ...body, epoch: 2 }), epoch: 1 },
      { ...signed, commit: base64Url(500) },
      { ...signed, groupInfo: base64Url(800) },
    ];
    for (const other of others) {
      expect(await submitted(other)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(await submitted({})).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect((await aino.call('GET', `/conversations/${conversationId}/group-info`)).body).toMatchObject({
      epoch: 1,
    });
    expect(await submitted(signed)).toMatchObject({ status: 201, body: { seq: 2 } });
  });

  it('of another epoch than the current one is refused with the current one', async () => {
    expect(await submit(aino, commitBody(1))).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 0 },
    });
    await start();
    for (const epoch of [0, 2, 7]) {
      expect(await submit(aino, commitBody(epoch))).toMatchObject({
        status: 409,
        body: { code: 'stale-epoch', epoch: 1 },
      });
    }
    expect(await log(aino, eero)).toHaveLength(1);
  });

  it('of one epoch succeeds once, however many are sent at once', async () => {
    await start();
    const people = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? aino : eero));
    const answers = await Promise.all(people.map((person) => submit(person, commitBody(1))));
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array<number>(9).fill(409),
    ]);
    expect(seqs(await log(aino, eero))).toEqual([1, 2]);
  });

  it.each([
    ['a device that does not exist', () => [[randomUUID()]]],
    ["a stranger's device", () => [[eero.deviceId, stranger.deviceId]]],
    ['a device twice', () => [[eero.deviceId], [eero.deviceId]]],
  ])('with a Welcome for %s is refused whole', async (_what, deviceIds) => {
    const welcomes = deviceIds().map((ids) => ({ deviceIds: ids, welcome: base64Url(900) }));
    const answer = await submit(aino, commitBody(0, welcomes));
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect((await aino.call('GET', '/conversations')).body).toEqual([]);
    for (const device of [eero, stranger]) expect((await device.call('GET', '/welcomes')).body).toEqual([]);
  });

  it('of two megabytes is stored, and announced by its position', async () => {
    await start();
    const body = { ...commitBody(1), commit: base64Url(limits.commitMax) };
    const events = await eventsFor([eero], () => submit(aino, body));
    expect(events).toEqual([[eero.id, { type: 'available', conversationId, seq: 2 }]]);
    expect((await log(eero, aino, '?after=1'))[0]?.content).toBe(body.commit);
    const tooLarge = { ...commitBody(2), commit: base64Url(limits.commitMax + 1) };
    expect(await submit(aino, tooLarge)).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
  });

  it('is delivered to both, after the Welcomes', async () => {
    let answer: Awaited<ReturnType<typeof submit>> | undefined;
    const body = commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]);
    const events = await eventsFor([aino, eero], async () => {
      answer = await submit(aino, body);
    });
    for (const { id } of [aino, eero]) {
      expect(events.filter(([userId]) => userId === id).map(([, event]) => event)).toEqual([
        { type: 'welcome', conversationId },
        {
          type: 'commit',
          conversationId,
          messageId: answer?.body.id,
          senderId: aino.id,
          senderDeviceId: aino.deviceId,
          seq: 1,
          epoch: 0,
          content: body.commit,
          timestamp: answer?.body.timestamp,
        },
      ]);
    }
  });
});

describe('Welcomes', () => {
  it('stay until the device that they are for deletes them', async () => {
    const eeroTablet = await onAnotherDevice(relay, eero);
    const deviceIds = [eero.deviceId, eeroTablet.deviceId];
    await submit(aino, commitBody(0, [{ deviceIds, welcome: base64Url(900) }]));
    const mailbox = async (device: Person) => (await device.call<WelcomeItem[]>('GET', '/welcomes')).body;
    const [item] = await mailbox(eero);
    for (const person of [eeroTablet, aino, stranger]) {
      expect(await person.call('DELETE', `/welcomes/${item?.id}`)).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    }
    expect((await eero.call('DELETE', `/welcomes/${item?.id}`)).status).toBe(204);
    expect(await mailbox(eero)).toEqual([]);
    expect((await eero.call('DELETE', `/welcomes/${item?.id}`)).status).toBe(404);
    const [remaining] = await mailbox(eeroTablet);
    expect((await eeroTablet.call('DELETE', `/welcomes/${remaining?.id}`)).status).toBe(204);
    expect(await mailbox(eeroTablet)).toEqual([]);
  });

  it('come oldest first, and a large mailbox in parts', async () => {
    for (let epoch = 0; epoch < 6; epoch++) {
      const welcome = base64Url(limits.welcomeMax);
      expect((await submit(aino, commitBody(epoch, [{ deviceIds: [eero.deviceId], welcome }]))).status).toBe(
        201,
      );
    }
    const epochs: number[] = [];
    let parts = 0;
    for (;;) {
      const items = (await eero.call<WelcomeItem[]>('GET', '/welcomes')).body;
      if (items.length === 0) break;
      parts++;
      for (const item of items) {
        epochs.push(item.epoch);
        await eero.call('DELETE', `/welcomes/${item.id}`);
      }
    }
    expect(epochs).toEqual([1, 2, 3, 4, 5, 6]);
    expect(parts).toBe(2);
  });
});
