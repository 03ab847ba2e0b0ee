import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useRef, useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Composer } from '#src/features/conversation/Composer.tsx';
import type { EmojiCategory } from '#src/features/emoji/data.ts';
import { loadEmojis } from '#src/features/emoji/emojis.ts';
import { type EmojiMemory, EmojiMemoryContext } from '#src/features/emoji/memory.ts';

vi.mock('#src/features/emoji/emojis.ts', { spy: true });

const remember = vi.fn<EmojiMemory['remember']>();
const chooseTone = vi.fn<EmojiMemory['chooseTone']>();

interface Options {
  draft?: string;
  memory?: Partial<EmojiMemory>;
  categories?: readonly EmojiCategory[];
}

function Writing({ draft: first = '', memory, categories }: Options) {
  const [draft, setDraft] = useState(first);
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <EmojiMemoryContext value={{ recent: [], tone: 0, remember, chooseTone, ...memory }}>
      <Composer
        name="veikko"
        draft={draft}
        onDraftChange={setDraft}
        onSend={() => undefined}
        input={field}
        context={null}
        ownId="aino-id"
        nameOf={() => 'veikko'}
        onCancel={() => undefined}
        onEditLast={() => undefined}
        focusRequest={0}
        {...(categories && { emojiCategories: categories })}
      />
    </EmojiMemoryContext>
  );
}

const input = () => screen.getByPlaceholderText<HTMLTextAreaElement>('Type a message...');
const dialog = () => screen.getByRole('dialog', { name: 'Choose an emoji' });
const search = () => within(dialog()).getByRole('searchbox');
const shown = () => within(dialog()).getAllByRole('gridcell');
const category = (name: string) => within(dialog()).getByRole('button', { name });

function write(options: Options = {}) {
  render(<Writing {...options} />);
  return userEvent.setup();
}

async function open(options: Options = {}) {
  const user = write(options);
  await user.click(screen.getByRole('button', { name: 'Emoji' }));
  await waitFor(() => expect(shown()).not.toHaveLength(0));
  return user;
}

beforeEach(() => vi.clearAllMocks());

describe('the emoji picker', () => {
  it('says when the emojis could not be loaded, and tries again', async () => {
    vi.mocked(loadEmojis).mockRejectedValue(new Error('offline'));
    const user = write();
    await user.click(screen.getByRole('button', { name: 'Emoji' }));
    expect(await screen.findByText('The emojis could not be loaded.')).toBeVisible();
    vi.mocked(loadEmojis).mockReset();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(shown()).toHaveLength(20));
  });

  it('offers nine categories, and 20 common emojis before anybody has searched', async () => {
    await open();
    const group = within(dialog()).getByRole('group', { name: 'Categories' });
    expect(
      within(group)
        .getAllByRole('button')
        .map((button) => button.getAttribute('aria-label')),
    ).toEqual(['All', 'Smileys', 'People', 'Animals', 'Food', 'Activities', 'Travel', 'Symbols', 'Objects']);
    expect(category('All')).toHaveAttribute('aria-pressed', 'true');
    expect(shown()).toHaveLength(20);
  });

  it('shows a category', async () => {
    const user = await open();
    await user.click(category('Animals'));
    expect(screen.getByRole('gridcell', { name: 'penguin' })).toBeVisible();
    expect(screen.queryByRole('gridcell', { name: 'strawberry' })).toBeNull();
  });

  it('finds by name in any case, and says how many matches there are', async () => {
    const user = await open();
    await user.type(search(), 'PeNGuin');
    expect(shown().map((cell) => cell.textContent)).toEqual(['🐧']);
    expect(screen.getByText('1 emoji')).toBeInTheDocument();
    await user.type(search(), 'qq');
    expect(screen.getByText('No emojis found')).toBeVisible();
  });

  it('leads from a category without a match to all of them', async () => {
    const user = await open();
    await user.click(category('Food'));
    await user.type(search(), 'penguin');
    expect(screen.getByText('No emojis found')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Search all categories' }));
    expect(shown().map((cell) => cell.textContent)).toEqual(['🐧']);
  });

  it('shows only the categories that a chat allows', async () => {
    await open({ categories: ['all', 'smileys', 'people', 'symbols'] });
    const group = within(dialog()).getByRole('group', { name: 'Categories' });
    expect(within(group).getAllByRole('button')).toHaveLength(4);
    expect(shown()).toHaveLength(20);
  });
});

