import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { limits, OutgoingMessage } from '../../contract/index.ts';
import { messageIn } from '../../src/mqtt/messagePayload.ts';

const message = {
  type: 'message',
  messageId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  senderId: '11111111-1111-4111-8111-111111111111',
  recipientId: '22222222-2222-4222-8222-222222222222',
  epoch: 7,
  content: 'c2VhbGVk',
  timestamp: '2026-03-01T12:00:00.000Z',
};

const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

/** Parses these bytes by the schema; null if it refuses them. */
function bySchema(payload: Uint8Array): unknown {
  try {
    return OutgoingMessage.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));
  } catch {
    return null;
  }
}

it('a message payload is read as clients send it', () => {
  expect(messageIn(bytesOf(message))).toEqual(message);
  const longest = 'A'.repeat(Math.ceil((limits.contentMax * 4) / 3));
  expect(messageIn(bytesOf({ ...message, content: longest }))?.content).toBe(longest);
});

it('a field that the schema does not know is left out of a message payload', () => {
  expect(messageIn(bytesOf({ ...message, more: 1 }))).toEqual(message);
});

const odd: readonly unknown[] = [
  [null, true, 0, -1, 1.5, 1e300, 2 ** 53, 2 ** 53 - 1, '', 'message', [], {}, 'A', 'AAAAA', 'AA=='],
  ['AAé', 'A\nA', 'AAAA\n', 'A'.repeat(174_763), 'A'.repeat(174_764), ' c2VhbGVk', 'c2Vh+/'],
  ['0F8FAD5B-d9cb-469f-a165-70867728950e', '0f8fad5b-d9cb-069f-a165-70867728950e'],
  ['0f8fad5b-d9cb-469f-c165-70867728950e', '00000000-0000-0000-0000-000000000000'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '0f8fad5b-d9cb-469f-a165-70867728950e\n'],
  ['2026-02-30T12:00:00.000Z', '2026-02-29T12:00:00.000Z', '2024-02-29T12:00:00.000Z'],
  ['2026-03-01T24:00:00.000Z', '2026-03-01T12:00:60.000Z', '2026-03-01T12:00:00Z', '2026-03-01'],
  ['2026-03-01T12:00:00.000+02:00', '2026-13-01T12:00:00.000Z', '1999-01-28T23:59:59.999Z'],
].flat();
const fields = Object.keys(message);

/** Finds the payloads that are read differently than by the schema, and counts those that are read at all. */
function compare(payloads: readonly Buffer[]) {
  const read = payloads.filter((payload) => messageIn(payload) !== null);
  const differing = read.filter((payload) => !isDeepStrictEqual(messageIn(payload), bySchema(payload)));
  return { count: read.length, differing: differing.map(String) };
}

it('a message payload with one odd field is refused, or read as by the schema', () => {
  const changed = fields.flatMap((name) => [
    ...odd.map((value) => ({ ...message, [name]: value })),
    Object.fromEntries(Object.entries(message).filter(([other]) => other !== name)),
  ]);
  const { count, differing } = compare([...changed, ...odd, [message]].map(bytesOf));
  expect(differing).toEqual([]);
  expect(count).toBeGreaterThan(5);
});

it('a message payload that is no JSON or no UTF-8 is refused', () => {
  for (const text of ['', '{', 'null', '"message"', '\uFEFF{}']) expect(messageIn(bytesOf(text))).toBeNull();
  const payload = bytesOf({ ...message, more: 'é' });
  payload[payload.indexOf(0xc3)] = 0xff;
  expect([messageIn(payload), bySchema(payload)]).toEqual([null, null]);
});

it('a message payload changed at any place is refused, or read as by the schema', () => {
  const original = JSON.stringify(message);
  const changed = fc
    .tuple(
      fc.nat(original.length),
      fc.nat(3),
      fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('\\u0041', '"', ',', ':', '0', 'f', '-', 'Z')),
    )
    .map(([at, removed, inserted]) => original.slice(0, at) + inserted + original.slice(at + removed));
  const { count, differing } = compare(fc.sample(changed, { seed: 0x51ae7, numRuns: 5000 }).map(bytesOf));
  expect(differing).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
