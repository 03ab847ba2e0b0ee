import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { DashboardPage } from '#src/pages/dashboard/DashboardPage.tsx';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { shortcutsHelpOpenAtom } from '#src/store/shortcutsHelp.ts';
import { createWorld, kaisa, loaded, veikko, withOpening } from '../support/app.tsx';
import { group } from '../support/groups.ts';
import { setWindowWidth } from '../support/windowWidth.ts';

/** Aino's dashboard with two contacts, Kaisa before Veikko, and two groups. */
async function openDashboard(width = 1440) {
  setWindowWidth(width);
  const world = createWorld();
  const { store } = world;
  withOpening(world);
  store.set(contactsAtom, loaded(kaisa, veikko));
  store.set(groupsAtom, loaded(group({ id: 'g1', name: 'Sailing' }), group({ id: 'g2', name: 'Sauna' })));
  const user = world.show(<DashboardPage />, '/dashboard');
  await screen.findByRole('tab', { name: /Messages/ });
  return { ...world, user };
}

const tab = (name: string) => screen.getByRole('tab', { name: new RegExp(`^${name}`) });
const input = (name: string) => screen.findByRole('textbox', { name: `Message to ${name}` });

describe('the keyboard on the dashboard', () => {
  it('leads to each tab, and announces the keys to assistive technology', async () => {
    const { user } = await openDashboard();
    const names = ['Messages', 'Groups', 'Contacts', 'Profile'];
    for (const [index, name] of names.entries()) {
      await user.keyboard(`{Alt>}[Digit${index + 1}]{/Alt}`);
      await waitFor(() => expect(tab(name)).toHaveAttribute('aria-selected', 'true'));
      expect(tab(name)).toHaveFocus();
      expect(tab(name)).toHaveAttribute('aria-keyshortcuts', `Alt+${index + 1}`);
    }
  });

  it('leads to the next chat and the previous one, also from the message being written', async () => {
    const { user } = await openDashboard();
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    await waitFor(async () => expect(await input('kaisa')).toHaveFocus());
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    await waitFor(async () => expect(await input('veikko')).toHaveFocus());
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    expect(await input('veikko')).toHaveFocus();
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    await waitFor(async () => expect(await input('kaisa')).toHaveFocus());
  });

  it('leads to the next group in the Groups tab', async () => {
    const { user } = await openDashboard();
    await user.keyboard('{Alt>}[Digit2]{/Alt}');
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    expect(await input('Sauna')).toBeVisible();
  });

  it('leads to the search in contacts from anywhere, and there again', async () => {
    const { user } = await openDashboard();
    await user.keyboard('{Alt>}[Digit4]{/Alt}{Control>}k{/Control}');
    const search = await screen.findByRole('searchbox');
    await waitFor(() => expect(search).toHaveFocus());
    await user.keyboard('kai{Alt>}{ArrowDown}{/Alt}');
    expect(search).toHaveValue('kai');
    act(() => tab('Messages').focus());
    await user.keyboard('{Control>}k{/Control}');
    await waitFor(() => expect(search).toHaveFocus());
  });

  it('shows all keys on a question mark, unless it is typed into an input', async () => {
    const { user, store } = await openDashboard();
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    const written = await input('kaisa');
    await waitFor(() => expect(written).toHaveFocus());
    await user.keyboard('?');
    expect(written).toHaveValue('?');
    expect(store.get(shortcutsHelpOpenAtom)).toBe(false);
    act(() => tab('Messages').focus());
    await user.keyboard('?');
    const help = await screen.findByRole('dialog', { name: 'Keyboard shortcuts' });
    expect(within(help).getByText('Search in contacts')).toBeVisible();
    await user.keyboard('{Alt>}[Digit4]{/Alt}');
    expect(store.get(shortcutsHelpOpenAtom)).toBe(true);
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(tab('Messages')).toHaveAttribute('aria-selected', 'true');
  });
});
