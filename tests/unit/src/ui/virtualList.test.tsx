import { act, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createRef } from 'react';
import { describe, expect, it } from 'vitest';
import { VirtualList, type VirtualListHandle } from '#src/ui/VirtualList.tsx';
import { rowHeight, viewHeight } from '../support/layout.ts';

const people = Array.from({ length: 5000 }, (_, index) => `person ${index}`);
const itself = (name: string) => name;

function showList(names: readonly string[] = people, current: string | null = null) {
  const handle = createRef<VirtualListHandle>();
  const list = (shown: readonly string[]) => (
    <VirtualList
      ref={handle}
      label="People"
      items={shown}
      keyOf={itself}
      estimatedHeight={rowHeight}
      current={current}
    >
      {(name, { tabIndex }) => (
        <button type="button" tabIndex={tabIndex}>
          {name}
        </button>
      )}
    </VirtualList>
  );
  const { rerender } = render(list(names));
  return { handle, user: userEvent.setup(), show: (shown: readonly string[]) => rerender(list(shown)) };
}

const rows = () => within(screen.getByRole('list', { name: 'People' })).getAllByRole('listitem');
const row = (name: string) => screen.getByRole('button', { name });

describe('a list of 5,000 rows', () => {
  it('draws few more rows than those in sight, and says how many there are', () => {
    showList();
    expect(rows()).toHaveLength(Math.ceil(viewHeight / rowHeight) + 8);
    expect(rows()[2]).toHaveAttribute('aria-posinset', '3');
    expect(rows()[2]).toHaveAttribute('aria-setsize', '5000');
  });

  it('draws the rows that are scrolled to', () => {
    showList();
    act(() => document.documentElement.scrollTo({ top: 2500 * rowHeight }));
    expect(row('person 2500')).toBeVisible();
    expect(rows().length).toBeLessThan(40);
  });

  it('is one tab stop, from which the arrow keys lead on', async () => {
    const { user } = showList();
    await user.tab();
    expect(row('person 0')).toHaveFocus();
    await user.keyboard('{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(row('person 1')).toHaveFocus();
    await user.tab();
    expect(document.body).toHaveFocus();
    await user.tab();
    expect(row('person 1')).toHaveFocus();
  });

  it('leads to its ends and by pages', async () => {
    const { user } = showList();
    await user.tab();
    await user.keyboard('{End}');
    expect(row('person 4999')).toHaveFocus();
    await user.keyboard('{ArrowDown}');
    expect(row('person 4999')).toHaveFocus();
    await user.keyboard('{Home}{PageDown}');
    const reached = Number(document.activeElement?.textContent?.replace('person ', ''));
    expect(reached).toBeGreaterThan(8);
    expect(reached).toBeLessThanOrEqual(viewHeight / rowHeight);
    await user.keyboard('{PageUp}');
    expect(row('person 0')).toHaveFocus();
  });

  it('begins at the current row', async () => {
    const { user } = showList(people, 'person 7');
    await user.tab();
    expect(row('person 7')).toHaveFocus();
  });

  it('keeps the focused row however far it is scrolled', async () => {
    const { user } = showList();
    await user.tab();
    act(() => document.documentElement.scrollTo({ top: 4000 * rowHeight }));
    expect(row('person 0')).toHaveFocus();
  });

  it('brings a row into sight and focuses it when asked', () => {
    const { handle } = showList();
    act(() => handle.current?.focus('person 3000'));
    expect(row('person 3000')).toHaveFocus();
    act(() => handle.current?.focus('nobody'));
    expect(row('person 3000')).toHaveFocus();
  });

  it('ignores keys that are pressed with a modifier', async () => {
    const { user } = showList();
    await user.tab();
    await user.keyboard('{Control>}{ArrowDown}{/Control}{Alt>}{End}{/Alt}');
    expect(row('person 0')).toHaveFocus();
    expect(fireEvent.keyDown(row('person 0'), { key: 'x' })).toBe(true);
  });

  it('follows its items', async () => {
    const { show, user } = showList();
    await user.tab();
    await user.keyboard('{End}');
    show(['one', 'two']);
    expect(rows().map(({ textContent }) => textContent)).toEqual(['one', 'two']);
    expect(row('one')).toHaveAttribute('tabindex', '0');
    show([]);
    expect(screen.queryByRole('listitem')).toBeNull();
  });
});
