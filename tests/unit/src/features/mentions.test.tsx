import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { MessageView } from '#src/store/chats.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { aino, kaisa, message, veikko } from '../support/app.tsx';
import { openGroup } from '../support/groupsTab.tsx';

const link = (userId: string, name = 'somebody') => `[@${name}](sinetti:user/${userId})`;
const saying = (text: string, senderId = kaisa.id): MessageView =>
  message(senderId, { kind: 'text', text, isMarkdown: true });
const shown = () => within(screen.getByRole('region', { name: 'Messages in Sailing' }));
const list = () => within(screen.getByRole('listbox', { name: 'People to mention' }));

async function writing(text: string) {
  const world = await openGroup();
  const input = screen.getByRole('textbox', { name: 'Message to Sailing' });
  await world.user.type(input, text);
  return { ...world, input };
}

describe('a mention that is written', () => {
  it('is chosen by keys from the people in the group, and sent by their id', async () => {
    const { actions, user, input } = await writing('Hi @');
    const options = list().getAllByRole('option');
    expect(options.map(({ textContent }) => textContent?.replace(/^K|^V/, ''))).toEqual(['kaisa', 'veikko']);
    expect(input).toHaveAttribute('aria-activedescendant', options[0]?.id);
    expect(screen.getByText('2 people. Choose by the arrow keys and Enter.')).toBeInTheDocument();
    await user.keyboard('{ArrowDown}');
    expect(list().getByRole('option', { selected: true })).toHaveTextContent('veikko');
    await user.keyboard('{Enter}');
    expect(input).toHaveValue('Hi @veikko ');
    expect(input).toHaveFocus();
    expect(screen.queryByRole('listbox')).toBeNull();
    await user.keyboard('come{Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(
      'group-group-1',
      `Hi ${link(veikko.id, 'veikko')} come`,
    );
  });

  it('is found by its beginning, and taken by a click', async () => {
    const { user, input } = await writing('@VE');
    await user.click(list().getByRole('option'));
    expect(input).toHaveValue('@veikko ');
    expect(input).toHaveFocus();
  });

  it('is not offered after Escape, in an address, or for nobody', async () => {
    const { actions, user, input } = await writing('@k{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    await user.type(input, '{Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith('group-group-1', '@k');
    await user.type(input, 'me@k');
    expect(screen.queryByRole('listbox')).toBeNull();
    await user.type(input, ' @nobody{Enter}');
    expect(actions.sendMessage).toHaveBeenLastCalledWith('group-group-1', 'me@k @nobody');
  });

  it('is meant without the list too, and only by a whole name', async () => {
    const { actions } = await writing('@kaisa, @kaisas, a@kaisa (@veikko)!{Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(
      'group-group-1',
      `${link(kaisa.id, 'kaisa')}, @kaisas, a@kaisa (${link(veikko.id, 'veikko')})!`,
    );
  });

  it('is a name again in the form of an edit', async () => {
    const { user } = await openGroup({}, [saying(`Ask ${link(veikko.id, 'old')}`, aino.id)]);
    const input = screen.getByRole('textbox', { name: 'Message to Sailing' });
    await user.click(input);
    await user.keyboard('{ArrowUp}');
    expect(input).toHaveValue('Ask @veikko');
  });
});

describe('a mention that is read', () => {
  it("has the person's present name, whatever the message calls them, and marks one's own", async () => {
    const { store } = await openGroup({}, [saying(`${link(veikko.id, 'aino')} and ${link(aino.id, 'x')}!`)]);
    const other = await shown().findByText('@veikko');
    expect(other).toHaveClass('mention');
    expect(other).not.toHaveClass('ownMention');
    expect(shown().getByText('@aino')).toHaveClass('ownMention');
    act(() => store.set(memberNamesAtom, new Map([[veikko.id, 'veikko the second']])));
    await waitFor(() => expect(other.textContent).not.toBe('@aino'));
  });

  it('is but text for somebody who is not in the group', async () => {
    await openGroup({}, [saying(`${link('stranger-id', 'kaisa')} hello`)]);
    expect(await shown().findByText(/^@Unknown/)).not.toHaveClass('mention');
    expect(shown().queryByText('@kaisa')).toBeNull();
  });
});
