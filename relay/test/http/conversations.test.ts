import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConversationSummary,
  directConversationId,
  type IncomingEvent,
  type LogEntry,
  limits,
  type SentMessage,
  topics,
  type WelcomeItem,
} from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  logIn,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let stranger: PersonOnDevice;
let conversationId: string;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  [aino, eero, stranger] = await Promise.all([
    signUpOnDevice(relay),
    signUpOnDevice(relay),
    signUpOnDevice(relay),
  ]);
  await befriend(aino, eero);
  conversationId = directConversationId(aino.id, eero.id);
});

const commitBody = (epoch: number, welcomes: { deviceIds: string[]; welcome: string }[] = []) => ({
  epoch,
  commit: base64Url(500),
  welcomes,
  groupInfo: base64Url(800),
});
const submit = (person: Person, body: ReturnType<typeof commitBody>, id = conversationId) =>
  person.call<SentMessage>('POST', `/conversations/${id}/commits`, body);
const start = () => submit(aino, commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]));
const messageBody = (epoch: number, messageId: string = randomUUID()) => ({
  messageId,
  epoch,
  content: base64Url(300),
});
const send = (from: Person, to: { id: string }, body: ReturnType<typeof messageBody>) =>
  from.call<SentMessage>('POST', `/messages/user/${to.id}`, body);
const log = async (person: Person, other: { id: string }, query = '') =>
  (await person.call<LogEntry[]>('GET', `/messages/user/${other.id}${query}`)).body;
const seqs = (entries: readonly { seq: number }[]) => entries.map((entry) => entry.seq);

