import { expect, it } from 'vitest';
import type { AppendOutcome, NewEntry } from '../../src/messaging/append/append.ts';
import {
  packEntries,
  packOutcomes,
  unpackEntries,
  unpackOutcomes,
} from '../../src/messaging/append/packing.ts';

const entry = (name: string, recipientId: string | null): NewEntry => ({
  conversationId: `conversation of ${name}`,
  recipientId,
  messageId: `message of ${name}`,
  epoch: 3,
  content: `content of ${name}`,
  senderId: `sender of ${name}`,
  sessionId: `session of ${name}`,
  start: name === 'a' ? null : `start of ${name}`,
});

it('unpacks a batch as it was packed', () => {
  const batch = [entry('a', 'somebody'), entry('b', null), entry('c', 'somebody')];

  expect(unpackEntries(structuredClone(packEntries(batch)))).toEqual(batch);
});

it('unpacks outcomes as they were packed, appended and refused ones in any order', () => {
  const userIds = ['a', 'b'];
  const appended = (seq: number, delivery: string | null): AppendOutcome => ({
    type: 'appended',
    seq,
    epoch: 3,
    createdAt: 1_700_000_000_000,
    delivery: delivery === null ? null : { senderDeviceId: delivery, userIds },
  });
  const outcomes: AppendOutcome[] = [
    { type: 'refused', code: 'not-a-contact' },
    appended(1, 'device'),
    appended(2, null),
    { type: 'refused', code: 'stale-epoch', epoch: 4 },
    { type: 'refused', code: 'session-expired' },
    appended(3, 'device'),
  ];

  expect(unpackOutcomes(structuredClone(packOutcomes(outcomes)))).toEqual(outcomes);
});
