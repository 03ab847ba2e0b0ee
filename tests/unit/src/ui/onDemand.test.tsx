import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { ConfirmDialog } from '#src/ui/ConfirmDialog.tsx';
import { Menu } from '#src/ui/Menu.tsx';
import { Popover } from '#src/ui/Popover.tsx';

describe('a menu whose code loads on demand', () => {
  async function openMenu(open: (user: ReturnType<typeof userEvent.setup>) => Promise<void>) {
    const onSelect = vi.fn<() => void>();
    render(<Menu label="More" icon="…" entries={[{ label: 'Remove', icon: '', onSelect }]} />);
    const user = userEvent.setup();
    await open(user);
    await screen.findByRole('menuitem', { name: 'Remove' });
    return { onSelect, user };
  }
  const trigger = () => screen.getByRole('button', { name: 'More' });

  it('opens by one click, and its entries act', async () => {
    const { onSelect, user } = await openMenu((user) => user.click(trigger()));
    await user.click(screen.getByRole('menuitem', { name: 'Remove' }));
    expect(onSelect).toHaveBeenCalledOnce();
  });

  it.each(['{Enter}', ' ', '{ArrowDown}'])('opens by the key %s, and gives the focus back', async (key) => {
    const { user } = await openMenu(async (user) => {
      await user.tab();
      await user.keyboard(key);
    });
    await waitFor(() =>
      expect(screen.getByRole('menu')).toContainElement(document.activeElement as HTMLElement),
    );
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('menu')).toBeNull());
    expect(trigger()).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(await screen.findByRole('menuitem', { name: 'Remove' })).toBeVisible();
  });
});

describe('a panel whose code loads on demand', () => {
  function Panel() {
    const [open, setOpen] = useState(false);
    return (
      <Popover label="Bell" icon="!" title="News" open={open} onOpenChange={setOpen}>
        <a href="#x">First</a>
      </Popover>
    );
  }

  it('opens by one click, takes the focus and gives it back', async () => {
    render(<Panel />);
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Bell' }));
    const panel = await screen.findByRole('dialog', { name: 'News' });
    await waitFor(() => expect(panel).toContainElement(document.activeElement as HTMLElement));
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(screen.getByRole('button', { name: 'Bell' })).toHaveFocus();
  });
});

describe('a confirmation whose code loads on demand', () => {
  function Question() {
    const [open, setOpen] = useState(false);
    return (
      <>
        <button type="button" onClick={() => setOpen(true)}>
          Erase
        </button>
        <ConfirmDialog
          open={open}
          onOpenChange={setOpen}
          title="Erase?"
          confirmLabel="Yes"
          onConfirm={() => undefined}
        >
          <p>All of it.</p>
        </ConfirmDialog>
      </>
    );
  }

  it('moves the focus to Cancel, and returns it', async () => {
    render(<Question />);
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Erase' }));
    await screen.findByRole('alertdialog', { name: 'Erase?' });
    await waitFor(() => expect(screen.getByRole('button', { name: 'Cancel' })).toHaveFocus());
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(screen.getByRole('button', { name: 'Erase' })).toHaveFocus();
  });
});
