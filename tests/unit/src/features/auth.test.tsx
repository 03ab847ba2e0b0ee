import { act, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { LoginForm } from '#src/features/auth/LoginForm.tsx';
import { SignUpForm } from '#src/features/auth/SignUpForm.tsx';
import { AppError } from '#src/lib/appError.ts';
import { authErrorAtom, authProgressAtom } from '#src/store/session.ts';
import { createWorld } from '../support/app.tsx';

const never = () => new Promise<void>(() => undefined);

describe('logging in', () => {
  it('sends what was typed, the name trimmed and the password untouched', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const user = show(<LoginForm />);
    await user.type(screen.getByLabelText('Username'), ' aino@example.fi ');
    await user.type(screen.getByLabelText('Password'), ' four words or more ');
    await user.click(screen.getByRole('button', { name: 'Log In' }));
    expect(actions.logIn).toHaveBeenCalledExactlyOnceWith({
      identifier: 'aino@example.fi',
      password: ' four words or more ',
    });
  });

  it('sends nothing while a field is empty', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const user = show(<LoginForm />);
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.click(screen.getByRole('button', { name: 'Log In' }));
    expect(actions.logIn).not.toHaveBeenCalled();
  });

  it('shows its progress and takes no second click', async () => {
    const { store, actions, show } = createWorld({ signedIn: false });
    actions.logIn.mockImplementation(never);
    const user = show(<LoginForm />);
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    act(() => store.set(authProgressAtom, 'deriving-keys'));
    expect(screen.getByRole('button', { name: 'Logging in...' })).toBeDisabled();
    expect(screen.getByRole('status')).toHaveTextContent('Deriving your keys');
    await user.type(screen.getByLabelText('Password'), '{Enter}');
    expect(actions.logIn).toHaveBeenCalledOnce();
  });

  it('stays busy after success, until the dashboard takes its place', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const user = show(<LoginForm />);
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    await waitFor(() => expect(actions.logIn).toHaveBeenCalledOnce());
    await act(async () => undefined);
    expect(screen.getByRole('button', { name: 'Logging in...' })).toBeDisabled();
  });

  it.each([
    [new AppError('rate-limited', 'Too many attempts. Wait a minute.'), 'Too many attempts. Wait a minute.'],
    [new TypeError('x is undefined'), 'Failed to log in. Please check your credentials.'],
  ])('shows %s as a sentence and keeps what was typed', async (error, sentence) => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.logIn.mockRejectedValue(error);
    const user = show(<LoginForm />);
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Password'), 'wrong{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent(sentence);
    expect(screen.getByLabelText('Username')).toHaveValue('aino');
  });

  it('says that a session has expired', () => {
    const { store, show } = createWorld({ signedIn: false });
    store.set(authErrorAtom, 'Session expired. Please login again.');
    show(<LoginForm />);
    expect(screen.getByRole('alert')).toHaveTextContent('Session expired. Please login again.');
  });

  it('shows the password on request', async () => {
    const { show } = createWorld({ signedIn: false });
    const user = show(<LoginForm />);
    const password = screen.getByLabelText('Password');
    expect(password).toHaveAttribute('type', 'password');
    await user.click(screen.getByRole('button', { name: 'Show password' }));
    expect(password).toHaveAttribute('type', 'text');
  });
});

