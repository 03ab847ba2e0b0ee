import { describe, expect, it } from 'vitest';
import { partsType } from '#relay/contract/index.ts';
import { readParts as relayReads } from '#relay/src/http/parts.ts';
import { opaque } from '#relay/src/opaque.ts';
import { readParts, writeParts } from '#src/net/parts.ts';
import { failureOf, json, setUp, userId, withParts } from './support/httpApi.ts';

const names = ['welcome', 'list'];
const text = (length: number) => Buffer.alloc(length, 0xfb).toString('base64url');

describe('a body with parts', () => {
  it('is what the relay reads, whatever the lengths', async () => {
    const value = {
      epoch: 1,
      list: [1, 63, 64, 16_383, 16_384, 200_000].map(text),
      welcome: null,
      more: '-_é',
    };
    const bytes = await writeParts(value, names);
    expect(relayReads(Buffer.from(bytes), names)).toEqual(value);
    await expect(readParts(bytes, names)).resolves.toEqual(value);
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['JSON alone', Buffer.from('{"welcome":"AAAA"}')],
    ['text in the place of a part', opaque(Buffer.from('{"welcome":"AAAA"}'))],
    ['a part that is not there', opaque(Buffer.from('{"welcome":0}'))],
    ['a part that nothing names', Buffer.concat(['{}', 'x'].map((part) => opaque(Buffer.from(part))))],
    ['no UTF-8', opaque(Buffer.of(0x22, 0xff, 0x22))],
  ])('is none: %s', async (_name, bytes) => {
    await expect(readParts(bytes, names)).resolves.toBeUndefined();
  });
});

describe('a call with parts', () => {
  const welcome = { id: userId, conversationId: `group:${userId}`, epoch: 1, seq: 2, welcome: text(3000) };

  it('answers byte strings as text', async () => {
    const { api } = setUp(withParts(['welcome'], [welcome]));
    await expect(api.listWelcomes()).resolves.toEqual([welcome]);
  });

  it.each([
    ['JSON without parts', json(200, [welcome])],
    ['a page', new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    [
      'a part too many',
      new Response(Buffer.concat([opaque(Buffer.from('[]')), Buffer.of(1, 1)]), {
        headers: { 'content-type': partsType },
      }),
    ],
  ])('is refused as invalid-response when the answer is %s', async (_name, answer) => {
    const { api } = setUp(answer);
    await expect(failureOf(api.listWelcomes())).resolves.toMatchObject({ code: 'invalid-response' });
  });

  it('is refused as any other', async () => {
    const { api } = setUp(json(403, { code: 'forbidden', detail: 'No.' }));
    await expect(failureOf(api.listWelcomes())).resolves.toMatchObject({ code: 'forbidden', status: 403 });
  });
});
