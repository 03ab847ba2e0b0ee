import { act, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProfilePanel } from '#src/pages/dashboard/ProfilePanel.tsx';
import { profileSectionAtom } from '#src/store/profileSection.ts';
import { createWorld } from '../support/app.tsx';

afterEach(() => {
  vi.restoreAllMocks();
});

const headings = () => screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent);

describe('the Profile tab', () => {
  it('begins with the profile and ends with deleting the account', () => {
    createWorld().show(<ProfilePanel onOpenConversation={() => undefined} />);
    expect(headings().at(0)).toBe('Profile');
    expect(headings()).toContain('Settings');
    expect(headings().slice(-2)).toEqual(['Your Data', 'Account deletion']);
  });

  it('leads to each of its sections', async () => {
    const scrolledTo: string[] = [];
    vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function (this: Element) {
      scrolledTo.push(within(this as HTMLElement).getByRole('heading', { level: 2 }).textContent ?? '');
    });
    const user = createWorld().show(<ProfilePanel onOpenConversation={() => undefined} />);
    const links = within(screen.getByRole('navigation', { name: 'Profile sections' })).getAllByRole('button');
    for (const link of links) await user.click(link);
    expect(scrolledTo).toEqual(headings());
    expect(links.map(({ textContent }) => textContent)).toEqual(headings());
  });

  it('shows the section that a banner leads to, each time, and moves the focus there', () => {
    const { show, store } = createWorld();
    store.set(profileSectionAtom, 'moving-on');
    show(<ProfilePanel onOpenConversation={() => undefined} />);
    expect(screen.getByRole('region', { name: 'After a theft' })).toHaveFocus();
    for (const name of ['Devices', 'After a theft', 'Devices']) {
      act(() => store.set(profileSectionAtom, name === 'Devices' ? 'devices' : 'moving-on'));
      expect(screen.getByRole('region', { name })).toHaveFocus();
    }
  });
});
