import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { MessageContent } from '#src/store/chats.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { aino, message, veikko } from '../support/app.tsx';
import { openVeikko, shownMessages } from '../support/messagesTab.tsx';

const markdown = (text: string): MessageContent => ({ kind: 'text', text, isMarkdown: true });
const formatted = (text: string) => ({ ...message(veikko.id, ''), content: markdown(text) });

describe('a formatted message', () => {
  it('is shown as it is meant, and in one line without its marks', async () => {
    const text = '**Sauna** at `seven`:\n\n- towels\n- ~~beer~~ [water](https://water.example/)';
    await openVeikko(formatted(text));
    const chat = shownMessages();
    expect(await chat.findByText('Sauna')).toHaveProperty('localName', 'strong');
    expect(chat.getByText('seven')).toHaveProperty('localName', 'code');
    expect(chat.getAllByRole('listitem').filter((item) => item.closest('ul') !== null)).toHaveLength(2);
    expect(chat.getByText('beer')).toHaveProperty('localName', 'del');
    const link = chat.getByRole('link', { name: 'water' });
    expect(link).toHaveAttribute('href', 'https://water.example/');
    expect(link).toHaveAttribute('rel', 'noopener noreferrer nofollow');
    expect(chat.getByText('(goes to water.example)')).toBeVisible();
    expect(within(screen.getByRole('button', { name: /^veikko/ })).getByText(/^Sauna/)).toHaveTextContent(
      'Sauna at seven: towels beer water',
    );
  });

  it('holds no element that its author has written', async () => {
    await openVeikko(formatted('**a** <img src=x onerror=alert(1)> <b>b</b> [c](javascript:alert(1))'));
    const chat = shownMessages();
    expect((await chat.findByText('a')).closest('p')).toHaveTextContent(
      'a <img src=x onerror=alert(1)> <b>b</b> [c](javascript:alert(1))',
    );
    expect(chat.queryByRole('img')).toBeNull();
    expect(chat.queryByRole('link')).toBeNull();
  });

  it('stands as it was written where it is too deep, and where it is plain text', async () => {
    await openVeikko(formatted('>'.repeat(1000)), message(aino.id, '**not meant**'));
    expect(shownMessages().getByText('>'.repeat(1000))).toBeVisible();
    expect(shownMessages().getByText('**not meant**')).toBeVisible();
  });

  it('is folded with its format', async () => {
    const { user } = await openVeikko(formatted(`**begin** ${'word '.repeat(600)} **end**`));
    const chat = shownMessages();
    expect(await chat.findByText('begin')).toHaveProperty('localName', 'strong');
    expect(chat.queryByText('end')).toBeNull();
    await user.click(chat.getByRole('button', { name: 'Show more' }));
    expect(chat.getByText('end')).toHaveProperty('localName', 'strong');
  });
});

describe('keys of the composer', () => {
  it('set marks around what is selected, and take them away', async () => {
    const { store, user, input } = await openVeikko();
    await user.type(input, 'so warm');
    const field = input as HTMLTextAreaElement;
    field.setSelectionRange(3, 7);
    await user.keyboard('{Control>}b{/Control}');
    expect(input).toHaveValue('so **warm**');
    expect(store.get(draftsAtom)[veikko.id]).toBe('so **warm**');
    await user.keyboard('{Control>}i{/Control}');
    expect(input).toHaveValue('so **_warm_**');
    await user.keyboard('{Control>}i{/Control}{Control>}b{/Control}');
    expect(input).toHaveValue('so warm');
    expect(field.value.slice(field.selectionStart, field.selectionEnd)).toBe('warm');
    await user.keyboard('{Control>}{Shift>}X{/Shift}{/Control}');
    expect(input).toHaveValue('so ~~warm~~');
  });

  it('write into an empty place what comes between marks', async () => {
    const { actions, user, input } = await openVeikko();
    await user.click(input);
    await user.keyboard('{Control>}b{/Control}hot{Enter}');
    expect(actions.sendMessage).toHaveBeenCalledExactlyOnceWith(veikko.id, '**hot**');
  });
});
