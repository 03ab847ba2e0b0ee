import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import { activeGroupAtom } from '#src/store/chats.ts';
import { groupProgressAtom, groupsAtom } from '#src/store/groups.ts';
import { chat, createWorld, failed, loaded } from '../support/app.tsx';
import { byKaisa, group } from '../support/groups.ts';
import { showGroups, Tab } from '../support/groupsTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

beforeEach(() => {
  setWindowWidth(1440);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the list of groups', () => {
  it('shows each group’s first letter, and the creator’s tag or the member count', () => {
    showGroups(
      [
        group(),
        group({ id: 'g2', name: 'Kirjapiiri', ...byKaisa }),
        group({ id: 'g3', name: 'Just me', ...byKaisa, memberCount: 1 }),
      ],
      { 'group-g2': chat([], { unread: 3 }) },
    );
    const rows = within(screen.getByRole('region', { name: 'Groups' })).getAllByRole('button', {
      name: /Sailing|Kirjapiiri|Just me/,
    });
    expect(rows.map((row) => row.textContent)).toEqual([
      'SSailingCreator',
      'KKirjapiiri3 members3 unread',
      'JJust me1 member',
    ]);
  });

  it('says that groups load, that there are none, or that they could not be loaded', () => {
    const { store } = createWorldWithTab();
    expect(screen.getByText('Loading groups...')).toBeVisible();
    act(() => store.set(groupsAtom, failed('Failed to load groups')));
    expect(screen.getByRole('alert')).toHaveTextContent('Failed to load groups');
    act(() => store.set(groupsAtom, loaded()));
    expect(screen.getByText('No groups yet')).toBeVisible();
    expect(screen.queryByText('Loading groups...')).toBeNull();
  });

  it('does not call the list empty when it could not be loaded, and offers another try', async () => {
    const { actions, store, user } = createWorldWithTab();
    expect(screen.queryByRole('button', { name: 'Create Your First Group' })).toBeNull();
    act(() => store.set(groupsAtom, failed('Failed to load groups')));
    expect(screen.queryByText('No groups yet')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Create Your First Group' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(actions.retryLists).toHaveBeenCalledOnce();
    act(() => store.set(groupsAtom, failed('Failed to load groups', group())));
    expect(screen.getByRole('button', { name: /Sailing/ })).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.getByText('This list may be out of date.')).toBeVisible();
  });

  it('has words for a name that is not known yet, or that shows nothing', () => {
    showGroups([group({ name: null }), group({ id: 'g2', name: '\u202E\u200B' })]);
    expect(screen.getAllByText('Unnamed group')).toHaveLength(2);
  });

  it('says that a group has ended when the server no longer has it', () => {
    showGroups([group({ ended: true })]);
    expect(screen.getByRole('button', { name: /Sailing/ })).toHaveTextContent('SSailingEnded');
  });

  it('says that one has left a group when that was in another browser', () => {
    showGroups([group({ ended: true, left: true })]);
    expect(screen.getByRole('button', { name: /Sailing/ })).toHaveTextContent('SSailingYou left');
  });

  it('draws only what is in sight of 5,000 groups, and leads by keys to all of them', async () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      group({ id: `g${index}`, name: `Group ${index}` }),
    );
    const { user } = showGroups(many);
    const rows = () => within(screen.getByRole('region', { name: 'Groups' })).getAllByRole('listitem');
    expect(rows().length).toBeLessThan(100);
    expect(rows()[0]).toHaveAttribute('aria-setsize', '5000');
    await user.click(screen.getByText('Group 0'));
    await user.keyboard('{End}');
    expect(await screen.findByRole('button', { name: /Group 4999/ })).toHaveFocus();
  });

  it('leads back to the row of a group that was closed', async () => {
    const { user } = showGroups([group(), group({ id: 'g2', name: 'Kirjapiiri' })]);
    await user.click(screen.getByRole('button', { name: /Kirjapiiri/ }));
    await user.click(screen.getByRole('button', { name: 'Back to groups' }));
    expect(screen.getByRole('button', { name: /Kirjapiiri/ })).toHaveFocus();
  });

  it.each([
    ['turns what stands beside it', 'Sai\u202Egnil', 'Saignil'],
    ['hides marks in it', 'S\u200Bai\u2066l\uFEFFing', 'Sailing'],
    ['is a book without a space', 'x'.repeat(65_536), 'x'.repeat(65_536)],
  ])('stays in its row when a name %s', async (_how, name, shown) => {
    const { user } = showGroups([group({ name })], { 'group-group-1': chat([]) });
    expect(screen.getByText(shown)).toBeVisible();
    await user.click(screen.getByRole('button', { name: /Creator$/ }));
    const [inList, inHeader] = screen.getAllByText(shown);
    expect([inList?.tagName, inHeader?.tagName]).toEqual(['BDI', 'BDI']);
  });

  it('shows markup in a name as text', () => {
    showGroups([group({ name: '<img src=x onerror=alert(1)>' })]);
    expect(screen.getByText('<img src=x onerror=alert(1)>')).toBeVisible();
    expect(document.querySelector('img')).toBeNull();
  });
});

