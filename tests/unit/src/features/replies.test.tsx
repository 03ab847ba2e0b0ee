import { act, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { type Chat, chatsAtom, type MessageView } from '#src/store/chats.ts';
import { aino, message, veikko } from '../support/app.tsx';
import { bubble, change, choose, openVeikko, shownMessages } from '../support/messagesTab.tsx';

const said = message(veikko.id, 'At ten?');

describe('an answer', () => {
  it('stands above the input until it is sent with the message, or given up with Escape', async () => {
    const world = await openVeikko(said);
    const { actions, user, input } = world;
    await choose(world, 'At ten?', 'Reply');
    await waitFor(() => expect(input).toHaveFocus());
    expect(screen.getByText('Replying to', { exact: false }).parentElement).toHaveTextContent(
      'Replying to veikkoAt ten?',
    );
    await user.keyboard('{Escape}');
    expect(screen.queryByText('Replying to', { exact: false })).toBeNull();
    await choose(world, 'At ten?', 'Reply');
    await waitFor(() => expect(input).toHaveFocus());
    await user.keyboard('Fine{Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'Fine', said.messageId);
    expect(screen.queryByText('Replying to', { exact: false })).toBeNull();
    await user.keyboard('And more{Enter}');
    expect(actions.sendMessage).toHaveBeenLastCalledWith(veikko.id, 'And more');
  });

  it('waits with its draft while another chat is open, and comes back where nothing was queued', async () => {
    const world = await openVeikko(said);
    const { actions, user } = world;
    await choose(world, 'At ten?', 'Reply');
    await user.keyboard('Half');
    await user.click(screen.getByRole('button', { name: /kaisa/ }));
    expect(screen.queryByText('Replying to', { exact: false })).toBeNull();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(screen.getByText('Replying to', { exact: false })).toBeVisible();
    const input = screen.getByRole('textbox', { name: 'Message to veikko' });
    actions.sendMessage.mockRejectedValueOnce(new Error('full'));
    await user.type(input, ' written{Enter}');
    await waitFor(() => expect(input).toHaveValue('Half written'));
    expect(screen.getByText('Replying to', { exact: false })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Cancel the reply' }));
    expect(input).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(actions.sendMessage).toHaveBeenLastCalledWith(veikko.id, 'Half written');
  });

  it('is none any more once its original is deleted', async () => {
    const world = await openVeikko(said);
    await choose(world, 'At ten?', 'Reply');
    change(world, () => true, { content: { kind: 'deleted' } });
    expect(screen.queryByText('Replying to', { exact: false })).toBeNull();
    await world.user.type(world.input, 'Anyway{Enter}');
    expect(world.actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'Anyway');
  });
});

describe('a quote', () => {
  const answer = (quote: MessageView['quote']) =>
    message(veikko.id, 'The answer', { ...(quote && { quote }) });

  it('says whom it answers and leads there', async () => {
    const original = message(aino.id, 'First wording');
    const world = await openVeikko(original, answer({ message: original }));
    await world.user.click(shownMessages().getByRole('button', { name: 'In reply to You: First wording' }));
    await waitFor(() => expect(bubble('First wording').closest('li')).toHaveFocus());
    expect(bubble('First wording').closest('li')).toHaveClass('marked');
  });

  it('says that its original was deleted, or is not here', async () => {
    const original = message(veikko.id, { kind: 'deleted' });
    await openVeikko(answer({ message: original }), answer({ message: null }));
    expect(
      shownMessages().getByRole('button', { name: 'In reply to veikko: Message deleted' }),
    ).toBeVisible();
    expect(shownMessages().getByText('Original message isn’t on this device')).toBeVisible();
  });

  it('loads older pages until its original is there', async () => {
    const original = message(veikko.id, 'Long ago', { seq: 0 });
    const world = await openVeikko(answer({ message: original }));
    const { actions, store, user } = world;
    const pages = [[message(veikko.id, 'Between', { seq: 0 })], [original]];
    let go: () => void = () => undefined;
    actions.loadOlderMessages.mockImplementation(async () => {
      await new Promise<void>((resolve) => (go = resolve));
      const [page = []] = pages.splice(0, 1);
      act(() =>
        store.set(chatsAtom, (chats) => {
          const before = chats[veikko.id] as Chat;
          const messages = [...page, ...before.messages];
          return { ...chats, [veikko.id]: { ...before, messages, hasOlder: pages.length > 0 } };
        }),
      );
    });
    act(() =>
      store.set(chatsAtom, (chats) => ({
        ...chats,
        [veikko.id]: { ...(chats[veikko.id] as Chat), hasOlder: true },
      })),
    );
    await user.click(shownMessages().getByRole('button', { name: 'In reply to veikko: Long ago' }));
    expect(screen.getByText('Looking for the original message…')).toBeVisible();
    await act(async () => go());
    await waitFor(() => expect(bubble('Between')).toBeVisible());
    await waitFor(() => expect(actions.loadOlderMessages).toHaveBeenCalledTimes(2));
    await act(async () => go());
    await waitFor(() => expect(bubble('Long ago').closest('li')).toHaveFocus());
    expect(screen.queryByText('Looking for the original message…')).toBeNull();
  });

  it('says calmly where the original is not on this device', async () => {
    const { toasts, user } = await openVeikko(answer({ message: message(veikko.id, 'Lost') }));
    await user.click(shownMessages().getByRole('button', { name: 'In reply to veikko: Lost' }));
    await waitFor(() => expect(toasts()).toEqual(['info: Original message isn’t on this device']));
  });
});
