import { act, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import type { Store } from '#src/services/core/deps.ts';
import { activeConversationAtom } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { resetSessionAtomsAtom } from '#src/store/sessionAtom.ts';
import { aino, loaded, veikko } from '../support/app.tsx';
import { openVeikko } from '../support/messagesTab.tsx';

describe('the composer', () => {
  it('sends the trimmed text on Enter and empties the input', async () => {
    const { actions, user, input } = await openVeikko();
    await user.type(input, '  Sauna at seven?  {Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'Sauna at seven?');
    expect(input).toHaveValue('');
    expect(input).toHaveFocus();
  });

  it('starts a new line on Shift and Enter', async () => {
    const { actions, user, input } = await openVeikko();
    await user.type(input, 'one{Shift>}{Enter}{/Shift}two');
    expect(actions.sendMessage).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, 'one\ntwo');
  });

  it('sends nothing that is blank', async () => {
    const { actions, user, input } = await openVeikko();
    expect(input).toHaveAttribute('placeholder', 'Type a message...');
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    await user.type(input, '   {Shift>}{Enter}{/Shift} {Enter}');
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });

  it('leaves Enter to the input method while it composes', async () => {
    const { actions, input } = await openVeikko();
    act(() => {
      input.focus();
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }));
    });
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });

  it('gives the text back when it could not be queued', async () => {
    const { actions, user, input, toasts } = await openVeikko();
    actions.sendMessage.mockRejectedValue(new AppError('unauthenticated', 'Please log in to send messages'));
    await user.type(input, 'Hello{Enter}');
    await waitFor(() => expect(input).toHaveValue('Hello'));
    expect(toasts()).toEqual(['error: Please log in to send messages']);
  });

  it('keeps a draft for each chat', async () => {
    const { user, input } = await openVeikko();
    await user.type(input, 'For Veikko');
    await user.click(screen.getByRole('button', { name: /kaisa/ }));
    expect(screen.getByRole('textbox', { name: 'Message to kaisa' })).toHaveValue('');
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(screen.getByRole('textbox', { name: 'Message to veikko' })).toHaveValue('For Veikko');
  });

  it.each([
    ['one session in the next', (store: Store) => store.set(resetSessionAtomsAtom)],
    [
      'one person to the next',
      (store: Store) => store.set(currentUserAtom, { ...aino, id: 'somebody-else' }),
    ],
  ])('shows no draft of %s', async (_whose, begin) => {
    const { user, input, store } = await openVeikko();
    await user.type(input, 'Secret');
    const draftAfter = (change: () => void) => {
      act(() => {
        change();
        store.set(contactsAtom, loaded(veikko));
        store.set(activeConversationAtom, veikko.id);
      });
      return screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message to veikko' });
    };
    expect(draftAfter(() => begin(store))).toHaveValue('');
    expect(draftAfter(() => store.set(currentUserAtom, aino))).toHaveValue('');
  });

  it('takes the focus whenever its chat is asked for', async () => {
    const { user, input } = await openVeikko();
    expect(input).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Search in contacts' }));
    expect(input).not.toHaveFocus();
    await user.click(screen.getByRole('button', { name: /veikko/ }));
    expect(input).toHaveFocus();
  });

  it('says how much room is left when there is little', async () => {
    const { user, input } = await openVeikko();
    await user.click(input);
    await user.paste('x'.repeat(50_000));
    expect(screen.queryByText(/characters? left/)).toBeNull();
    await user.paste('x'.repeat(15_000));
    expect(input).toHaveAccessibleDescription('About 536 characters left');
    await user.paste('x'.repeat(535));
    expect(input).toHaveAccessibleDescription('About 1 character left');
    expect(input).toBeValid();
  });

  it('refuses a paste that no message could carry, and says so', async () => {
    const { user, input } = await openVeikko();
    await user.type(input, 'Before');
    await user.paste('x'.repeat(10 * 1024 * 1024));
    expect(input).toHaveValue('Before');
    expect(screen.getByRole('alert')).toHaveTextContent('too long for one message');
    await user.type(input, '!');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('refuses a text of more bytes than the relay carries', async () => {
    const { actions, user, input } = await openVeikko();
    await user.click(input);
    await user.paste('ä'.repeat(32 * 1024));
    expect(screen.getByRole('button', { name: 'Send' })).toBeEnabled();
    await user.type(input, 'x{Enter}');
    expect(screen.getByRole('alert')).toHaveTextContent('This message is too long to send.');
    expect(input).toBeInvalid();
    expect(actions.sendMessage).not.toHaveBeenCalled();
  });
});
