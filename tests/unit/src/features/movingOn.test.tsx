import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { OlderVaultNotice } from '#src/features/keyRenewal/OlderVaultNotice.tsx';
import { MoveOnCard } from '#src/features/movingOn/MoveOnCard.tsx';
import { cancelled } from '#src/lib/appError.ts';
import { type AccountChange, accountChangesAtom } from '#src/store/accountChanges.ts';
import { olderVaultAtom } from '#src/store/keys.ts';
import { createWorld } from '../support/app.tsx';

describe('the way out after a theft', () => {
  it('says when it is for and what it costs, before anything is pressed', () => {
    createWorld().show(<MoveOnCard />);
    const card = screen.getByRole('region', { name: 'After a theft' });
    expect(card).toHaveTextContent('If somebody had your password or recovery key');
    const costs = within(card)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent);
    expect(costs).toHaveLength(5);
    expect(costs.join(' ')).toMatch(/accept.+logged out.+new password.+recovery key stops working.+stay/s);
  });

  it('begins in the frame of the keys, and says what to do next', async () => {
    const { actions, show, toasts } = createWorld();
    const user = show(<MoveOnCard />);
    await user.click(screen.getByRole('button', { name: 'Move on to a new key' }));
    expect(actions.moveOn).toHaveBeenCalledOnce();
    expect(toasts()).toEqual([
      'success: Your account has a new key. Create a new recovery key, and tell your contacts that it was you.',
    ]);
  });

  const change: AccountChange = { id: 'a', kind: 'recovery-key', deviceName: null, createdAt: '' };

  it('is the answer to all changes that the person was told of', async () => {
    const { actions, show, store } = createWorld();
    store.set(accountChangesAtom, () => [change, { ...change, id: 'b' }]);
    actions.acknowledgeAccountChange.mockRejectedValueOnce(new Error('the storage is full'));
    const user = show(<MoveOnCard />);
    await user.click(screen.getByRole('button', { name: 'Move on to a new key' }));
    await vi.waitFor(() => expect(actions.acknowledgeAccountChange).toHaveBeenCalledTimes(2));
  });

  it('says nothing when it is called off, and answers no change', async () => {
    const { actions, show, store, toasts } = createWorld();
    store.set(accountChangesAtom, () => [change]);
    actions.moveOn.mockRejectedValue(cancelled());
    const user = show(<MoveOnCard />);
    await user.click(screen.getByRole('button', { name: 'Move on to a new key' }));
    expect(toasts()).toEqual([]);
    expect(actions.acknowledgeAccountChange).not.toHaveBeenCalled();
  });
});

describe('an older state of the account at the relay', () => {
  it('is told of, and gone on with where the person says so', async () => {
    const { actions, show, store, toasts } = createWorld();
    store.set(olderVaultAtom, () => true);
    const user = show(<OlderVaultNotice />);
    expect(screen.getByRole('region', { name: 'Older state of your account' })).toHaveTextContent(
      'restored from a backup',
    );
    await user.click(screen.getByRole('button', { name: 'Go on with it' }));
    expect(actions.acceptOlderVault).toHaveBeenCalledOnce();
    expect(toasts()[0]).toContain('under new keys');
  });

  it('is not there otherwise', () => {
    createWorld().show(<OlderVaultNotice />);
    expect(screen.queryByRole('region')).toBeNull();
  });
});
