import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, limits } from '../../contract/index.ts';
import { base64Url, befriend, logIn } from '../helpers.ts';
import { commitBody, log, messageBody, send, seqs } from './conversation.ts';
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

describe('a message', () => {
  beforeEach(start);

  it('is numbered, stored and told to every device of both', async () => {
    const body = messageBody(1);
    let answer: Awaited<ReturnType<typeof send>> | undefined;
    const events = await eventsFor([aino, eero, stranger], async () => {
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
    const events = await eventsFor([eero], async () => {
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

  it('may not take the id of a commit', async () => {
    const { id } = (await submit(aino, commitBody(1))).body;
    expect(await send(aino, eero, messageBody(2, id))).toMatchObject({
      status: 409,
      body: { code: 'message-id-taken' },
    });
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
    // To oneself there is the conversation of one's own devices, which nobody has started.
    for (const id of [aino.id, randomUUID()]) {
      expect(await send(aino, { id }, messageBody(1))).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    }
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
