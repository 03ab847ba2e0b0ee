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
});

it('a batch is the same on the other side of the thread', () => {
  const batch = [entry('a', 'somebody'), entry('b', null), entry('c', 'somebody')];

  expect(unpackEntries(structuredClone(packEntries(batch)))).toEqual(batch);
});

it('so are its outcomes, whichever stand beside each other', () => {
  const userIds = ['a', 'b'];
  const appended = (seq: number, news: string | null): AppendOutcome => ({
    type: 'appended',
    seq,
    epoch: 3,
    createdAt: 1_700_000_000_000,
    news: news === null ? null : { senderDeviceId: news, userIds },
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