/** What the people's devices are told while `action` runs. */
async function told(people: readonly Person[], action: () => Promise<unknown>) {
  const events: [string, IncomingEvent][] = [];
  const stops = people.map(({ id }) =>
    relay.relay.services.hub.subscribe(topics.userMessages(id), (payload) =>
      events.push([id, JSON.parse(payload) as IncomingEvent]),
    ),
  );
  await action();
  for (const stop of stops) stop();
  return events;
}

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
      { conversationId, epoch: 1, lastSeq: 1, readSeq: 0, peerReadSeq: 0 },
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

  it('of two megabytes is stored, and told of by its position', async () => {
    await start();
    const body = { ...commitBody(1), commit: base64Url(limits.commitMax) };
    const events = await told([eero], () => submit(aino, body));
    expect(events).toEqual([[eero.id, { type: 'available', conversationId, seq: 2 }]]);
    expect((await log(eero, aino, '?after=1'))[0]?.content).toBe(body.commit);
    const tooLarge = { ...commitBody(2), commit: base64Url(limits.commitMax + 1) };
    expect(await submit(aino, tooLarge)).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
  });

  it('is told to both, after the Welcomes', async () => {
    let answer: Awaited<ReturnType<typeof submit>> | undefined;
    const body = commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]);
    const events = await told([aino, eero], async () => {
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

describe('a message', () => {
  beforeEach(start);

  it('is numbered, stored and told to every device of both', async () => {
    const body = messageBody(1);
    let answer: Awaited<ReturnType<typeof send>> | undefined;
    const events = await told([aino, eero, stranger], async () => {
      answer = await send(aino, eero, body);
    });
    expect(answer).toMatchObject({ status: 201, body: { id: body.messageId, seq: 2, epoch: 1 } });
    const event = {
      type: 'message',
      conversationId,
      messageId: body.messageId,
      senderId: aino.id,
      senderDeviceId: aino.deviceId,
      seq: 2,
      epoch: 1,
      content: body.content,
      timestamp: answer?.body.timestamp,
    };
    expect(events).toEqual([
      [aino.id, event],
      [eero.id, event],
    ]);
    const [, entry] = await log(eero, aino);
    expect(entry).toMatchObject({ id: body.messageId, kind: 'application', content: body.content });
    expect(entry).toMatchObject({ sender_id: aino.id, receiver_id: eero.id });
    expect((await log(aino, eero))[1]).toEqual(entry);
  });

  it('sent twice exists once, and both get the same answer', async () => {
    const body = messageBody(1);
    const events = await told([eero], async () => {
      const answers = await Promise.all([1, 2, 3].map(() => send(aino, eero, body)));
      expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    });
    expect(events).toHaveLength(1);
    expect(seqs(await log(aino, eero))).toEqual([1, 2]);
  });

  it('repeated after the epoch has moved or the contact has ended answers as before', async () => {
    const body = messageBody(1);
    const first = await send(aino, eero, body);
    await submit(eero, commitBody(1));
    expect((await send(aino, eero, body)).body).toEqual(first.body);
    await eero.call('DELETE', `/contacts/${aino.id}`);
    expect((await send(aino, eero, body)).body).toEqual(first.body);
  });

  it("under somebody else's id, or one's own from elsewhere, is refused without saying whose it is", async () => {
    const body = messageBody(1);
    await send(aino, eero, body);
    const taken = await send(eero, aino, body);
    expect(taken).toMatchObject({ status: 409, body: { code: 'message-id-taken' } });
    await befriend(aino, stranger);
    await submit(aino, commitBody(0), directConversationId(aino.id, stranger.id));
    expect((await send(aino, stranger, body)).body).toEqual(taken.body);
    expect((await send(stranger, aino, body)).body).toEqual(taken.body);
  });

  it('of another epoch is refused with the current one', async () => {
    await submit(aino, commitBody(1));
    for (const epoch of [0, 1, 3]) {
      expect(await send(aino, eero, messageBody(epoch))).toMatchObject({
        status: 409,
        body: { code: 'stale-epoch', epoch: 2 },
      });
    }
    await befriend(aino, stranger);
    expect(await send(aino, stranger, messageBody(0))).toMatchObject({
      status: 409,
      body: { code: 'stale-epoch', epoch: 0 },
    });
  });

  it('is for contacts: refused to strangers, oneself, nobody, and after the contact has ended', async () => {
    const notAContact = { status: 403, body: { code: 'not-a-contact' } };
    expect(await send(aino, stranger, messageBody(1))).toMatchObject(notAContact);
    expect(await send(aino, aino, messageBody(1))).toMatchObject(notAContact);
    expect(await send(aino, { id: randomUUID() }, messageBody(1))).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    await eero.call('DELETE', `/contacts/${aino.id}`);
    expect(await send(aino, eero, messageBody(1))).toMatchObject(notAContact);
    expect(await submit(aino, commitBody(1))).toMatchObject(notAContact);
    expect(await log(aino, eero)).toHaveLength(1);
    expect((await aino.call('GET', `/conversations/${conversationId}/group-info`)).status).toBe(200);
  });

  it('needs a device', async () => {
    const session = await logIn(relay, aino);
    const refused = { status: 403, body: { code: 'device-required' } };
    expect(await send(session, eero, messageBody(1))).toMatchObject(refused);
    expect(await submit(session, commitBody(1))).toMatchObject(refused);
  });

  it('races others and commits without gaps or doubles in the numbers', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const from = index % 2 === 0 ? aino : eero;
        return index === 15
          ? submit(from, commitBody(1))
          : send(from, from === aino ? eero : aino, messageBody(1));
      }),
    );
    const stored = answers.filter((answer) => answer.status === 201).length;
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const entries = await log(aino, eero);
    expect(seqs(entries)).toEqual(Array.from({ length: stored + 1 }, (_, index) => index + 1));
    const committed = entries.findIndex((entry) => entry.kind === 'commit' && entry.epoch === 1);
    expect(entries.slice(committed + 1)).toEqual([]);
  });

  it.each([
    ['messageId', { messageId: 'no-uuid' }],
    ['epoch', { epoch: -1 }],
    ['epoch', { epoch: 1.5 }],
    ['epoch', { epoch: '1' }],
    ['content', { content: '' }],
    ['content', { content: 'a+b/c=' }],
    ['content', { content: 'aaaaa' }],
    ['content', { content: base64Url(limits.contentMax + 1) }],
  ])('with a bad %s is refused, and the field named', async (field, override) => {
    const answer = await aino.call('POST', `/messages/user/${eero.id}`, { ...messageBody(1), ...override });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
  });
});

