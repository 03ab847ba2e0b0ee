import { expect, it } from 'vitest';
import { parseRoomVerdict } from '#workers/api/frameMessages.ts';

const refusal = { code: 'different', reason: '…', isFirst: false };

it('a frame says that something is refused at the origin of the keys, or that nothing is', () => {
  expect(parseRoomVerdict({ type: 'verdict', refusal })).toEqual({ type: 'verdict', refusal });
  expect(parseRoomVerdict({ type: 'verdict', refusal: null })).toEqual({ type: 'verdict', refusal: null });
});

it.each([
  null,
  'verdict',
  { type: 'verdict' },
  { type: 'agreed', refusal },
  { type: 'verdict', refusal: 'different' },
  { type: 'verdict', refusal: { ...refusal, code: 1 } },
  { type: 'verdict', refusal: { ...refusal, reason: {} } },
  { type: 'verdict', refusal: { ...refusal, isFirst: undefined } },
])('nothing else is taken for it: %j', (data) => {
  expect(parseRoomVerdict(data)).toBeNull();
});
