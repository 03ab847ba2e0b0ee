import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import { mentionsIn } from '#src/lib/markdown.ts';
import { blocksAtom } from '#src/store/blocks.ts';
import { chatsAtom, type Words } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import type { FileActions } from '#src/store/files.ts';
import { aino, chat, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { bubble, choose, items, openVeikko, type World } from '../support/messagesTab.tsx';

const others = Array.from({ length: 6 }, (_, at) => ({
  id: `other-${at}`,
  username: `other${at}`,
  email: `other${at}@example.fi`,
}));

async function openDialog(world: World, text: string) {
  await choose(world, text, 'Forward');
  return within(await screen.findByRole('dialog', { name: 'Forward message' }));
}

/** Opens it at the one message that is there, which is formatted. */
async function openOnlyDialog({ user }: World) {
  const article = screen.getByRole('article');
  await user.click(within(article).getByRole('button', { name: 'Message actions' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Forward' }));
  return within(await screen.findByRole('dialog', { name: 'Forward message' }));
}

async function pick({ user }: World, dialog: Awaited<ReturnType<typeof openDialog>>, ...names: string[]) {
  await user.click(dialog.getByRole('combobox', { name: 'Forward to' }));
  for (const name of names) await user.click(await screen.findByRole('option', { name }));
  await user.keyboard('{Escape}');
}

describe('forwarding', () => {
  it('sends a text to whom is chosen, with names in the place of mentions', async () => {
    const text = 'Ask [@whoever](sinetti:user/kaisa-id) **now**';
    const world = await openVeikko(message(veikko.id, { kind: 'text', text, isMarkdown: true }));
    const dialog = await openOnlyDialog(world);
    await pick(world, dialog, 'kaisa', 'Notes to self');
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(world.actions.forwardMessage.mock.calls).toEqual(
      expect.arrayContaining([
        [kaisa.id, { text: 'Ask @kaisa **now**', isMarkdown: true }],
        [aino.id, { text: 'Ask @kaisa **now**', isMarkdown: true }],
      ]),
    );
    expect(world.toasts()).toContain('success: Message forwarded to 2 conversations');
  });

  it('mentions nobody, and links to nothing, by the name of somebody who was mentioned', async () => {
    const text = 'Ask [@whoever](sinetti:user/kaisa-id) **now**';
    const named = { ...kaisa, username: '[@veikko](sinetti:user/veikko-id)' };
    const world = await openVeikko(message(veikko.id, { kind: 'text', text, isMarkdown: true }));
    world.store.set(contactsAtom, loaded(veikko, named));
    const dialog = await openOnlyDialog(world);
    await pick(world, dialog, 'veikko');
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.actions.forwardMessage).toHaveBeenCalled());
    const [[, sent]] = world.actions.forwardMessage.mock.calls as unknown as [[string, Words]];
    expect(mentionsIn(sent.text)).toEqual([]);
    expect(sent.text).toContain('veikko-id');
  });

  it('goes to five at most, and says so', async () => {
    const world = await openVeikko(message(veikko.id, 'At ten?'));
    world.store.set(contactsAtom, loaded(veikko, kaisa, ...others));
    const dialog = await openDialog(world, 'At ten?');
    await pick(world, dialog, ...others.map(({ username }) => username));
    expect(dialog.getByRole('status')).toHaveTextContent('Five are chosen, the most at once: other0');
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.actions.forwardMessage).toHaveBeenCalledTimes(5));
    expect(world.actions.forwardMessage).not.toHaveBeenCalledWith('other-5', { text: 'At ten?' });
  });

  it('names where it failed, and tries again there alone', async () => {
    const world = await openVeikko(message(veikko.id, 'At ten?'));
    const dialog = await openDialog(world, 'At ten?');
    world.actions.forwardMessage.mockImplementationOnce(() => Promise.reject(new Error('full')));
    await pick(world, dialog, 'kaisa', 'veikko');
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.actions.forwardMessage).toHaveBeenCalledTimes(2));
    const [[failed]] = world.actions.forwardMessage.mock.calls as unknown as [[string]];
    expect(world.toasts()).toHaveLength(1);
    await waitFor(() => expect(dialog.getByRole('button', { name: 'Forward' })).toBeEnabled());
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.actions.forwardMessage).toHaveBeenCalledTimes(3));
    expect(world.actions.forwardMessage).toHaveBeenLastCalledWith(failed, { text: 'At ten?' });
  });

  it('ends where its author deletes the message meanwhile, between one conversation and the next too', async () => {
    const said = message(veikko.id, 'At ten?');
    const world = await openVeikko(said);
    const dialog = await openDialog(world, 'At ten?');
    await pick(world, dialog, 'kaisa', 'veikko');
    let goOn: () => void = () => undefined;
    world.actions.forwardMessage.mockImplementationOnce(() => new Promise((resolve) => (goOn = resolve)));
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.actions.forwardMessage).toHaveBeenCalledOnce());
    act(() => world.store.set(chatsAtom, { [veikko.id]: chat([{ ...said, content: { kind: 'deleted' } }]) }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await act(async () => goOn());
    expect(world.actions.forwardMessage).toHaveBeenCalledOnce();
    expect(world.toasts()).toEqual([]);
  });

  it('passes files on with their caption, and says where they are no longer', async () => {
    const files = [
      { kind: 'picture', name: 'Map.png', type: 'image/png', size: 3, description: '' },
    ] as const;
    const said = message(veikko.id, { kind: 'files', text: 'Here', files });
    const world = await openVeikko(
      said,
      message(aino.id, { kind: 'files', text: 'Going', files }, { seq: null }),
    );
    const forward = vi.fn<FileActions['forward']>().mockResolvedValue();
    world.actions.files.mockResolvedValue({ forward } as Partial<FileActions> as FileActions);
    expect(await items(world, 'Going')).not.toContain('Forward');
    await world.user.keyboard('{Escape}');
    const dialog = await openDialog(world, 'Here');
    await pick(world, dialog, 'kaisa');
    forward.mockRejectedValueOnce(new AppError('not-found', 'The server no longer has this file.'));
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(world.toasts()).toEqual(['error: The server no longer has this file.']));
    await world.user.click(dialog.getByRole('button', { name: 'Forward' }));
    await waitFor(() => expect(forward).toHaveBeenLastCalledWith(kaisa.id, said, { text: 'Here' }));
    expect(world.actions.forwardMessage).not.toHaveBeenCalled();
  });

  it('is not offered to blocked people', async () => {
    const world = await openVeikko(message(veikko.id, 'At ten?'));
    world.store.set(blocksAtom, () => [
      { id: kaisa.id, username: 'kaisa', created_at: '2026-06-01T12:00:00Z' },
    ]);
    const dialog = await openDialog(world, 'At ten?');
    await world.user.click(dialog.getByRole('combobox', { name: 'Forward to' }));
    expect(await screen.findByRole('option', { name: 'veikko' })).toBeVisible();
    expect(screen.queryByRole('option', { name: 'kaisa' })).toBeNull();
  });

  it('is not offered of what disappears or was deleted, and a forwarded text is not edited', async () => {
    const world = await openVeikko(
      message(aino.id, 'Soon gone', { timer: 60 }),
      message(aino.id, { kind: 'deleted' }),
      message(aino.id, 'Passed on', { isForwarded: true }),
    );
    expect(bubble('Passed on')).toHaveTextContent('Forwarded');
    expect(bubble('Soon gone')).not.toHaveTextContent('Forwarded');
    expect(await items(world, 'Soon gone')).not.toContain('Forward');
    await world.user.keyboard('{Escape}');
    expect(await items(world, 'You deleted this message')).not.toContain('Forward');
    await world.user.keyboard('{Escape}');
    const offered = await items(world, 'Passed on');
    expect(offered).toContain('Forward');
    expect(offered).not.toContain('Edit');
  });
});
