import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeleteAccountCard } from '#src/features/profile/DeleteAccountCard.tsx';
import { ProfileCard } from '#src/features/profile/ProfileCard.tsx';
import { YourDataCard } from '#src/features/profile/YourDataCard.tsx';
import { activateLocale } from '#src/i18n/i18n.ts';
import { AppError } from '#src/lib/appError.ts';
import { operator } from '#src/operator/index.ts';
import { deletionProgressAtom, type ExportedFiles, exportProgressAtom } from '#src/store/account.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { aino, createWorld } from '../support/app.tsx';

/** A promise that the test settles. */
function held<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

afterEach(() => activateLocale('en'));

describe('the profile', () => {
  async function edit() {
    const world = createWorld();
    const user = world.show(<ProfileCard />);
    await user.click(screen.getByRole('button', { name: 'Edit Profile' }));
    const type = async (label: string, text: string) => {
      await user.clear(screen.getByLabelText(label));
      await user.type(screen.getByLabelText(label), text);
    };
    return { ...world, user, type };
  }

  it('shows username, email, and the date of joining', () => {
    createWorld().show(<ProfileCard />);
    const card = within(screen.getByRole('region', { name: 'Profile' }));
    expect(card.getByText('aino')).toBeVisible();
    expect(card.getByText('aino@example.fi')).toBeVisible();
    expect(card.getByText('March 14, 2026')).toBeVisible();
  });

  it('formats the date of joining in the person’s language', async () => {
    await activateLocale('fi');
    createWorld().show(<ProfileCard />);
    expect(screen.getByText('14. maaliskuuta 2026')).toBeVisible();
  });

  it('is changed in a form that begins with the present values', async () => {
    const { actions, store, toasts, type, user } = await edit();
    expect(screen.getByLabelText('Username')).toHaveValue('aino');
    expect(screen.getByLabelText('Username')).toHaveFocus();
    expect(screen.getByLabelText('Email')).toHaveValue('aino@example.fi');
    actions.updateProfile.mockImplementation(async (names) =>
      store.set(currentUserAtom, { ...aino, ...names }),
    );
    await type('Username', 'Aino.K');
    await type('Email', 'aino.k@example.fi');
    await user.click(screen.getByRole('button', { name: 'Save Changes' }));
    expect(actions.updateProfile).toHaveBeenCalledExactlyOnceWith({
      username: 'Aino.K',
      email: 'aino.k@example.fi',
    });
    expect(await screen.findByText('Aino.K')).toBeVisible();
    expect(toasts()).toEqual(['success: Profile updated successfully']);
    expect(screen.getByRole('button', { name: 'Edit Profile' })).toHaveFocus();
  });

  it('stays as it was when the person cancels', async () => {
    const { actions, type, user } = await edit();
    await type('Username', 'somebody');
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(actions.updateProfile).not.toHaveBeenCalled();
    expect(screen.getByText('aino')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Edit Profile' }));
    expect(screen.getByLabelText('Username')).toHaveValue('aino');
  });

  it('needs both a username and an email', async () => {
    await edit();
    expect(screen.getByLabelText('Username')).toBeRequired();
    expect(screen.getByLabelText('Email')).toBeRequired();
    expect(screen.getByLabelText('Email')).toHaveAttribute('type', 'email');
  });

  it.each([
    ['username-taken', 'Username', 'This username is already taken.'],
    ['email-taken', 'Email', 'This email is already registered.'],
    [
      'invalid-username',
      'Username',
      'Usernames have 2 to 32 characters: letters of one script, digits and . _ - only',
    ],
    ['invalid-email', 'Email', 'Please enter a valid email address'],
  ] as const)('says at its field that it is %s', async (code, label, text) => {
    const { actions, toasts, user } = await edit();
    actions.updateProfile.mockRejectedValue(new AppError(code, text));
    await user.click(screen.getByRole('button', { name: 'Save Changes' }));
    const field = screen.getByLabelText(label);
    await waitFor(() => expect(field).toHaveAccessibleDescription(expect.stringContaining(text)));
    expect(field).toBeInvalid();
    expect(field).toHaveFocus();
    expect(screen.queryByRole('alert')).toBeNull();
    expect(toasts()).toEqual([]);
  });

  it.each([
    [
      "the server's sentence",
      new AppError('internal', 'The server is being repaired.'),
      'The server is being repaired.',
    ],
    ['its own', new Error('TypeError: x is not a function'), 'Failed to update profile'],
  ])('says %s when it could not be saved, and keeps what was typed', async (_name, error, text) => {
    const { actions, type, user } = await edit();
    actions.updateProfile.mockRejectedValue(error);
    await type('Username', 'ainokaisa');
    await user.click(screen.getByRole('button', { name: 'Save Changes' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(text);
    expect(screen.getByLabelText('Username')).toHaveValue('ainokaisa');
    expect(screen.getByRole('button', { name: 'Save Changes' })).toBeEnabled();
  });

  it('is saved once, however often Save is pressed', async () => {
    const { actions, user } = await edit();
    const answer = held<void>();
    actions.updateProfile.mockReturnValue(answer.promise);
    await user.click(screen.getByRole('button', { name: 'Save Changes' }));
    expect(screen.getByRole('button', { name: 'Saving...' })).toBeDisabled();
    await user.type(screen.getByLabelText('Email'), '{Enter}');
    expect(actions.updateProfile).toHaveBeenCalledOnce();
    await act(async () => answer.resolve());
  });
});

describe('deleting the account', () => {
  function show() {
    const world = createWorld();
    return { ...world, user: world.show(<DeleteAccountCard />) };
  }

  it('takes two steps, and the second can be cancelled', async () => {
    const { actions, user } = show();
    expect(screen.queryByRole('button', { name: 'Confirm Delete' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Delete Account' }));
    expect(screen.queryByRole('button', { name: 'Delete Account' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole('button', { name: 'Delete Account' })).toHaveFocus();
    expect(screen.queryByRole('button', { name: 'Confirm Delete' })).toBeNull();
    expect(actions.deleteAccount).not.toHaveBeenCalled();

    await user.click(screen.getByRole('button', { name: 'Delete Account' }));
    await user.click(screen.getByRole('button', { name: 'Confirm Delete' }));
    expect(actions.deleteAccount).toHaveBeenCalledOnce();
  });

  it('says beforehand what becomes of the groups, and announces it', async () => {
    const { user } = show();
    await user.click(screen.getByRole('button', { name: 'Delete Account' }));
    const question = screen.getByRole('region', { name: 'Delete your account?' });
    expect(within(question).getByText(/^Groups that you created are deleted for everybody/)).toBeVisible();
    expect(within(question).getByRole('heading')).toHaveFocus();
  });

  it('shows its progress', async () => {
    const { actions, store, user } = show();
    const answer = held<void>();
    actions.deleteAccount.mockReturnValue(answer.promise);
    await user.click(screen.getByRole('button', { name: 'Delete Account' }));
    await user.click(screen.getByRole('button', { name: 'Confirm Delete' }));
    expect(screen.getByRole('button', { name: 'Deleting account...' })).toBeDisabled();
    expect(screen.getByRole('button', { name: 'Cancel' })).toBeDisabled();
    act(() => store.set(deletionProgressAtom, () => ({ step: 'groups', done: 3, total: 12 })));
    expect(screen.getByRole('status')).toHaveTextContent('Ending your groups: 3 of 12');
    act(() => store.set(deletionProgressAtom, () => ({ step: 'account' })));
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
    await act(async () => answer.resolve());
  });

  it('is still under way when one comes back to it', () => {
    const { store } = show();
    act(() => store.set(deletionProgressAtom, () => ({ step: 'account' })));
    expect(screen.getByRole('button', { name: 'Deleting account...' })).toBeDisabled();
  });

  it.each([
    ["the server's sentence", new AppError('internal', 'Come back tomorrow.'), 'Come back tomorrow.'],
    ['its own', new Error('x'), 'Failed to delete account. Please try again.'],
  ])('says %s when it failed, and asks again', async (_name, error, text) => {
    const { actions, user } = show();
    actions.deleteAccount.mockRejectedValueOnce(error);
    await user.click(screen.getByRole('button', { name: 'Delete Account' }));
    await user.click(screen.getByRole('button', { name: 'Confirm Delete' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(text);
    await user.click(screen.getByRole('button', { name: 'Confirm Delete' }));
    expect(screen.queryByRole('alert')).toBeNull();
    expect(actions.deleteAccount).toHaveBeenCalledTimes(2);
  });
});

describe('your data', () => {
  const asked: string[] = [];
  const browser = window as { showSaveFilePicker?: unknown };
  /** Returns whether the person chooses a place for a file of this name. */
  let wants: (name: string) => boolean;

  beforeEach(() => {
    asked.length = 0;
    wants = () => true;
    browser.showSaveFilePicker = async ({ suggestedName }: { suggestedName: string }) => {
      asked.push(suggestedName);
      if (!wants(suggestedName)) throw new DOMException('', 'AbortError');
      return {
        createWritable: async () => ({ name: suggestedName }),
      };
    };
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 2, 9, 23, 30) });
  });

  afterEach(() => {
    delete browser.showSaveFilePicker;
    vi.useRealTimers();
  });

  function show() {
    const world = createWorld();
    return { ...world, user: world.show(<YourDataCard />) };
  }

  it.each([
    ['json', 'sinetti-user-data-2026-03-09.json'],
    ['html', 'sinetti-user-data-2026-03-09.html'],
  ] as const)(
    'comes as one %s file, named by product and day, and a note says when it is there',
    async (format, name) => {
      const { actions, toasts, user } = show();
      await user.click(screen.getByRole('button', { name: `Download ${format.toUpperCase()}` }));
      await waitFor(() => expect(toasts()).toEqual(['success: Your data export has been generated']));
      expect(actions.exportData).toHaveBeenCalledExactlyOnceWith(
        format,
        expect.objectContaining({ name }),
        false,
      );
      expect(asked).toEqual([name]);
    },
  );

  it('is not exported when the person chooses no file, and can be asked for again', async () => {
    const { actions, toasts, user } = show();
    wants = () => false;
    await user.click(screen.getByRole('button', { name: 'Download JSON' }));
    await waitFor(() => expect(toasts()).toEqual(['info: The data export was cancelled']));
    expect(asked).toHaveLength(1);
    expect(actions.exportData).not.toHaveBeenCalled();
    expect(screen.getByRole('button', { name: 'Download JSON' })).toBeEnabled();
  });

  it('shows its progress, and can be cancelled', async () => {
    const { actions, store, toasts, user } = show();
    const answer = held<ExportedFiles | null>();
    actions.exportData.mockReturnValue(answer.promise);
    await user.click(screen.getByRole('button', { name: 'Download JSON' }));
    act(() => store.set(exportProgressAtom, () => ({ format: 'json', unit: 'messages', done: 0, total: 0 })));
    const bar = screen.getByRole('progressbar', { name: 'Data export' });
    expect(bar).toHaveAttribute('aria-valuetext', 'Preparing your data...');
    act(() =>
      store.set(exportProgressAtom, () => ({
        format: 'json',
        unit: 'messages',
        done: 12_000,
        total: 50_000,
      })),
    );
    expect(screen.getByText('12,000 of 50,000 messages')).toBeVisible();
    expect(bar).toHaveAttribute('aria-valuenow', '12000');
    for (const name of ['Download JSON', 'Download HTML']) {
      expect(screen.getByRole('button', { name })).toBeDisabled();
    }
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(actions.cancelDataExport).toHaveBeenCalledOnce();
    act(() => store.set(exportProgressAtom, () => null));
    await act(async () => answer.resolve(null));
    expect(toasts()).toEqual(['info: The data export was cancelled']);
    expect(screen.queryByRole('progressbar')).toBeNull();
    expect(screen.getByRole('button', { name: 'Download JSON' })).toBeEnabled();
  });

  it('has the files on request, says how large they are before, how far it is, and how many could not be had', async () => {
    const { actions, store, toasts, user } = show();
    actions.measureFiles.mockResolvedValue({ count: 12, bytes: 34_200_000 });
    const answer = held<ExportedFiles | null>();
    actions.exportData.mockReturnValue(answer.promise);
    expect(actions.measureFiles).not.toHaveBeenCalled();
    const wish = screen.getByRole('switch', { name: 'With files' });
    expect(wish).not.toBeChecked();
    expect(wish).toHaveAccessibleDescription(/become a ZIP archive/);
    await user.click(wish);
    expect(await screen.findByText('About 34.2 MB in 12 files')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Download HTML' }));
    expect(asked).toEqual(['sinetti-user-data-2026-03-09.zip']);
    expect(actions.exportData).toHaveBeenCalledExactlyOnceWith('html', expect.anything(), true);
    act(() =>
      store.set(exportProgressAtom, () => ({ format: 'html', unit: 'bytes', done: 1e6, total: 34_200_000 })),
    );
    expect(screen.getByRole('progressbar', { name: 'Data export' })).toHaveAttribute(
      'aria-valuetext',
      '1 MB of 34.2 MB of files',
    );
    expect(wish).toHaveAttribute('aria-disabled', 'true');
    await act(async () => answer.resolve({ written: 11, missing: 1 }));
    expect(toasts()).toEqual([
      'success: Your data export has been generated, with 11 files. 1 file could not be had: the export says why.',
    ]);
  });

  it('says when the export failed', async () => {
    const { actions, toasts, user } = show();
    actions.exportData.mockRejectedValue(new Error('QuotaExceededError'));
    await user.click(screen.getByRole('button', { name: 'Download JSON' }));
    await waitFor(() =>
      expect(toasts()).toEqual(['error: Your data export could not be generated. Please try again.']),
    );
  });

  it('names the person’s rights and the address to write to', () => {
    show();
    const card = screen.getByRole('region', { name: 'Your Data' });
    const rights = within(card)
      .getAllByRole('term')
      .map(({ textContent }) => textContent);
    expect(rights).toEqual(['Access', 'Rectification', 'Erasure', 'Portability']);
    const address = operator.privacyEmail ?? '';
    expect(within(card).getByRole('link', { name: address })).toHaveAttribute('href', `mailto:${address}`);
  });
});
