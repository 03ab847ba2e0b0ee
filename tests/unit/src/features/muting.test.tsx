import { act, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { chatsAtom, groupKeyOf, unreadTotalAtom } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom, groupUnreadTotalAtom } from '#src/store/groups.ts';
import { forGood, mutesAtom } from '#src/store/mutes.ts';
import { chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { group } from '../support/groups.ts';
import { showGroups } from '../support/groupsTab.tsx';
import { openVeikko } from '../support/messagesTab.tsx';
import { setWindowWidth } from '../support/windowWidth.ts';

const key = groupKeyOf('g1');
const later = { until: forGood, mentions: true };

beforeEach(() => setWindowWidth(1440));

describe('muting a chat', () => {
  it('is chosen by its bell, for an hour, and said by bell and list', async () => {
    const { actions, store, user } = await openVeikko(message(veikko.id, 'Hello'));
    const row = () =>
      within(screen.getByRole('region', { name: 'Conversations' })).getByRole('button', { name: /veikko/ });
    await user.click(await screen.findByRole('button', { name: 'Mute' }));
    const dialog = await screen.findByRole('dialog', { name: 'Mute' });
    expect(within(dialog).getByRole('button', { name: 'Not muted' })).toHaveAttribute('aria-pressed', 'true');
    expect(within(dialog).queryByRole('button', { name: 'Mentions only' })).toBeNull();
    await user.click(within(dialog).getByRole('button', { name: 'For 1 hour' }));
    const before = Date.now();
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    const [to, mute] = actions.muteConversation.mock.calls[0] ?? [];
    expect([to, mute?.mentions]).toEqual([veikko.id, true]);
    expect((mute?.until ?? 0) - before).toBeGreaterThanOrEqual(60 * 60_000);
    // The page is hidden until the dialog is gone.
    await screen.findByRole('region', { name: 'Conversations' });
    expect(row()).not.toHaveAccessibleName(/Muted/);
    act(() => store.set(mutesAtom, { [veikko.id]: later }));
    expect(screen.getByRole('button', { name: 'Muted' })).toBeVisible();
    expect(row()).toHaveAccessibleName(/Muted/);
    act(() => store.set(mutesAtom, { [veikko.id]: { until: Date.UTC(2026, 5, 1, 12), mentions: true } }));
    expect(screen.getByRole('button', { name: /^Muted until .*June 1, 2026/ })).toBeVisible();
  });

  it('of a group may leave the mentions, or take them in', async () => {
    const { actions, user } = showGroups([group({ id: 'g1' })]);
    await user.click(screen.getByRole('button', { name: /Sailing/ }));
    for (const [label, mentions] of [
      ['Mentions only', true],
      ['Always, mentions too', false],
    ] as const) {
      await user.click(await screen.findByRole('button', { name: 'Mute' }));
      const dialog = await screen.findByRole('dialog', { name: 'Mute' });
      await user.click(within(dialog).getByRole('button', { name: label }));
      await user.click(within(dialog).getByRole('button', { name: 'Save' }));
      expect(actions.muteConversation).toHaveBeenLastCalledWith(key, { until: forGood, mentions });
    }
  });
});

describe('a muted conversation', () => {
  it('counts for no total, of chats and of groups', () => {
    const { store } = createWorld();
    store.set(contactsAtom, loaded(veikko, kaisa));
    store.set(groupsAtom, loaded(group({ id: 'g1' }), group({ id: 'g2' })));
    const unread = (count: number) => chat([message(kaisa.id, 'Hei')], { unread: count });
    store.set(chatsAtom, {
      [veikko.id]: unread(2),
      [kaisa.id]: unread(3),
      [key]: unread(4),
      'group-g2': unread(5),
    });
    expect([store.get(unreadTotalAtom), store.get(groupUnreadTotalAtom)]).toEqual([5, 9]);
    store.set(mutesAtom, { [veikko.id]: later, [key]: later });
    expect([store.get(unreadTotalAtom), store.get(groupUnreadTotalAtom)]).toEqual([3, 5]);
  });
});
