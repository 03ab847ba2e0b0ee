import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { Starred } from '#src/features/profile/Starred.tsx';
import { chatsAtom, soughtAtom } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { starsAtom } from '#src/store/stars.ts';
import { aino, chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { bubble, choose, items, openVeikko } from '../support/messagesTab.tsx';

const said = message(veikko.id, 'At ten?');

describe('a star', () => {
  it('is given and taken back by the menu, and shown at the message', async () => {
    const world = await openVeikko(said);
    expect(world.actions.loadStars).toHaveBeenCalled();
    await choose(world, 'At ten?', 'Star');
    expect(world.actions.setStar).toHaveBeenCalledExactlyOnceWith(veikko.id, said.messageId, true);
    await waitFor(() => expect(world.toasts()).toEqual(['success: Starred. You find it in your profile.']));
    expect(bubble('At ten?')).not.toHaveTextContent('Starred');
    act(() => world.store.set(starsAtom, [{ key: veikko.id, message: said }]));
    expect(bubble('At ten?')).toHaveTextContent('Starred');
    await choose(world, 'At ten?', 'Remove star');
    expect(world.actions.setStar).toHaveBeenLastCalledWith(veikko.id, said.messageId, false);
  });

  it('is not for what is on its way or was deleted', async () => {
    const world = await openVeikko(
      message(veikko.id, { kind: 'deleted' }),
      message(aino.id, 'On its way', { seq: null, status: 'sending' }),
    );
    expect(await items(world, 'On its way')).not.toContain('Star');
    await world.user.keyboard('{Escape}');
    expect(await items(world, 'Message deleted')).not.toContain('Star');
  });
});

describe('the list of starred messages', () => {
  it('says whose they are, where and when, and leads to each', async () => {
    const world = createWorld();
    world.store.set(contactsAtom, loaded(veikko, kaisa));
    const own = message(aino.id, 'My own');
    world.store.set(starsAtom, [
      { key: kaisa.id, message: own },
      { key: veikko.id, message: said },
    ]);
    const onOpen = vi.fn<(key: string) => void>();
    const user = world.show(<Starred id="stars" onOpenConversation={onOpen} />);
    const list = within(await screen.findByRole('region', { name: 'Starred messages' }));
    expect(list.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/^You · kaisa · .*2026.*My own$/),
      expect.stringMatching(/^veikko · veikko · .*2026.*At ten\?$/),
    ]);
    await user.click(list.getByRole('button', { name: /At ten/ }));
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(veikko.id);
    expect(world.store.get(soughtAtom)).toEqual({ key: veikko.id, messageId: said.messageId });
  });

  it('leads to the message once its chat is there', async () => {
    const world = await openVeikko(said, message(veikko.id, 'Later'));
    act(() => world.store.set(soughtAtom, { key: veikko.id, messageId: said.messageId }));
    await waitFor(() => expect(bubble('At ten?').closest('li')).toHaveFocus());
    expect(bubble('At ten?').closest('li')).toHaveClass('marked');
    expect(world.store.get(soughtAtom)).toBeNull();
    // Nothing leads there while it is being loaded.
    act(() => {
      world.store.set(chatsAtom, { [veikko.id]: { ...chat([]), loading: true } });
      world.store.set(soughtAtom, { key: veikko.id, messageId: said.messageId });
    });
    expect(world.store.get(soughtAtom)).not.toBeNull();
    act(() => world.store.set(chatsAtom, { [veikko.id]: chat([said]) }));
    await waitFor(() => expect(world.store.get(soughtAtom)).toBeNull());
  });

  it('says how one comes there while it is empty', async () => {
    const world = createWorld();
    world.show(<Starred id="stars" onOpenConversation={() => undefined} />);
    expect(await screen.findByText(/No message is starred/)).toBeVisible();
    expect(world.actions.loadStars).toHaveBeenCalledOnce();
  });
});
