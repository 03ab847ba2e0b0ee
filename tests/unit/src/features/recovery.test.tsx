import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { RecoverForm } from '#src/features/recovery/RecoverForm.tsx';
import { RecoveryCard } from '#src/features/recovery/RecoveryCard.tsx';
import { RecoveryOffer } from '#src/features/recovery/RecoveryOffer.tsx';
import { AppError, cancelled } from '#src/lib/appError.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '#src/store/recovery.ts';
import { createWorld, recoveryKey } from '../support/app.tsx';

function worldWith(state: 'unknown' | 'none' | 'present', dismissed: boolean | null = false) {
  const world = createWorld();
  world.store.set(recoveryKeyAtom, () => state);
  world.store.set(recoveryOfferDismissedAtom, () => dismissed);
  return world;
}

describe('a new recovery key', () => {
  it.each([
    ['none', 'Create a recovery key'],
    ['present', 'Replace recovery key'],
  ] as const)('is set up where there is %s, and said to be on', async (state, name) => {
    const { actions, show, toasts } = worldWith(state);
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name }));
    expect(actions.setUpRecoveryKey).toHaveBeenCalledOnce();
    expect(toasts()).toEqual([
      'success: Your recovery key is on. Keep it safe: whoever has it can open your account.',
    ]);
  });

  it('is said to open nothing when it could not be turned on', async () => {
    const { actions, show, toasts } = worldWith('none');
    actions.setUpRecoveryKey.mockRejectedValue(new Error('anything'));
    const user = show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Create a recovery key' }));
    expect(toasts()).toEqual([
      'error: The recovery key could not be turned on: the one that you have just kept opens nothing. Please try again.',
    ]);
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
    expect(actions.setUpRecoveryKey).toHaveBeenCalledOnce();
  });
});

describe('changing the password', () => {
  async function change(outcome?: AppError) {
    const world = worldWith('present');
    if (outcome !== undefined) world.actions.changePassword.mockRejectedValue(outcome);
    const user = world.show(<RecoveryCard />);
    await user.click(screen.getByRole('button', { name: 'Change password' }));
    return world;
  }

  it('says that it has changed', async () => {
    const { actions, toasts } = await change();
    expect(actions.changePassword).toHaveBeenCalledOnce();
    expect(toasts()).toEqual([
      'success: Your password was changed. Your other devices have to log in again.',
    ]);
  });

  it('says why it has not', async () => {
    const { toasts } = await change(new AppError('unreachable', 'No connection.'));
    expect(toasts()).toEqual(['error: No connection.']);
  });

  it('says nothing when it was called off', async () => {
    const { toasts } = await change(cancelled());
    expect(toasts()).toEqual([]);
  });
});

describe('recovering an account', () => {
  it('advises without forbidding', async () => {
    const user = createWorld({ signedIn: false }).show(<RecoverForm progress={null} />);
    const field = screen.getByLabelText('New password');
    expect(screen.getByText(/Several words/)).toBeVisible();
    await user.type(field, 'abc');
    expect(await screen.findByText(/^Easy to guess/)).toBeVisible();
    await user.type(field, ' harbour lantern');
    expect(await screen.findByText('Strong.')).toBeVisible();
  });

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
