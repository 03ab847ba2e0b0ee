import { act, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { preferencesAtom } from '#src/store/preferences.ts';
import { aino, message, veikko } from '../support/app.tsx';
import { openVeikko } from '../support/messagesTab.tsx';

it('the details of a message count nobody’s receipts where receipts are switched off here', async () => {
  const { actions, store, user } = await openVeikko(message(veikko.id, 'Hello', { seq: 1234 }));
  act(() => store.set(preferencesAtom, { readReceipts: false }));
  actions.messageEvidence.mockResolvedValue({
    seq: 1234,
    senderId: veikko.id,
    senderDeviceId: '1a2b3c4d-0000-4000-8000-000000000000',
    isThisDevice: false,
    epoch: 12,
    suite: 0xf04d,
    log: { kind: 'agreed', confirmed: 2, others: 3 },
    pinned: null,
  });
  await user.click(screen.getByRole('button', { name: 'Message actions' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Message details' }));
  const dialog = await screen.findByRole('dialog', { name: 'Message details' });
  await waitFor(() => expect(dialog).toHaveTextContent('At least one other browser was shown the same'));
  expect(dialog).not.toHaveTextContent('2 of 3');
});

it.each([
  ['another', veikko.id, /Pinned.*12:00.*, by veikko/],
  ['this person', aino.id, /Pinned.*12:00.*, by you/],
])('the details of a pinned message name who has pinned it, and when: %s', async (_who, userId, words) => {
  const { actions, user } = await openVeikko(message(veikko.id, 'Hello', { seq: 1234 }));
  actions.messageEvidence.mockResolvedValue({
    seq: 1234,
    senderId: veikko.id,
    senderDeviceId: '1a2b3c4d-0000-4000-8000-000000000000',
    isThisDevice: false,
    epoch: 12,
    suite: 0xf04d,
    log: { kind: 'open' },
    pinned: { userId, timestamp: new Date(2026, 5, 1, 12).toISOString() },
  });
  await user.click(screen.getByRole('button', { name: 'Message actions' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Message details' }));
  const dialog = await screen.findByRole('dialog', { name: 'Message details' });
  await waitFor(() => expect(dialog).toHaveTextContent(words));
});
