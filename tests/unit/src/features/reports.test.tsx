import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { ContactsTab } from '#src/features/contacts/ContactsTab.tsx';
import { AppError } from '#src/lib/appError.ts';
import { chatsAtom, emptyChat, type MessageView } from '#src/store/chats.ts';
import { contactsAtom, incomingRequestsAtom, outgoingRequestsAtom } from '#src/store/contacts.ts';
import { aino, createWorld, loaded, veikko } from '../support/app.tsx';

const eino = { id: 'eino-id', username: 'eino', email: 'eino@example.fi' };
const request = { id: 'request-1', from_user: eino, created_at: '2026-06-01T12:00:00.000Z' };

const message = (seq: number, senderId: string, text: string): MessageView => ({
  conversationId: 'direct:x',
  messageId: `message-${seq}`,
  seq,
  senderId,
  senderDeviceId: 'device',
  timestamp: `2026-06-01T12:00:0${seq % 10}.000Z`,
  status: 'received',
  content: { kind: 'text', text },
});

function show(messages: readonly MessageView[] = []) {
  const world = createWorld();
  world.store.set(contactsAtom, loaded(veikko));
  world.store.set(incomingRequestsAtom, loaded(request));
  world.store.set(outgoingRequestsAtom, loaded());
  world.store.set(chatsAtom, { [veikko.id]: { ...emptyChat, messages } });
  const nothing = vi.fn<() => void>();
  const user = world.show(<ContactsTab view="management" onViewChange={nothing} onMessage={nothing} />);
  const open = async () => {
    await user.click(screen.getByRole('button', { name: 'More about veikko' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Report' }));
    return within(await screen.findByRole('dialog', { name: 'Report this person' }));
  };
  return { ...world, user, open };
}

describe('reporting a contact', () => {
  it('sends a reason and words, and no message that was not ticked', async () => {
    const { actions, open, toasts, user } = show([
      message(1, veikko.id, 'Send money'),
      message(2, aino.id, 'No'),
    ]);
    const dialog = await open();
    expect(dialog.getByText(/^Your report goes to whoever runs this server/)).toHaveTextContent(
      /veikko isn't told/,
    );
    expect(dialog.getByText(/^Nothing is attached unless you tick it/)).toBeVisible();
    await user.click(dialog.getByRole('button', { name: 'Harassment' }));
    await user.type(dialog.getByLabelText('In your words (optional)'), ' Every night. ');
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    expect(actions.report).toHaveBeenCalledExactlyOnceWith({
      userId: veikko.id,
      reason: 'harassment',
      text: 'Every night.',
      messages: [],
    });
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(toasts()).toEqual(['success: Report sent.']);
  });

  it('offers their last messages, newest first, never own ones, and sends those that are ticked', async () => {
    const theirs = Array.from({ length: 52 }, (_item, seq) => message(seq, veikko.id, `Text ${seq}`));
    const { actions, open, user } = show([...theirs, message(52, aino.id, 'Mine')]);
    const dialog = await open();
    const boxes = dialog.getAllByRole('checkbox');
    expect(boxes).toHaveLength(50);
    for (const box of boxes) expect(box).not.toBeChecked();
    expect(dialog.queryByText(/Mine/)).toBeNull();
    await user.click(dialog.getByRole('checkbox', { name: /Text 51$/ }));
    await user.click(dialog.getByRole('checkbox', { name: /Text 3$/ }));
    await user.click(dialog.getByRole('checkbox', { name: /Text 3$/ }));
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    const [report] = actions.report.mock.calls[0] ?? [];
    expect(report?.messages.map(({ text }) => text)).toEqual(['Text 51']);
  });

  it('neither shows nor sends what was ticked once it has disappeared, but what they have deleted', async () => {
    const [first, second] = [message(1, veikko.id, 'Gone soon'), message(2, veikko.id, 'Taken back')];
    const { actions, open, store, user } = show([first, second]);
    const dialog = await open();
    await user.click(dialog.getByRole('checkbox', { name: /Gone soon$/ }));
    await user.click(dialog.getByRole('checkbox', { name: /Taken back$/ }));
    const deleted: MessageView = { ...second, content: { kind: 'deleted' } };
    act(() => store.set(chatsAtom, { [veikko.id]: { ...emptyChat, messages: [deleted] } }));
    expect(dialog.queryByText(/Gone soon/)).toBeNull();
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    const [report] = actions.report.mock.calls[0] ?? [];
    expect(report?.messages.map(({ text }) => text)).toEqual(['Taken back']);
  });

  it('sends what was ticked although they write on meanwhile, and ten messages at most', async () => {
    const theirs = (count: number) =>
      Array.from({ length: count }, (_item, seq) => message(seq, veikko.id, `Text ${seq}`));
    const { actions, open, store, user } = show(theirs(12));
    const dialog = await open();
    await user.click(dialog.getByRole('checkbox', { name: /Text 0$/ }));
    act(() => store.set(chatsAtom, { [veikko.id]: { ...emptyChat, messages: theirs(70) } }));
    const boxes = dialog.getAllByRole('checkbox');
    expect(boxes.at(-1)).toBeChecked();
    for (const box of boxes.slice(0, 10)) await user.click(box);
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    const [report] = actions.report.mock.calls[0] ?? [];
    const newest = Array.from({ length: 9 }, (_item, back) => `Text ${69 - back}`);
    expect(report?.messages.map(({ text }) => text)).toEqual([...newest, 'Text 0']);
  });

  it('shows of a message all that it sends', async () => {
    const { open } = show([message(1, veikko.id, `${'a'.repeat(3000)} and the end`)]);
    expect((await open()).getByRole('checkbox', { name: /and the end$/ })).toBeVisible();
  });

  it('keeps what was written where it could not be sent, and says why', async () => {
    const { actions, open, toasts, user } = show();
    actions.report.mockRejectedValue(new AppError('rate-limited', 'Too many requests.'));
    const dialog = await open();
    expect(dialog.getByText(/^Open the chat with them first/)).toBeVisible();
    await user.type(dialog.getByLabelText('In your words (optional)'), 'Spam');
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    await waitFor(() => expect(toasts()).toEqual(['error: Too many requests.']));
    expect(dialog.getByLabelText('In your words (optional)')).toHaveValue('Spam');
    await user.click(dialog.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(actions.report).toHaveBeenCalledOnce();
  });
});

describe('reporting a stranger', () => {
  it('is offered where one is asked whether to block them, and blocks nobody by itself', async () => {
    const { actions, user } = show();
    await user.click(screen.getByRole('button', { name: 'Block' }));
    const asked = within(await screen.findByRole('alertdialog'));
    await user.click(asked.getByRole('button', { name: 'Report to whoever runs this server' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Report this person' }));
    await user.click(dialog.getByRole('button', { name: 'Send report' }));
    expect(actions.report).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ userId: eino.id }));
    expect(actions.updateBlocks).not.toHaveBeenCalled();
  });
});
