import { act, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { activateLocale } from '#src/i18n/i18n.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { typingAtom } from '#src/store/typing.ts';
import { kaisa, loaded, message, veikko } from '../support/app.tsx';
import { openVeikko } from '../support/messagesTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

beforeEach(() => setWindowWidth(1440));

const writer = (userId: string) => ({ userId, since: 0 });
const head = () => within(screen.getByRole('region', { name: 'Chat with veikko' }));
const row = () =>
  within(screen.getByRole('region', { name: 'Conversations' })).getByRole('button', { name: /veikko/ });

describe('who is writing', () => {
  it('is said below the head, to screen readers too, and in the list in the place of the last message', async () => {
    const { store } = await openVeikko(message(veikko.id, 'Hello'));
    const status = head().getByRole('status');
    expect(status).toBeEmptyDOMElement();
    expect(row()).toHaveTextContent('Hello');
    act(() => store.set(typingAtom, { [veikko.id]: [writer(veikko.id)] }));
    await waitFor(() => expect(status).toHaveTextContent('veikko is writing…'));
    expect(row()).toHaveTextContent('veikko is writing…');
    expect(row()).not.toHaveTextContent('Hello');
    act(() => store.set(typingAtom, {}));
    expect(status).toBeEmptyDOMElement();
    expect(row()).toHaveTextContent('Hello');
  });

  it.each([
    ['en', ['veikko is writing…', 'veikko and kaisa are writing…', 'Several people are writing…']],
    ['fi', ['veikko kirjoittaa…', 'veikko ja kaisa kirjoittavat…', 'Useat kirjoittavat…']],
  ] as const)('is said by name of one and two people, in %s', async (locale, sentences) => {
    const { store } = await openVeikko(message(veikko.id, 'Hello'));
    await activateLocale(locale);
    try {
      act(() => store.set(contactsAtom, loaded(veikko, kaisa)));
      const people = [veikko.id, kaisa.id, 'somebody'];
      for (const [at, sentence] of sentences.entries()) {
        act(() => store.set(typingAtom, { [veikko.id]: people.slice(0, at + 1).map(writer) }));
        expect(
          (await screen.findAllByText((_, one) => one?.textContent === sentence)).length,
        ).toBeGreaterThan(0);
      }
    } finally {
      await activateLocale('en');
    }
  });

  it('is told of the form as it changes, and as it is emptied', async () => {
    const { actions, user } = await openVeikko();
    const input = screen.getByRole('textbox', { name: /veikko/ });
    await user.type(input, 'a');
    expect(actions.tellTyping).toHaveBeenLastCalledWith(veikko.id, true);
    await user.clear(input);
    expect(actions.tellTyping).toHaveBeenLastCalledWith(veikko.id, false);
  });
});
