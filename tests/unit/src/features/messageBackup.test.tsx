import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { MessageBackupCard } from '#src/features/messageBackup/MessageBackupCard.tsx';
import { AppError } from '#src/lib/appError.ts';
import { backupKeptAtom } from '#src/store/messageBackup.ts';
import { createWorld } from '../support/app.tsx';

const toggle = () => screen.getByRole('switch', { name: 'Keep sealed copies for new devices' });

describe('the message backup', () => {
  it('cannot be switched before it is known', () => {
    const { show, store } = createWorld();
    show(<MessageBackupCard />);
    expect(toggle()).toHaveAttribute('aria-disabled', 'true');
    act(() => store.set(backupKeptAtom, true));
    expect(toggle()).not.toHaveAttribute('aria-disabled', 'true');
    expect(toggle()).toBeChecked();
    expect(toggle()).toHaveAccessibleDescription(/can read earlier messages/);
  });

  it('is switched off only after asking, because that deletes the copies', async () => {
    const { actions, show, store } = createWorld();
    store.set(backupKeptAtom, true);
    const user = show(<MessageBackupCard />);
    await user.click(toggle());
    const dialog = within(await screen.findByRole('alertdialog', { name: 'Delete the copies?' }));
    await user.click(dialog.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(actions.setBackupKept).not.toHaveBeenCalled();

    await user.click(toggle());
    await user.click(await screen.findByRole('button', { name: 'Delete copies' }));
    expect(actions.setBackupKept).toHaveBeenCalledExactlyOnceWith(false);
  });

  it('is switched on at once', async () => {
    const { actions, show, store } = createWorld();
    store.set(backupKeptAtom, false);
    const user = show(<MessageBackupCard />);
    expect(toggle()).not.toBeChecked();
    expect(toggle()).toHaveAccessibleDescription(/There are no copies on the server/);
    await user.click(toggle());
    expect(actions.setBackupKept).toHaveBeenCalledExactlyOnceWith(true);
  });

  it('says when it fails', async () => {
    const { actions, show, store, toasts } = createWorld();
    actions.setBackupKept.mockRejectedValue(new AppError('locked', ''));
    store.set(backupKeptAtom, false);
    const user = show(<MessageBackupCard />);
    await user.click(toggle());
    await waitFor(() => expect(toasts()).toEqual(['error: This could not be changed. Please try again.']));
  });

  it.each([
    [
      { entryDays: 90, fewestEntryDays: 90, historyDays: null },
      'The server keeps each message until all browsers have it, for 90 days at most.',
    ],
    [
      { entryDays: 30, fewestEntryDays: 30, historyDays: 365 },
      'The server keeps each message until all browsers have it, for 30 days at most. Sealed copies are kept for 365 days.',
    ],
    [
      { entryDays: 90, fewestEntryDays: 7, historyDays: null },
      'The server keeps each message until all browsers have it, for 90 days at most. Lately that was 7 days.',
    ],
  ])('says for how long the server keeps what: %o', async (kept, text) => {
    const { actions, show } = createWorld();
    actions.loadRetention.mockResolvedValue(kept);
    show(<MessageBackupCard />);
    expect(await screen.findByText(text)).toBeVisible();
  });

  it('says when it cannot be asked for how long the server keeps messages', async () => {
    const { actions, show } = createWorld();
    actions.loadRetention.mockRejectedValue(new AppError('unavailable', ''));
    show(<MessageBackupCard />);
    expect(await screen.findByText(/keeps messages could not be asked/)).toBeVisible();
  });
});