describe('picking an emoji', () => {
  it('inserts the emoji at the cursor, closes, and leaves the cursor behind it', async () => {
    const user = write({ draft: 'Hyvää päivää' });
    await user.click(input());
    input().setSelectionRange(5, 5);
    await user.keyboard('{Control>}e{/Control}');
    await user.click(await screen.findByRole('gridcell', { name: 'fire' }));
    expect(input()).toHaveValue('Hyvää🔥 päivää');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() => expect(input()).toHaveFocus());
    expect([input().selectionStart, input().selectionEnd]).toEqual([7, 7]);
    expect(remember).toHaveBeenCalledExactlyOnceWith('🔥');
  });

  it('replaces what was selected', async () => {
    const user = write({ draft: 'Hyvää päivää' });
    await user.click(input());
    input().setSelectionRange(6, 12);
    await user.keyboard('{Control>}e{/Control}');
    await user.click(await screen.findByRole('gridcell', { name: 'fire' }));
    expect(input()).toHaveValue('Hyvää 🔥');
  });

  it('appends to a draft in which the cursor has not been', async () => {
    const user = await open({ draft: 'Hei' });
    await user.click(screen.getByRole('gridcell', { name: 'fire' }));
    expect(input()).toHaveValue('Hei🔥');
  });

  it('takes the first match with Enter', async () => {
    const user = await open();
    await user.type(search(), 'penguin{Enter}');
    expect(input()).toHaveValue('🐧');
  });
});

describe('the keyboard in the emoji picker', () => {
  it('opens and closes the picker with Control and E, and closes it with Escape, back to the input', async () => {
    const user = write();
    await user.click(input());
    await user.keyboard('{Control>}e{/Control}');
    await waitFor(() => expect(search()).toHaveFocus());
    await user.keyboard('{Control>}e{/Control}');
    await waitFor(() => expect(input()).toHaveFocus());
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await user.keyboard('{Control>}e{/Control}');
    await waitFor(() => expect(search()).toHaveFocus());
    await user.keyboard('{Escape}');
    await waitFor(() => expect(input()).toHaveFocus());
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('leaves Control and E alone behind a dialog', async () => {
    const user = write();
    input().closest('form')!.setAttribute('inert', '');
    await user.keyboard('{Control>}e{/Control}');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('goes from the search into the grid, through it, and back', async () => {
    const user = await open();
    await user.click(search());
    await user.keyboard('{ArrowDown}');
    expect(shown()[0]).toHaveFocus();
    await user.keyboard('{ArrowRight}{ArrowDown}');
    expect(shown()[9]).toHaveFocus();
    expect(shown().filter((cell) => cell.tabIndex === 0)).toEqual([shown()[9]]);
    await user.keyboard('{Home}{ArrowUp}{ArrowUp}');
    expect(search()).toHaveFocus();
    await user.keyboard('{ArrowDown}{Enter}');
    expect(input()).toHaveValue('😂');
  });
});

describe('the memory of the picker', () => {
  it('shows recent emojis above the common ones, without characters that are no emojis', async () => {
    await open({ memory: { recent: ['🐧', 'not an emoji', '👍🏿'] } });
    const recent = screen.getByRole('rowgroup', { name: 'Recently used' });
    expect(
      within(recent)
        .getAllByRole('gridcell')
        .map((cell) => cell.textContent),
    ).toEqual(['🐧', '👍🏿']);
    expect(within(screen.getByRole('rowgroup', { name: 'Common' })).getAllByRole('gridcell')).toHaveLength(
      20,
    );
  });

  it('shows hands and people in the chosen tone, and takes another', async () => {
    const user = await open({ memory: { tone: 5 } });
    expect(screen.getByRole('gridcell', { name: 'thumbs up' })).toHaveTextContent('👍🏿');
    expect(screen.getByRole('button', { name: 'Dark skin tone' })).toHaveAttribute('aria-pressed', 'true');
    await user.click(screen.getByRole('button', { name: 'Light skin tone' }));
    expect(chooseTone).toHaveBeenCalledExactlyOnceWith(1);
  });
});
