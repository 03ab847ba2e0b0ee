import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { chatEventsAtom } from '#src/store/chatEvents.ts';
import { type ConversationState, chatsAtom, type MessageView } from '#src/store/chats.ts';
import { aino, chat, message, veikko } from '../support/app.tsx';
import { bubble, choose, items, openVeikko, type World } from '../support/messagesTab.tsx';

const [one, two, three, other] = [
  message(veikko.id, 'At ten?'),
  message(aino.id, 'At eleven'),
  message(veikko.id, {
    kind: 'files',
    text: '',
    files: [{ kind: 'picture', name: 'Map.png', type: 'image/png', size: 3, description: '' }],
  }),
  message(veikko.id, 'Until then'),
];
const all = [one, two, three, other];

function pin(world: World, pinned: readonly MessageView[], rest: Partial<ConversationState> = {}) {
  act(() => world.store.set(chatsAtom, { [veikko.id]: chat(all, { pinned, ...rest }) }));
}

const bar = () => screen.findByRole('region', { name: 'Pinned messages' });
const lead = async () => within(await bar()).getByRole('button', { name: /^Pinned message \d/ });

describe('a message', () => {
  it('is pinned and unpinned by its menu', async () => {
    const world = await openVeikko(...all);
    await choose(world, 'At ten?', 'Pin');
    expect(world.actions.setPinned).toHaveBeenCalledExactlyOnceWith(veikko.id, one.messageId, true);
    pin(world, [one]);
    await choose(world, 'At ten?', 'Unpin');
    expect(world.actions.setPinned).toHaveBeenLastCalledWith(veikko.id, one.messageId, false);
  });

  it('takes the place of the oldest by the person’s word alone', async () => {
    const world = await openVeikko(...all);
    pin(world, [three, two, one], { isPinnedFull: true });
    await choose(world, 'Until then', 'Pin');
    const dialog = await screen.findByRole('alertdialog', { name: 'Pin this message?' });
    expect(world.actions.setPinned).not.toHaveBeenCalled();
    await world.user.click(within(dialog).getByRole('button', { name: 'Pin in place of the oldest' }));
    expect(world.actions.setPinned).toHaveBeenCalledExactlyOnceWith(veikko.id, other.messageId, true);
  });

  it('is not pinned while it is on its way, nor once it was deleted', async () => {
    const world = await openVeikko(
      message(veikko.id, { kind: 'deleted' }),
      message(aino.id, 'On its way', { seq: null, status: 'sending' }),
    );
    expect(await items(world, 'On its way')).not.toContain('Pin');
    await world.user.keyboard('{Escape}');
    expect(await items(world, 'Message deleted')).not.toContain('Pin');
  });

  it('says where it could not be pinned', async () => {
    const world = await openVeikko(...all);
    world.actions.setPinned.mockRejectedValueOnce(new Error('no'));
    await choose(world, 'At ten?', 'Pin');
    await waitFor(() =>
      expect(world.toasts()).toEqual(['error: The pin could not be changed. Please try again.']),
    );
  });
});

it('a pinned message has a mark in its bubble, with a word for it, as long as it is pinned', async () => {
  const world = await openVeikko(...all);
  pin(world, [two]);
  expect(within(bubble('At eleven')).getByTitle('Pinned')).toHaveTextContent('Pinned');
  expect(within(bubble('At ten?')).queryByTitle('Pinned')).toBeNull();
  pin(world, [one]);
  expect(within(bubble('At ten?')).getByTitle('Pinned')).toBeVisible();
  expect(within(bubble('At eleven')).queryByTitle('Pinned')).toBeNull();
});

describe('the bar above the messages', () => {
  it('is there only where something is pinned', async () => {
    const world = await openVeikko(...all);
    expect(screen.queryByRole('region', { name: 'Pinned messages' })).toBeNull();
    pin(world, [one]);
    expect(await lead()).toHaveAccessibleName('Pinned message 1 of 1, veikko: At ten?');
    pin(world, []);
    expect(screen.queryByRole('region', { name: 'Pinned messages' })).toBeNull();
  });

  it('leads to the newest, and from one press to the next to those before, by keys too', async () => {
    const world = await openVeikko(...all);
    pin(world, [three, two, one]);
    expect(await lead()).toHaveAccessibleName('Pinned message 1 of 3, veikko: 📷 Picture');
    act(() => screen.getByRole('button', { name: /^Pinned message/ }).focus());
    await world.user.keyboard('{Enter}');
    await waitFor(() => expect(document.activeElement).toHaveAttribute('aria-posinset', '3'));
    expect(await lead()).toHaveAccessibleName('Pinned message 2 of 3, You: At eleven');
    await world.user.click(await lead());
    await waitFor(() => expect(bubble('At eleven').closest('li')).toHaveFocus());
    await world.user.click(await lead());
    await waitFor(() => expect(bubble('At ten?').closest('li')).toHaveFocus());
    expect(await lead()).toHaveAccessibleName(/^Pinned message 1 of 3/);
  });

  it('begins anew with what is pinned last, and goes on where one is gone', async () => {
    const world = await openVeikko(...all);
    pin(world, [two, one]);
    await world.user.click(await lead());
    expect(await lead()).toHaveAccessibleName(/At ten/);
    pin(world, [other, two, one]);
    expect(await lead()).toHaveAccessibleName(/Until then/);
    await world.user.click(await lead());
    pin(world, [other, one]);
    expect(await lead()).toHaveAccessibleName(/^Pinned message 1 of 2, veikko: Until then/);
  });

  it('unpins what it shows, where anything can be sent', async () => {
    const world = await openVeikko(...all);
    pin(world, [two, one]);
    await world.user.click(await lead());
    await world.user.click(
      within(await bar()).getByRole('button', { name: 'Actions for the pinned message' }),
    );
    await world.user.click(await screen.findByRole('menuitem', { name: 'Unpin' }));
    expect(world.actions.setPinned).toHaveBeenCalledExactlyOnceWith(veikko.id, one.messageId, false);
  });
});

it('tells between the messages who has pinned and unpinned one', async () => {
  const world = await openVeikko(...all);
  const event = (seq: number, senderId: string, isPinned: boolean) => ({
    conversationId: one.conversationId,
    seq,
    senderId,
    senderDeviceId: 'device',
    timestamp: '2026-06-01T12:00:00.000Z',
    change: { kind: 'pinned', isPinned } as const,
  });
  act(() =>
    world.store.set(chatEventsAtom, {
      [veikko.id]: [event(5, veikko.id, true), event(6, veikko.id, false), event(7, aino.id, true)],
    }),
  );
  for (const text of ['veikko pinned a message.', 'veikko unpinned a message.', 'You pinned a message.'])
    expect(
      await screen.findByText((_text, element) => element?.textContent === text && element.tagName === 'P'),
    ).toBeVisible();
});