describe('the log', () => {
  it('is paged upwards from a position and downwards to one', async () => {
    await start();
    for (let count = 0; count < 9; count++) await send(aino, eero, messageBody(1));
    expect(seqs(await log(eero, aino, '?after=0&limit=4'))).toEqual([1, 2, 3, 4]);
    expect(seqs(await log(eero, aino, '?after=8&limit=4'))).toEqual([9, 10]);
    expect(await log(eero, aino, '?after=10')).toEqual([]);
    expect(seqs(await log(eero, aino, '?limit=3'))).toEqual([8, 9, 10]);
    expect(seqs(await log(eero, aino, '?before=8&limit=3'))).toEqual([5, 6, 7]);
    expect(seqs(await log(eero, aino, '?after=2&before=5'))).toEqual([3, 4]);
    expect(seqs(await log(eero, aino))).toHaveLength(10);
    for (const query of [
      '?limit=0',
      '?limit=201',
      '?after=-1',
      '?before=0',
      '?after=x',
      '?after=1&after=2',
    ]) {
      expect(await eero.call('GET', `/messages/user/${aino.id}${query}`)).toMatchObject({
        status: 422,
        body: { code: 'invalid-request' },
      });
    }
  });

  it('ends a page of large entries early, and loses none of them', async () => {
    await start();
    const large = () => ({ ...messageBody(1), content: base64Url(limits.contentMax) });
    for (let count = 0; count < 70; count++) await send(aino, eero, large());
    const first = await log(eero, aino, '?after=0&limit=200');
    expect(first.length).toBeLessThan(71);
    const rest = await log(eero, aino, `?after=${first.at(-1)?.seq}&limit=200`);
    expect(seqs([...first, ...rest])).toEqual(Array.from({ length: 71 }, (_, index) => index + 1));
    expect(seqs(await log(eero, aino, '?limit=200')).at(-1)).toBe(71);
  });

  it('is empty between contacts who have not talked, and hidden from everybody else', async () => {
    expect(await log(aino, eero)).toEqual([]);
    await start();
    const hidden = await stranger.call('GET', `/messages/user/${aino.id}`);
    expect(hidden).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect((await stranger.call('GET', `/messages/user/${randomUUID()}`)).body).toEqual(hidden.body);
    expect(await stranger.call('GET', `/conversations/${conversationId}/group-info`)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    expect((await stranger.call('GET', '/conversations')).body).toEqual([]);
  });

  it('stays readable to both when the contact ends', async () => {
    await start();
    await aino.call('DELETE', `/contacts/${eero.id}`);
    expect(await log(aino, eero)).toHaveLength(1);
    expect(await log(eero, aino)).toHaveLength(1);
    expect((await eero.call<ConversationSummary[]>('GET', '/conversations')).body).toHaveLength(1);
  });
});

describe('reading', () => {
  it.each(['delivered', 'read'])(
    'up to a message by /%s marks it and all before it, and tells both',
    async (path) => {
      await start();
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) ids.push((await send(aino, eero, messageBody(1))).body.id);
      const events = await told([aino, eero], async () => {
        expect((await eero.call('PUT', `/messages/${ids[1]}/${path}`)).status).toBe(204);
      });
      const event = { type: 'delivered', conversationId, messageId: ids[1], readerId: eero.id, seq: 3 };
      expect(events).toHaveLength(2);
      expect(new Map(events)).toEqual(
        new Map([
          [aino.id, event],
          [eero.id, event],
        ]),
      );
      const entries = await log(aino, eero);
      expect(entries.map((entry) => [entry.seq, entry.is_read, entry.delivered])).toEqual([
        [1, true, true],
        [2, true, true],
        [3, true, true],
        [4, false, false],
      ]);
      expect((await eero.call('GET', '/conversations')).body).toMatchObject([{ readSeq: 3, peerReadSeq: 0 }]);
      expect((await aino.call('GET', '/conversations')).body).toMatchObject([{ readSeq: 0, peerReadSeq: 3 }]);
    },
  );

  it('never goes back, and is told once', async () => {
    await start();
    const first = (await send(aino, eero, messageBody(1))).body.id;
    const second = (await send(aino, eero, messageBody(1))).body.id;
    await eero.call('PUT', `/messages/${second}/read`);
    const events = await told([aino, eero], async () => {
      for (const id of [first, second])
        expect((await eero.call('PUT', `/messages/${id}/read`)).status).toBe(204);
    });
    expect(events).toEqual([]);
    expect((await log(aino, eero)).every((entry) => entry.is_read)).toBe(true);
  });

  it("is the receiver's alone", async () => {
    await start();
    const { id } = (await send(aino, eero, messageBody(1))).body;
    for (const person of [aino, stranger]) {
      expect(await person.call('PUT', `/messages/${id}/read`)).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    }
    expect((await eero.call('PUT', `/messages/${randomUUID()}/read`)).status).toBe(404);
    expect((await log(eero, aino)).some((entry) => entry.is_read)).toBe(false);
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
