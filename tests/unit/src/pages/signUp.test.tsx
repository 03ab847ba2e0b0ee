import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import type { AppActions } from '#src/store/actions.ts';
import { createWorld } from '../support/app.tsx';
import { openApp } from '../support/openApp.tsx';

const code = 'aW52aXRhdGlvbiBjb2RlIQ';

function open(mode: AppActions['signUpMode'], path = '/signup') {
  const world = createWorld({ signedIn: false });
  world.actions.signUpMode.mockImplementation(mode);
  openApp(world.store, path);
  return { ...world, user: userEvent.setup() };
}

const form = () => screen.queryByRole('form', { name: 'Create your account' });

describe('the page to sign up', () => {
  it('shows its form before the server has said who can, where it does not say, and where anybody can', async () => {
    const never = open(() => new Promise(() => undefined));
    await waitFor(() => expect(form()).toBeVisible());
    expect(never.actions.signUp).not.toHaveBeenCalled();
  });

  it.each([
    ['fails to say who can', async () => Promise.reject(new AppError('unreachable', 'Away.'))],
    ['lets anybody in', async () => 'open' as const],
  ])('shows its form where the server %s', async (_what, mode) => {
    const { actions } = open(mode);
    await waitFor(() => expect(actions.signUpMode).toHaveBeenCalled());
    expect(form()).toBeVisible();
    expect(screen.queryByText(/invitation/)).toBeNull();
  });

  it('says in the place of its form that nobody can, with an invitation neither', async () => {
    open(async () => 'closed', `/signup#invitation=${code}`);
    const sentence = 'This server takes no new accounts at the moment. If you have one, log in.';
    expect(await screen.findByText(sentence)).toBeVisible();
    expect(form()).toBeNull();
    expect(screen.getByRole('link', { name: 'Log in' })).toBeVisible();
  });

  it.each(['/signup', '/signup#invitation=short', `/signup#invitation=${code}%20`])(
    'asks for an invitation where there is none: %s',
    async (path) => {
      open(async () => 'invitation', path);
      expect(await screen.findByText(/^Signing up here takes an invitation/)).toBeVisible();
      expect(form()).toBeNull();
    },
  );

  it('sends the code that its link brings', async () => {
    const { actions, user } = open(async () => 'invitation', `/signup#invitation=${code}`);
    expect(await screen.findByText('You come with an invitation.')).toBeVisible();
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Email'), 'aino@example.fi');
    await user.type(screen.getByLabelText('Password'), 'four words or more');
    await user.click(screen.getByRole('checkbox'));
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(actions.signUp).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ invitation: code }));
  });
});
