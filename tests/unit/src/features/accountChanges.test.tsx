import { screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { AccountChangeNotice } from '#src/features/accountChanges/AccountChangeNotice.tsx';
import { type AccountChange, accountChangesAtom } from '#src/store/accountChanges.ts';
import { profileSectionAtom } from '#src/store/profileSection.ts';
import { createWorld } from '../support/app.tsx';

const replaced: AccountChange = {
  id: 'change',
  kind: 'recovery-key',
  deviceName: 'Chrome on Linux',
  createdAt: '2026-03-01T12:00:00.000Z',
};

function show(change: AccountChange | null) {
  const world = createWorld();
  if (change !== null) world.store.set(accountChangesAtom, () => [change]);
  const onReview = vi.fn<() => void>();
  return { ...world, onReview, user: world.show(<AccountChangeNotice onReview={onReview} />) };
}

describe('the notice of a change to the account', () => {
  it('says what was changed, on which device and when, and what to do', () => {
    show(replaced);
    const notice = screen.getByRole('region', { name: 'Changes to your account' });
    expect(notice.textContent).toMatch(/^Your recovery key was replaced or removed on Chrome on Linux, .+\./);
    expect(notice.textContent).toContain('Not you? Then somebody has your password or recovery key.');
    expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
      'Not me',
      'It was me',
    ]);
  });

  it('says of the first recovery key that it was set up', () => {
    show({ ...replaced, kind: 'recovery-key-created' });
    expect(screen.getByRole('region').textContent).toMatch(
      /^A recovery key was set up on Chrome on Linux, .+\./,
    );
  });

  it('names a browser that never became a device', () => {
    show({ ...replaced, kind: 'password', deviceName: null });
    expect(screen.getByRole('region').textContent).toContain(
      'Your password was changed on a browser that is not among your devices, ',
    );
  });

  it('leads to moving on, or goes once the person knows of it', async () => {
    const { actions, onReview, store, user } = show(replaced);
    await user.click(screen.getByRole('button', { name: 'Not me' }));
    expect(onReview).toHaveBeenCalledOnce();
    expect(store.get(profileSectionAtom)).toBe('moving-on');
    await user.click(screen.getByRole('button', { name: 'It was me' }));
    expect(actions.acknowledgeAccountChange).toHaveBeenCalledOnce();
  });

  it('is not there when nothing has changed', () => {
    show(null);
    expect(screen.queryByRole('region')).toBeNull();
  });
});
