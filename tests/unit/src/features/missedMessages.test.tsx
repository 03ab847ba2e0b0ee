import { act } from '@testing-library/react';
import { expect, it } from 'vitest';
import { chatEventsAtom } from '#src/store/chatEvents.ts';
import { message, veikko } from '../support/app.tsx';
import { openVeikko, shownMessages } from '../support/messagesTab.tsx';

it.each([
  [0, 'what your browsers told each other, notes among it perhaps'],
  [1, '1 message'],
  [12, '12 messages'],
])('messages that the server has deleted are counted in one line: %i', async (count, words) => {
  const { store } = await openVeikko(message(veikko.id, 'Hello'));
  const change = { kind: 'expired', count, upTo: 20 } as const;
  const place = { conversationId: 'direct:aino-id:veikko-id', seq: 2, timestamp: '2026-06-01T12:00:00.000Z' };
  const sender = { senderId: veikko.id, senderDeviceId: 'device' };
  act(() => store.set(chatEventsAtom, { [veikko.id]: [{ ...place, ...sender, change }] }));
  const line = `Deleted at the server before this browser had read it: ${words}. What your message history has is shown.`;
  expect(shownMessages().getByText(line)).toBeVisible();
});