function createWorldWithTab() {
  const world = createWorld();
  return { ...world, user: world.show(<Tab />) };
}

describe('creating a group', () => {
  async function openForm() {
    const world = showGroups();
    await world.user.click(screen.getByRole('button', { name: 'New Group' }));
    return { ...world, name: screen.getByRole('textbox', { name: 'Group name' }) };
  }

  it('is offered in the empty tab, and by a toggle', async () => {
    const { user } = showGroups();
    expect(screen.getByText('Welcome to Group Chat')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Create Your First Group' }));
    expect(screen.getByRole('textbox', { name: 'Group name' })).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'New Group' }));
    expect(screen.queryByRole('textbox', { name: 'Group name' })).toBeNull();
  });

  it('takes the trimmed name, opens the group and says so', async () => {
    const { actions, store, user, name, toasts } = await openForm();
    actions.createGroup.mockImplementation(async (created) => {
      store.set(groupsAtom, loaded(group({ name: created })));
      return 'group-1';
    });
    await user.type(name, '  Sailing {Enter}');
    expect(actions.createGroup).toHaveBeenCalledExactlyOnceWith('Sailing');
    expect(await screen.findByRole('heading', { name: 'Sailing' })).toBeVisible();
    expect(toasts()).toEqual(['success: Group "Sailing" created successfully!']);
    expect(store.get(activeGroupAtom)).toBe('group-1');
    expect(screen.queryByRole('textbox', { name: 'Group name' })).toBeNull();
  });

  it('refuses a blank or too long name', async () => {
    const { actions, user, name } = await openForm();
    expect(screen.getByRole('button', { name: 'Create Group' })).toBeDisabled();
    await user.type(name, '   {Enter}');
    expect(screen.getByText('Group name is required')).toBeVisible();
    expect(name).toBeInvalid();
    await user.clear(name);
    await user.paste('⛵'.repeat(101));
    expect(screen.queryByText('Group name is required')).toBeNull();
    await user.keyboard('{Enter}');
    expect(screen.getByText('A group name has at most 100 characters')).toBeVisible();
    expect(actions.createGroup).not.toHaveBeenCalled();
    await user.type(name, '{Backspace}{Enter}');
    expect(actions.createGroup).toHaveBeenCalledExactlyOnceWith('⛵'.repeat(100));
  });

  it('shows its progress, and takes no second submission', async () => {
    const { actions, store, user, name } = await openForm();
    actions.createGroup.mockReturnValue(new Promise(() => {}));
    await user.type(name, 'Sailing{Enter}');
    const button = screen.getByRole('button', { name: 'Creating group...' });
    expect(button).toBeDisabled();
    act(() => store.set(groupProgressAtom, { step: 'gathering-keys', done: 0, total: 1 }));
    expect(screen.getByText('Gathering keys…')).toBeVisible();
    act(() => store.set(groupProgressAtom, { step: 'sealing' }));
    expect(screen.getByText('Sealing the group for each device…')).toBeVisible();
    await user.click(button);
    expect(actions.createGroup).toHaveBeenCalledOnce();
  });

  it.each([
    [new Error('boom'), 'error: Failed to create group. Please try again.'],
    [new AppError('network', 'Network error.'), 'error: Network error.'],
  ])('says when it fails, and keeps what was typed: %s', async (error, toast) => {
    const { actions, user, name, toasts } = await openForm();
    actions.createGroup.mockRejectedValue(error);
    await user.type(name, 'Sailing{Enter}');
    await waitFor(() => expect(toasts()).toEqual([toast]));
    expect(screen.getByRole('textbox', { name: 'Group name' })).toHaveValue('Sailing');
  });
});