describe('signing up', () => {
  async function fill(user: ReturnType<ReturnType<typeof createWorld>['show']>) {
    await user.type(screen.getByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Email'), 'aino@example.fi');
    await user.type(screen.getByLabelText('Password'), 'secret');
  }

  it('sends nothing while a field is empty or the email is invalid', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const user = show(<SignUpForm onBusyChange={vi.fn<(busy: boolean) => void>()} />);
    await fill(user);
    await user.click(screen.getByRole('checkbox'));
    for (const [field, wrong] of [
      ['Username', ''],
      ['Email', ''],
      ['Email', 'aino'],
      ['Password', ''],
    ] as const) {
      const input = screen.getByLabelText<HTMLInputElement>(field);
      const { value } = input;
      await user.clear(input);
      if (wrong !== '') await user.type(input, wrong);
      await user.click(screen.getByRole('button', { name: 'Sign Up' }));
      expect(actions.signUp).not.toHaveBeenCalled();
      await user.clear(input);
      await user.type(input, value);
    }
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(actions.signUp).toHaveBeenCalledOnce();
  });

  it('sends nothing without consent and says why', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const user = show(<SignUpForm onBusyChange={vi.fn<(busy: boolean) => void>()} />);
    await fill(user);
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    const consentMissing = 'You must accept the Privacy Policy to create an account.';
    expect(screen.getByText(consentMissing)).toBeVisible();
    expect(actions.signUp).not.toHaveBeenCalled();

    await user.click(screen.getByRole('checkbox'));
    expect(screen.queryByText(consentMissing)).toBeNull();
  });

  it('sends the account with the consent, says so, and is busy until that could be read', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    const onBusyChange = vi.fn<(busy: boolean) => void>();
    const user = show(<SignUpForm onBusyChange={onBusyChange} />);
    await fill(user);
    await user.click(screen.getByRole('checkbox'));
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(actions.signUp).toHaveBeenCalledExactlyOnceWith({
      username: 'aino',
      email: 'aino@example.fi',
      password: 'secret',
      privacyConsent: true,
    });
    expect(await screen.findByRole('status')).toHaveTextContent(
      'Account created successfully! Redirecting to dashboard...',
    );
    expect(onBusyChange).toHaveBeenLastCalledWith(true);
    await waitFor(() => expect(onBusyChange).toHaveBeenLastCalledWith(false));
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
  ] as const)('says at its field that it is %s, each time', async (code, label, text) => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.signUp.mockRejectedValue(new AppError(code, 'In the words of the server.'));
    const user = show(<SignUpForm onBusyChange={vi.fn<(busy: boolean) => void>()} />);
    await fill(user);
    await user.click(screen.getByRole('checkbox'));
    const field = screen.getByLabelText(label);
    for (const time of [1, 2]) {
      await user.click(screen.getByRole('button', { name: 'Sign Up' }));
      await waitFor(() => expect(actions.signUp).toHaveBeenCalledTimes(time));
      await waitFor(() => expect(field).toHaveAccessibleDescription(text));
      expect(field).toBeInvalid();
      await waitFor(() => expect(field).toHaveFocus());
    }
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('shows the refusal and gives the form back', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.signUp.mockRejectedValue(
      new AppError('rate-limited', 'Too many requests. Please wait a moment.'),
    );
    const onBusyChange = vi.fn<(busy: boolean) => void>();
    const user = show(<SignUpForm onBusyChange={onBusyChange} />);
    await fill(user);
    await user.click(screen.getByRole('checkbox'));
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('Too many requests. Please wait a moment.');
    expect(screen.getByRole('button', { name: 'Sign Up' })).toBeEnabled();
    expect(screen.getByLabelText('Email')).toHaveValue('aino@example.fi');
    expect(onBusyChange).toHaveBeenLastCalledWith(false);
  });

  it('is busy while the account is made', async () => {
    const { actions, show } = createWorld({ signedIn: false });
    actions.signUp.mockImplementation(never);
    const user = show(<SignUpForm onBusyChange={vi.fn<(busy: boolean) => void>()} />);
    await fill(user);
    await user.click(screen.getByRole('checkbox'));
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(screen.getByRole('button', { name: 'Creating account...' })).toBeDisabled();
  });

  it('opens the policy in a new tab', () => {
    const { show } = createWorld({ signedIn: false });
    show(<SignUpForm onBusyChange={vi.fn<(busy: boolean) => void>()} />);
    const link = screen.getByRole('link', { name: /Privacy Policy/ });
    expect(link).toHaveAttribute('href', '/privacy-policy');
    expect(link).toHaveAttribute('target', '_blank');
  });
});
