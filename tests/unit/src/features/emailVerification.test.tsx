import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EditProfileForm } from '#src/features/profile/EditProfileForm.tsx';
import { EmailVerificationForm } from '#src/features/profile/EmailVerificationForm.tsx';
import { activateLocale } from '#src/i18n/i18n.ts';
import { AppError } from '#src/lib/appError.ts';
import type { AppActions } from '#src/store/actions.ts';
import type { EmailVerification } from '#src/store/emailVerification.ts';
import { aino, createWorld } from '../support/app.tsx';

afterEach(() => activateLocale('en'));

const unverified: EmailVerification = { isVerified: false, pending: null };
const pending: EmailVerification = { isVerified: true, pending: 'new@example.fi' };

async function shown(state: EmailVerification | null, answer?: AppActions['updateEmailVerification']) {
  const world = createWorld();
  const onDone = vi.fn<() => void>();
  world.actions.updateEmailVerification.mockImplementation(async (change) =>
    change === undefined || answer === undefined ? state : answer(change),
  );
  const user = world.show(<EmailVerificationForm onDone={onDone} />);
  await waitFor(() => expect(world.actions.updateEmailVerification).toHaveBeenCalledOnce());
  await act(async () => undefined);
  return { ...world, onDone, user };
}

const code = () => screen.getByLabelText('Code from the mail');
const verify = () => screen.getByRole('button', { name: 'Verify' });

describe('an email', () => {
  it.each([
    ['is not verified by this relay', null],
    ['is verified', { isVerified: true, pending: null }],
  ])('that %s is asked nothing about', async (_what, state) => {
    await shown(state);
    expect(screen.queryByRole('form')).toBeNull();
  });

  it('of which the relay can’t be asked is asked nothing about', async () => {
    const world = createWorld();
    world.actions.updateEmailVerification.mockRejectedValue(new AppError('unreachable', 'No connection.'));
    world.show(<EmailVerificationForm onDone={() => undefined} />);
    await waitFor(() => expect(world.actions.updateEmailVerification).toHaveBeenCalledOnce());
    await act(async () => undefined);
    expect(screen.queryByRole('form')).toBeNull();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('that is not verified yet says so, and what that means', async () => {
    await shown(unverified);
    expect(screen.getByRole('form', { name: 'Email not verified yet' })).toBeVisible();
    expect(
      screen.getByText(/^Type the code that was mailed to aino@example\.fi/, { exact: false }),
    ).toBeVisible();
    expect(code()).toBeRequired();
    expect(code()).toHaveAttribute('autocomplete', 'one-time-code');
    expect(screen.queryByRole('button', { name: 'Keep the present email' })).toBeNull();
  });

  it('says the same in Finnish', async () => {
    await activateLocale('fi');
    await shown(unverified);
    expect(screen.getByRole('form', { name: 'Sähköpostia ei ole vielä vahvistettu' })).toBeVisible();
    expect(screen.getByRole('button', { name: 'Lähetä uudelleen' })).toBeVisible();
  });

  it('is verified by the code, with the keyboard alone, and is asked about no more', async () => {
    const { actions, onDone, toasts, user } = await shown(unverified, async () => ({
      isVerified: true,
      pending: null,
    }));
    await user.type(code(), '1234 5678{Enter}');
    expect(actions.updateEmailVerification).toHaveBeenLastCalledWith({ code: '1234 5678' });
    await waitFor(() => expect(screen.queryByRole('form')).toBeNull());
    expect(toasts()).toEqual(['success: Your email is verified']);
    expect(onDone).toHaveBeenCalledOnce();
  });

  it('waits for one answer at a time, and says which', async () => {
    let answer = (_state: EmailVerification) => undefined as unknown;
    const { actions, user } = await shown(unverified, () => new Promise((resolve) => (answer = resolve)));
    await user.type(code(), '12345678{Enter}');
    expect(screen.getByRole('button', { name: 'Verifying...' })).toBeDisabled();
    expect(screen.getByRole('button', { name: 'Send again' })).toBeDisabled();
    await user.type(code(), '{Enter}');
    expect(actions.updateEmailVerification).toHaveBeenCalledTimes(2);
    await act(async () => answer({ isVerified: true, pending: null }));
  });
});

describe('a code', () => {
  it.each([
    ['wrong-code', 'This is not the code that was mailed last. It has eight digits.'],
    ['code-expired', 'This code is too old. Have another one sent.'],
    ['too-many-tries', 'Too many wrong codes. Have another one sent.'],
    ['rate-limited', 'This was tried too often. Please try again later.'],
    ['email-taken', 'This email is already registered.'],
  ] as const)('that is refused says why at its field: %s', async (failure, sentence) => {
    const { onDone, user } = await shown(unverified, async () => {
      throw new AppError(failure, 'Said in English by the relay.');
    });
    await user.type(code(), '12345678');
    await user.click(verify());
    await waitFor(() => expect(code()).toHaveAccessibleDescription(sentence));
    expect(code()).toBeInvalid();
    expect(code()).toHaveFocus();
    expect(code()).toHaveValue('12345678');
    expect(verify()).toBeEnabled();
    expect(onDone).not.toHaveBeenCalled();
  });

  it('that could not be brought says so, and can be brought again', async () => {
    const { user } = await shown(unverified, async () => {
      throw new AppError('unreachable', '');
    });
    await user.type(code(), '12345678');
    await user.click(verify());
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'This could not be done. Please check your connection and try again.',
    );
    expect(verify()).toBeEnabled();
  });

  it('is sent again, which is said to who hears the page, and ends with what was typed', async () => {
    const { actions, user } = await shown(unverified, async () => unverified);
    await user.type(code(), '1234');
    await user.click(screen.getByRole('button', { name: 'Send again' }));
    expect(actions.updateEmailVerification).toHaveBeenLastCalledWith('send');
    const said = await screen.findByText('A new code is on its way to aino@example.fi.');
    expect(said).toHaveRole('status');
    expect(code()).toHaveValue('');
  });
});

describe('an email that is to replace another', () => {
  it('is shown with the way back', async () => {
    const { actions, onDone, user } = await shown(pending, async () => ({ ...pending, pending: null }));
    expect(screen.getByText(/^new@example\.fi takes the place of your email/)).toBeVisible();
    expect(screen.queryByText('Email not verified yet')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Keep the present email' }));
    expect(actions.updateEmailVerification).toHaveBeenLastCalledWith('cancel');
    await waitFor(() => expect(screen.queryByRole('form')).toBeNull());
    expect(onDone).toHaveBeenCalledOnce();
  });

  it('leaves the present one to be verified, with the focus at its code, when it is taken back', async () => {
    const { onDone, user } = await shown({ ...pending, isVerified: false }, async () => unverified);
    await user.click(screen.getByRole('button', { name: 'Keep the present email' }));
    expect(await screen.findByText('Email not verified yet')).toBeVisible();
    expect(code()).toHaveFocus();
    expect(onDone).not.toHaveBeenCalled();
  });

  it('is said to wait for its code where it was typed', async () => {
    const world = createWorld();
    const user = world.show(<EditProfileForm user={aino} onDone={() => undefined} />);
    await user.clear(screen.getByLabelText('Email'));
    await user.type(screen.getByLabelText('Email'), 'new@example.fi{Enter}');
    await waitFor(() => expect(world.toasts()).toEqual(['success: A code is on its way to the new email']));
  });
});
