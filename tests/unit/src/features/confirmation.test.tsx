import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ConfirmPassword } from '#src/features/confirmation/ConfirmPassword.tsx';
import { AppError } from '#src/lib/appError.ts';
import { confirmationAtom, type Operation } from '#src/store/confirmation.ts';
import { createWorld } from '../support/app.tsx';

function ask(operation: Operation = { kind: 'revoke-device', target: 'Firefox on Linux' }) {
  const world = createWorld();
  world.actions.cancelConfirmation.mockImplementation(() => world.store.set(confirmationAtom, () => null));
  world.store.set(confirmationAtom, () => operation);
  return { ...world, user: world.show(<ConfirmPassword />) };
}

const password = () => screen.findByLabelText('Password');

describe('the dialog that asks for the password', () => {
  it.each([
    ['revoke-device', 'You remove the device Firefox from your account.'],
    ['delete-account', 'You delete the account Firefox.'],
    ['change-email', 'You change the email of your account to Firefox.'],
    ['mark-verified', 'You mark Firefox as verified.'],
    ['accept-account-key', 'You accept the new security key of Firefox.'],
  ] as const)('names the operation %s and its target', async (kind, sentence) => {
    ask({ kind, target: 'Firefox' });
    const form = await screen.findByRole('form', { name: 'Confirm with your password' });
    expect(form.textContent).toContain(sentence);
    expect(document.activeElement).toBe(await password());
  });

  it('gives the typed password to whoever asked', async () => {
    const { actions, user } = ask();
    await user.type(await password(), 'secret');
    await user.click(screen.getByRole('button', { name: 'Confirm' }));
    expect(actions.confirmPassword).toHaveBeenCalledExactlyOnceWith('secret');
  });

  it('says at the field that the password is wrong, until another one is typed', async () => {
    const { actions, user } = ask();
    actions.confirmPassword.mockRejectedValue(new AppError('wrong-password', 'This is not your password.'));
    await user.type(await password(), 'guess');
    await user.click(screen.getByRole('button', { name: 'Confirm' }));
    expect(await screen.findByText('This is not your password.')).toBeDefined();
    await user.type(await password(), 'x');
    expect(screen.queryByText('This is not your password.')).toBeNull();
  });

  it.each(['Cancel', 'Close'])('calls the operation off by %s', async (name) => {
    const { actions, user } = ask();
    await password();
    await user.click(screen.getByRole('button', { name }));
    expect(actions.cancelConfirmation).toHaveBeenCalledOnce();
    expect(screen.queryByLabelText('Password')).toBeNull();
  });
});
