import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ConversationSummary, limits } from '../../contract/index.ts';
import { base64Url } from '../helpers.ts';
import { log, messageBody, send, seqs } from './conversation.ts';
import { aino, conversationId, eero, eventsFor, start, stranger, withTwoPeople } from './twoPeople.ts';

withTwoPeople();

describe('the log of a conversation', () => {
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

describe('the position that a person has read', () => {
  it.each(['delivered', 'read'])(
    'up to a message by /%s marks it and all before it, and tells the devices of who has read',
    async (path) => {
      await start();
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) ids.push((await send(aino, eero, messageBody(1))).body.id);
      const events = await eventsFor([aino, eero], async () => {
        expect((await eero.call('PUT', `/messages/${ids[1]}/${path}`)).status).toBe(204);
      });
      const event = { type: 'delivered', conversationId, messageId: ids[1], readerId: eero.id, seq: 3 };
      expect(events).toEqual([[eero.id, event]]);
      const entries = await log(eero, aino);
      expect(entries.map((entry) => [entry.seq, entry.is_read, entry.delivered])).toEqual([
        [1, true, true],
        [2, true, true],
        [3, true, true],
        [4, false, false],
      ]);
      expect((await eero.call('GET', '/conversations')).body).toMatchObject([{ readSeq: 3 }]);
      // The relay says nothing of others here, since it would be its word alone.
      expect((await aino.call('GET', '/conversations')).body).toMatchObject([
        { readSeq: 0, peerReadSeq: null },
      ]);
      expect((await log(aino, eero)).some((entry) => entry.is_read || entry.delivered)).toBe(false);
    },
  );

  it('never goes back, and is published once', async () => {
    await start();
    const first = (await send(aino, eero, messageBody(1))).body.id;
    const second = (await send(aino, eero, messageBody(1))).body.id;
    await eero.call('PUT', `/messages/${second}/read`);
    const events = await eventsFor([aino, eero], async () => {
      for (const id of [first, second])
        expect((await eero.call('PUT', `/messages/${id}/read`)).status).toBe(204);
    });
    expect(events).toEqual([]);
    expect((await log(eero, aino)).every((entry) => entry.is_read)).toBe(true);
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
