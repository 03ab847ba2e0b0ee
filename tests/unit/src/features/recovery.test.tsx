import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { passwordStrength } from '#src/features/recovery/passwordStrength.ts';
import { RecoverForm } from '#src/features/recovery/RecoverForm.tsx';
import { RecoveryCard } from '#src/features/recovery/RecoveryCard.tsx';
import { RecoveryOffer } from '#src/features/recovery/RecoveryOffer.tsx';
import { AppError } from '#src/lib/appError.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '#src/store/recovery.ts';
import { createWorld, recoveryKey } from '../support/app.tsx';

const groups = recoveryKey.split('-');

function worldWith(state: 'unknown' | 'none' | 'present', dismissed: boolean | null = false) {
  const world = createWorld();
  world.store.set(recoveryKeyAtom, () => state);
  world.store.set(recoveryOfferDismissedAtom, () => dismissed);
  return world;
}

/** The group that is asked for, by the label of its field. */
async function askedGroup(): Promise<{ input: HTMLElement; group: string }> {
  const input = await screen.findByLabelText(/^Group \d+ of your recovery key$/);
  const number = Number(/\d+/.exec(screen.getByText(/^Group \d+/).textContent)?.[0]);
  return { input, group: groups[number - 1] ?? '' };
}

describe('a new recovery key', () => {
  it('is shown once, confirmed by a part of it, and only then turned on', async () => {
    const { actions, show } = worldWith('none');
    const user = show(<RecoveryCard />);
    expect(screen.getByText(/You have no recovery key/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    const shown = await screen.findByRole('list', { name: 'Your recovery key' });
    expect(
      within(shown)
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent),
    ).toEqual(groups);

    await user.click(screen.getByRole('button', { name: 'I have kept it' }));
    const { input, group } = await askedGroup();
    expect(screen.queryByText(groups[0]!)).toBeNull();
    expect(input).toHaveFocus();
    await user.type(input, 'NOPE{Enter}');
    expect(await screen.findByText(/not what the key says/)).toBeVisible();
    expect(actions.saveRecoveryKey).not.toHaveBeenCalled();

    await user.clear(input);
    await user.type(input, ` ${group.toLowerCase()} {Enter}`);
    expect(await screen.findByText(/Your recovery key is on/)).toBeVisible();
    expect(actions.saveRecoveryKey).toHaveBeenCalledOnce();
    await user.click(screen.getByRole('button', { name: 'Done' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('is read as people type it: O for 0, I or L for 1', async () => {
    const { actions, show } = worldWith('none');
    actions.createRecoveryKey.mockResolvedValue(Array.from({ length: 14 }, () => '01A0').join('-'));
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    await user.click(await screen.findByRole('button', { name: 'I have kept it' }));
    const { input } = await askedGroup();
    await user.type(input, 'oLaO{Enter}');
    expect(await screen.findByText(/Your recovery key is on/)).toBeVisible();
  });

  it('stays off when it could not be turned on, and can be tried again', async () => {
    const { actions, show } = worldWith('none');
    actions.saveRecoveryKey.mockRejectedValueOnce(new AppError('unreachable', 'No connection.'));
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    await user.click(await screen.findByRole('button', { name: 'I have kept it' }));
    const { input, group } = await askedGroup();
    await user.type(input, `${group}{Enter}`);
    expect(await screen.findByText('No connection.')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Turn on' }));
    expect(await screen.findByText(/Your recovery key is on/)).toBeVisible();
  });

  it('can be copied', async () => {
    const { show, toasts } = worldWith('none');
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    await user.click(await screen.findByRole('button', { name: 'Copy' }));
    expect(await navigator.clipboard.readText()).toBe(recoveryKey);
    expect(toasts()).toEqual(['success: Recovery key copied. Paste it somewhere safe.']);
  });

  it('can be downloaded, with its owner and its use', async () => {
    const { show } = worldWith('none');
    const written: Blob[] = [];
    const createObjectURL = vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
      written.push(blob as Blob);
      return 'blob:key';
    });
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    await user.click(await screen.findByRole('button', { name: 'Download' }));
    await waitFor(() => expect(written).toHaveLength(1));
    const text = await written[0]!.text();
    expect(text).toContain(recoveryKey);
    expect(text).toContain('aino (aino@example.fi)');
    expect(text).toContain('Forgot your password?');
    createObjectURL.mockRestore();
  });

  it('is gone from the page once its dialog is closed', async () => {
    const { show } = worldWith('none');
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    expect(await screen.findByText(groups[1]!)).toBeVisible();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(document.body.textContent).not.toContain(groups[1]);
    expect(document.body.textContent).not.toContain(recoveryKey);
  });

  it('says that it replaces the present one', async () => {
    const { show } = worldWith('present');
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Replace recovery key' }));
    expect(await screen.findByText(/stops working once the new one is turned on/)).toBeVisible();
  });

  it('is not offered while it is unknown whether there is one', () => {
    worldWith('unknown').show(<RecoveryCard />);
    expect(screen.queryByRole('button', { name: /recovery key/ })).toBeNull();
  });
});

describe('the offer of a recovery key', () => {
  it.each([
    ['unknown', false, false],
    ['present', false, false],
    ['none', true, false],
    ['none', null, false],
    ['none', false, true],
  ] as const)('with %s and dismissed %s is shown: %s', (state, dismissed, shown) => {
    worldWith(state, dismissed).show(<RecoveryOffer />);
    expect(screen.queryByRole('button', { name: 'Create recovery key' }) !== null).toBe(shown);
  });

  it('can be put aside, and leads to the key', async () => {
    const { actions, show } = worldWith('none');
    const user = show(<RecoveryOffer />);
    await user.click(screen.getByRole('button', { name: 'Later' }));
    expect(actions.dismissRecoveryOffer).toHaveBeenCalledOnce();
    await user.click(screen.getByRole('button', { name: 'Create recovery key' }));
    expect(await screen.findByRole('list', { name: 'Your recovery key' })).toBeVisible();
  });
});

describe('changing the password', () => {
  async function form() {
    const world = worldWith('present');
    const user = world.show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Change password' }));
    const type = async (current: string, password: string, repeated = password) => {
      const fields = ['Current password', 'New password', 'New password again'];
      for (const [i, text] of [current, password, repeated].entries()) {
        const field = screen.getByLabelText(fields[i]!);
        await user.clear(field);
        await user.type(field, text);
      }
      await user.click(screen.getByRole('button', { name: 'Change password' }));
    };
    return { ...world, user, type };
  }

  it('says that it has changed, and closes', async () => {
    const { actions, toasts, type } = await form();
    expect(screen.getByLabelText('Current password')).toHaveFocus();
    await type('old', 'new and long');
    expect(actions.changePassword).toHaveBeenCalledWith({
      currentPassword: 'old',
      newPassword: 'new and long',
    });
    expect(toasts()).toEqual([
      'success: Your password was changed. Your other devices have to log in again.',
    ]);
    expect(screen.getByRole('button', { name: 'Change password' })).toHaveFocus();
  });

  it('says at the field that the current password is wrong', async () => {
    const { actions, type } = await form();
    actions.changePassword.mockRejectedValueOnce(new AppError('wrong-password', 'not shown'));
    await type('guess', 'new');
    expect(await screen.findByText('The current password is wrong.')).toBeVisible();
    expect(screen.getByLabelText('Current password')).toBeInvalid();
    await waitFor(() => expect(screen.getByLabelText('Current password')).toHaveFocus());
    await type('right', 'new');
    expect(actions.changePassword).toHaveBeenCalledTimes(2);
  });

  it('sends nothing while the repetition differs', async () => {
    const { actions, type } = await form();
    await type('old', 'new', 'knew');
    expect(await screen.findByText('The two passwords are not the same.')).toBeVisible();
    expect(actions.changePassword).not.toHaveBeenCalled();
  });

  it('shows another failure above the form', async () => {
    const { actions, type } = await form();
    actions.changePassword.mockRejectedValueOnce(new AppError('unreachable', 'No connection.'));
    await type('old', 'new');
    expect(await screen.findByRole('alert')).toHaveTextContent('No connection.');
  });

  it('advises without forbidding', async () => {
    const { user } = await form();
    const field = screen.getByLabelText('New password');
    expect(screen.getByText(/Several words/)).toBeVisible();
    await user.type(field, 'abc');
    expect(screen.getByText(/can be guessed/)).toBeVisible();
    await user.type(field, ' harbour lantern');
    expect(screen.getByText('Strong.')).toBeVisible();
  });
});

describe('the strength of a password', () => {
  it.each([
    ['', 'weak'],
    ['password', 'weak'],
    ['aaaaaaaaaaaaaaaaaaaa', 'weak'],
    ['kesäilta 23', 'fair'],
    ['correct horse battery staple', 'strong'],
    ['😀😀😀😀', 'weak'],
  ])('of %j is %s', (password, strength) => {
    expect(passwordStrength(password)).toBe(strength);
  });
});

describe('recovering an account', () => {
  async function fill(user: ReturnType<ReturnType<typeof createWorld>['show']>, repeated = 'new one') {
    await user.type(screen.getByLabelText('Username or email'), ' aino ');
    await user.type(screen.getByLabelText('Recovery key'), recoveryKey);
    await user.type(screen.getByLabelText('New password'), 'new one');
    await user.type(screen.getByLabelText('New password again'), repeated);
    await user.click(screen.getByRole('button', { name: 'Set password and log in' }));
  }

  it('sends the name, the key and the new password', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    await fill(show(<RecoverForm progress={null} />));
    expect(actions.recover).toHaveBeenCalledWith({
      identifier: 'aino',
      recoveryKey,
      password: 'new one',
    });
    expect(actions.prepareSignIn).toHaveBeenCalled();
  });

  it('says at the field that the key has a typing error', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.recover.mockRejectedValue(new AppError('bad-recovery-key', 'There is a typing error.'));
    await fill(show(<RecoverForm progress={null} />));
    expect(await screen.findByText('There is a typing error.')).toBeVisible();
    expect(screen.getByLabelText('Recovery key')).toBeInvalid();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('says above the form that the key opens nothing', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.recover.mockRejectedValue(new AppError('wrong-credentials', 'Wrong name or key.'));
    await fill(show(<RecoverForm progress={null} />));
    expect(await screen.findByRole('alert')).toHaveTextContent('Wrong name or key.');
  });

  it('sends nothing while the repetition differs', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    await fill(show(<RecoverForm progress={null} />), 'another');
    expect(screen.getByText('The two passwords are not the same.')).toBeVisible();
    expect(actions.recover).not.toHaveBeenCalled();
  });
});
