import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { announcementAtom } from '#src/store/announcement.ts';
import { blocksAtom } from '#src/store/blocks.ts';
import { rememberEmojiAtom } from '#src/store/emoji.ts';
import { aino, message, veikko } from '../support/app.tsx';
import {
  bubble,
  change,
  choose,
  items,
  openMenu,
  openVeikko,
  shownMessages,
} from '../support/messagesTab.tsx';

const said = message(veikko.id, 'At ten?');
const mine = message(aino.id, 'At eleven');

afterEach(() => vi.useRealTimers());

describe('an edit', () => {
  it('has the text in the form, and gives the draft back when it is saved or given up', async () => {
    const world = await openVeikko(said, mine);
    const { actions, user, input } = world;
    await user.type(input, 'A draft');
    await choose(world, 'At eleven', 'Edit');
    await waitFor(() => expect(input).toHaveFocus());
    expect(input).toHaveAccessibleName('Edit your message');
    expect(input).toHaveValue('At eleven');
    await user.keyboard('{Escape}');
    expect(input).toHaveValue('A draft');
    await choose(world, 'At eleven', 'Edit');
    await user.clear(input);
    await user.type(input, ' At noon {Enter}');
    expect(actions.changeMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, {
      kind: 'edit',
      of: mine.messageId,
      text: 'At noon',
    });
    expect(input).toHaveValue('A draft');
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });

  it('of the last own message begins with Up in an empty input, and sends nothing while it is the same', async () => {
    const { actions, user, input } = await openVeikko(mine, said);
    await user.type(input, 'x{ArrowUp}');
    expect(input).toHaveValue('x');
    await user.clear(input);
    await user.keyboard('{ArrowUp}');
    expect(screen.getByText('Editing message')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Save' })).toBeEnabled();
    await user.keyboard('{Enter}');
    expect(screen.queryByText('Editing message')).toBeNull();
    expect(actions.changeMessage).not.toHaveBeenCalled();
  });

  it('comes back where it could not be queued', async () => {
    const { actions, toasts, user, input } = await openVeikko(mine);
    actions.changeMessage.mockRejectedValueOnce(new Error('full'));
    await user.click(input);
    await user.keyboard('{ArrowUp}!{Enter}');
    await waitFor(() => expect(toasts()).toEqual(['error: The message could not be changed.']));
    expect(input).toHaveValue('At eleven!');
  });

  it('is told beside the time, with its versions on asking', async () => {
    const { actions, user } = await openVeikko(message(veikko.id, 'At ten!', { isEdited: true }), said);
    actions.messageVersions.mockResolvedValue([
      { timestamp: new Date(2026, 5, 1, 9, 1).toISOString(), text: 'At two!' },
      { timestamp: new Date(2026, 5, 1, 9, 2).toISOString(), text: 'At ten!' },
    ]);
    expect(within(bubble('At ten?')).queryByText('edited')).toBeNull();
    await user.click(within(bubble('At ten!')).getByRole('button', { name: /^Edited/ }));
    const dialog = await screen.findByRole('dialog', { name: 'Versions of this message' });
    await waitFor(() =>
      expect(
        within(dialog)
          .getAllByRole('listitem')
          .map(({ textContent }) => textContent),
      ).toEqual([
        expect.stringMatching(/9:02.*· NowAt ten!$/),
        expect.stringMatching(/9:01.*· First versionAt two!$/),
      ]),
    );
  });
});

describe('reactions', () => {
  const reacted = message(aino.id, 'Sailing?', {
    reactions: [
      { emoji: '⛵', userIds: [veikko.id] },
      { emoji: '❤️', userIds: [veikko.id, aino.id] },
    ],
  });

  it('count who has given each, and are given and taken back by a click', async () => {
    const { actions, user } = await openVeikko(reacted);
    const others = shownMessages().getByRole('button', { name: '⛵ veikko' });
    const own = shownMessages().getByRole('button', { name: '❤️ veikko and You' });
    expect(others).toHaveTextContent('1');
    expect(others).toHaveAttribute('aria-pressed', 'false');
    expect(own).toHaveTextContent('2');
    expect(own).toHaveAttribute('aria-pressed', 'true');
    await user.click(others);
    await user.click(own);
    expect(actions.changeMessage.mock.calls.map(([, change]) => change)).toEqual([
      { kind: 'reaction', of: reacted.messageId, emoji: '⛵', isTaken: false },
      { kind: 'reaction', of: reacted.messageId, emoji: '❤️', isTaken: true },
    ]);
  });

  it('are chosen in the menu, whose row the arrow keys lead along and out of', async () => {
    const world = await openVeikko(said);
    const menu = await openMenu(world, 'At ten?');
    const row = within(menu.getByRole('group', { name: 'React' }));
    expect(row.getAllByRole('menuitemcheckbox')).toHaveLength(6);
    act(() => row.getByRole('menuitemcheckbox', { name: 'React with 😂' }).focus());
    await world.user.keyboard('{ArrowDown}');
    expect(menu.getByRole('menuitem', { name: 'Reply' })).toHaveFocus();
    act(() => row.getByRole('menuitemcheckbox', { name: 'React with ❤️' }).focus());
    await world.user.keyboard('{ArrowRight}{Enter}');
    expect(world.actions.changeMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, {
      kind: 'reaction',
      of: said.messageId,
      emoji: '😂',
      isTaken: false,
    });
  });

  it('offer six: first those that the person has picked last, then common ones, none of them twice', async () => {
    const world = await openVeikko(said);
    const offered = async () => {
      const menu = await openMenu(world, 'At ten?');
      const row = within(menu.getByRole('group', { name: 'React' }));
      const emojis = row.getAllByRole('menuitemcheckbox').map(({ textContent }) => textContent);
      await world.user.keyboard('{Escape}');
      return emojis.join(' ');
    };
    expect(await offered()).toBe('👍️ ❤️ 😂 😮 😢 🙏');
    for (const emoji of ['⛵', '😂', '🌊']) await act(() => world.store.set(rememberEmojiAtom, emoji));
    expect(await offered()).toBe('🌊 😂 ⛵ 👍️ ❤️ 😮');
    for (const emoji of ['🐟', '🐻', '🌲', '🍓']) await act(() => world.store.set(rememberEmojiAtom, emoji));
    expect(await offered()).toBe('🍓 🌲 🐻 🐟 🌊 😂');
  });

  it('are picked from all emojis by a key', async () => {
    const { actions, user } = await openVeikko(said);
    act(() => bubble('At ten?').closest('li')?.focus());
    await user.keyboard('+');
    const picker = await screen.findByRole('dialog', { name: 'Choose an emoji' });
    await user.type(await within(picker).findByRole('searchbox'), 'penguin{Enter}');
    expect(actions.changeMessage).toHaveBeenCalledExactlyOnceWith(
      veikko.id,
      expect.objectContaining({ kind: 'reaction', emoji: '🐧', isTaken: false }),
    );
  });

  it('leave room on a narrow screen, and show who has given all of them', async () => {
    const emojis = ['😀', '😁', '😂', '🤣', '😃', '😄', '😅', '😆', '😉', '😊', '😋', '😎', '😍', '😘'];
    const { user } = await openVeikko(
      message(veikko.id, 'Many', { reactions: emojis.map((emoji) => ({ emoji, userIds: [aino.id] })) }),
    );
    const row = within(shownMessages().getByRole('list', { name: 'Reactions' }));
    expect(row.queryByRole('button', { name: '😁 You' })).toBeNull();
    expect(row.getByRole('button', { name: '😘 You' })).toBeVisible();
    await user.click(row.getByRole('button', { name: '2 more emojis' }));
    const who = await screen.findByRole('dialog', { name: 'Reactions' });
    expect(who).toHaveTextContent(/😀You.*😘You/);
  });

  it('of others to an own message are said, those to others’ messages not', async () => {
    const world = await openVeikko(said, mine);
    const given = { reactions: [{ emoji: '🎉', userIds: [veikko.id] }] };
    const announced = () => world.store.get(announcementAtom);
    change(world, ({ messageId }) => messageId === said.messageId, given);
    expect(announced()).toBe('');
    change(world, ({ messageId }) => messageId === mine.messageId, given);
    expect(announced()).toBe('veikko reacted with 🎉 to your message');
  });
});

describe('deleting', () => {
  it('is for everyone or for oneself, and asks before', async () => {
    const world = await openVeikko(mine);
    await choose(world, 'At eleven', 'Delete');
    const dialog = within(await screen.findByRole('alertdialog', { name: 'Delete this message?' }));
    await waitFor(() => expect(dialog.getByRole('button', { name: 'Cancel' })).toHaveFocus());
    await world.user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(world.actions.changeMessage).not.toHaveBeenCalled();
    await choose(world, 'At eleven', 'Delete');
    await world.user.click(await screen.findByRole('button', { name: 'Delete for everyone' }));
    expect(world.actions.changeMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, {
      kind: 'deletion',
      of: mine.messageId,
    });
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    await choose(world, 'At eleven', 'Delete');
    await world.user.click(await screen.findByRole('button', { name: 'Delete for me' }));
    expect(world.actions.deleteMessageHere).toHaveBeenCalledExactlyOnceWith(veikko.id, mine.messageId);
  });

  it('of somebody else’s message is for oneself only', async () => {
    const world = await openVeikko(said);
    act(() => bubble('At ten?').closest('li')?.focus());
    await world.user.keyboard('{Delete}');
    await screen.findByRole('alertdialog');
    expect(screen.queryByRole('button', { name: 'Delete for everyone' })).toBeNull();
    await world.user.click(screen.getByRole('button', { name: 'Delete for me' }));
    expect(world.actions.deleteMessageHere).toHaveBeenCalledExactlyOnceWith(veikko.id, said.messageId);
  });

  it('leaves a sentence, which the list of chats says too, and little to do with it', async () => {
    const gone = { kind: 'deleted' } as const;
    const world = await openVeikko(message(veikko.id, gone), message(aino.id, gone));
    expect(shownMessages().getByText('Message deleted')).toBeVisible();
    const row = screen.getByRole('button', { name: /veikko/ });
    expect(row).toHaveTextContent('You deleted this message');
    expect(row).not.toHaveTextContent('You:');
    expect(await items(world, 'You deleted this message')).toEqual(['Message details', 'Delete']);
  });
});

describe('what a message allows', () => {
  it('is everything for an own one, and less for others’, failed and waiting ones', async () => {
    const waiting = message(aino.id, 'On its way', { seq: null, status: 'sending' });
    const failed = message(aino.id, 'Lost', { seq: null, status: 'failed' });
    const world = await openVeikko(said, mine, waiting, failed);
    const close = async () => {
      await world.user.keyboard('{Escape}');
      await waitFor(() => expect(screen.queryByRole('menu')).toBeNull());
    };
    expect(await items(world, 'At eleven')).toEqual([
      'Reply',
      'Forward',
      'Edit',
      'Star',
      'Pin',
      'Copy text',
      'Message details',
      'Delete',
    ]);
    await close();
    expect(await items(world, 'At ten?')).toEqual([
      'Reply',
      'Forward',
      'Star',
      'Pin',
      'Copy text',
      'Message details',
      'Delete',
    ]);
    await close();
    expect(await items(world, 'Lost')).toEqual(['Forward', 'Copy text', 'Message details']);
    await close();
    await choose(world, 'On its way', 'Delete');
    expect(await screen.findByRole('button', { name: 'Delete for everyone' })).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Delete for me' })).toBeNull();
  });

  it('is the same for files, once the server has them', async () => {
    const picture = {
      kind: 'files',
      text: 'The shore',
      files: [{ kind: 'picture', name: 'Shore.png', type: 'image/png', size: 3, description: '' }],
    } as const;
    const world = await openVeikko(
      message(aino.id, picture),
      message(aino.id, { ...picture, text: 'Going' }, { seq: null, status: 'sending' }),
    );
    const menu = await openMenu(world, 'The shore');
    expect(menu.getByRole('menuitemcheckbox', { name: 'React with 👍️' })).toBeVisible();
    const offered = menu.getAllByRole('menuitem').flatMap(({ textContent }) => textContent || []);
    expect(offered).toEqual(['Reply', 'Forward', 'Star', 'Pin', 'Copy text', 'Message details', 'Delete']);
    await world.user.click(menu.getByRole('menuitem', { name: 'Reply' }));
    expect(screen.getByText(/^Replying to/)).toBeVisible();
    await choose(world, 'The shore', 'Delete');
    expect(await screen.findByRole('button', { name: 'Delete for everyone' })).toBeVisible();
    await world.user.keyboard('{Escape}');
    expect(await items(world, 'Going')).toEqual(['Copy text', 'Message details']);
  });

  it('is answered by keys where it allows it', async () => {
    const { user, input } = await openVeikko(said, mine);
    act(() => bubble('At ten?').closest('li')?.focus());
    await user.keyboard('e');
    expect(input).toHaveAccessibleName('Message to veikko');
    await user.keyboard('r');
    expect(screen.getByText('Replying to', { exact: false })).toBeVisible();
    expect(input).toHaveFocus();
    expect(input).toHaveValue('');
    act(() => bubble('At eleven').closest('li')?.focus());
    await user.keyboard('e');
    expect(input).toHaveValue('At eleven');
  });

  it('is only what needs no sending in a chat with somebody who is blocked', async () => {
    const world = await openVeikko(said);
    act(() =>
      world.store.set(blocksAtom, [
        { id: veikko.id, username: 'veikko', created_at: '2026-06-01T12:00:00.000Z' },
      ]),
    );
    expect(await items(world, 'At ten?')).toEqual([
      'Forward',
      'Star',
      'Copy text',
      'Message details',
      'Delete',
    ]);
  });

  it('opens under a finger that rests on it, and not under one that scrolls', async () => {
    await openVeikko(said);
    const text = shownMessages().getByText('At ten?');
    const at = { pointerType: 'touch', isPrimary: true, clientX: 20, clientY: 20 };
    vi.useFakeTimers();
    fireEvent.pointerDown(text, at);
    fireEvent.pointerMove(text, { ...at, clientY: 60 });
    act(() => void vi.advanceTimersByTime(1000));
    fireEvent.pointerUp(text, at);
    expect(screen.queryByRole('menu')).toBeNull();
    fireEvent.pointerDown(text, at);
    act(() => void vi.advanceTimersByTime(1000));
    vi.useRealTimers();
    expect(await screen.findByRole('menu')).toBeVisible();
  });
});

it('a change that was not sent can be sent again or discarded, and one on its way says nothing', async () => {
  const { actions, user } = await openVeikko(
    message(aino.id, 'Changed', {
      unsentChanges: [
        { messageId: 'change-1', kind: 'edit', status: 'failed' },
        { messageId: 'change-2', kind: 'reaction', status: 'sending' },
      ],
    }),
  );
  expect(shownMessages().getAllByText('Change not sent.')).toHaveLength(1);
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  expect(actions.retryMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'change-1');
  await user.click(screen.getByRole('button', { name: 'Discard' }));
  expect(actions.discardMessage).toHaveBeenCalledExactlyOnceWith('change-1');
});
