import { act, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { type Chat, chatsAtom } from '#src/store/chats.ts';
import { aino, chat, message, veikko } from '../support/app.tsx';
import { bubble, choose, openVeikko, showMessages, type World } from '../support/messagesTab.tsx';
import { png } from '../support/pictures.ts';

const secret = message(aino.id, 'Atlantis', { isEdited: true, timer: 60 });
const other = message(veikko.id, 'Stays');

/** Takes a message off the screen, as it goes when its time is over. */
function disappear({ store }: Pick<World, 'store'>, messageId: string) {
  act(() =>
    store.set(chatsAtom, (chats) => {
      const before = chats[veikko.id] as Chat;
      const messages = before.messages.filter((one) => one.messageId !== messageId);
      return { ...chats, [veikko.id]: { ...before, messages } };
    }),
  );
}

describe('what is open about a message whose time is over', () => {
  it.each([
    ['Message details', 'dialog'],
    ['Delete', 'alertdialog'],
  ])('closes by itself: %s', async (item, role) => {
    const world = await openVeikko(secret, other);
    await choose(world, 'Atlantis', item);
    await screen.findByRole(role);
    disappear(world, secret.messageId);
    await waitFor(() => expect(screen.queryByRole(role)).toBeNull());
    expect(bubble('Stays')).toBeVisible();
    expect(document.body).not.toHaveTextContent('Atlantis');
  });

  it('closes by itself: its versions', async () => {
    const world = await openVeikko(secret, other);
    world.actions.messageVersions.mockResolvedValue([
      { timestamp: secret.timestamp, text: 'Lemuria' },
      { timestamp: secret.timestamp, text: 'Atlantis' },
    ]);
    await world.user.click(screen.getByRole('button', { name: /^Edited/ }));
    await waitFor(() => expect(screen.getByRole('dialog')).toHaveTextContent('Lemuria'));
    disappear(world, secret.messageId);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(document.body).not.toHaveTextContent('Lemuria');
  });

  it('closes by itself: its menu', async () => {
    const world = await openVeikko(secret, other);
    await world.user.click(screen.getAllByRole('button', { name: 'Message actions' })[0] as HTMLElement);
    await screen.findByRole('menu', { name: 'Message actions' });
    disappear(world, secret.messageId);
    await waitFor(() => expect(screen.queryByRole('menu')).toBeNull());
  });

  it('closes by itself: its picture', async () => {
    const files = [
      { kind: 'picture', name: 'Map.png', type: 'image/png', size: 3, description: '' },
    ] as const;
    const picture = message(veikko.id, '', { content: { kind: 'files', text: '', files }, timer: 60 });
    const world = showMessages({ [veikko.id]: chat([picture, other]) });
    const read = { read: async () => new Blob([png(9, 9)]) };
    // Before the chat opens: the code for files may be there already, and asks at once.
    world.actions.files.mockResolvedValue(read as never);
    await world.user.click(screen.getByRole('button', { name: /veikko/ }));
    const view = await screen.findByRole('button', { name: /Map/ });
    await waitFor(() => expect(view).toBeEnabled());
    await world.user.click(view);
    await screen.findByRole('dialog', { name: 'Map.png' });
    disappear(world, picture.messageId);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(document.body).not.toHaveTextContent('Map');
  });
});
