import type { AuthProgress } from '../../store/session.ts';

export const authTexts = {
  loginTitle: 'Log in',
  login: 'Log In',
  loggingIn: 'Logging in...',
  loginFailed: 'Failed to log in. Please check your credentials.',
  usernameHint: 'Your username or the email address of your account.',

  signUpTitle: 'Create your account',
  signUp: 'Sign Up',
  signingUp: 'Creating account...',
  signUpFailed: 'Failed to create account. Please try again.',
  signUpSucceeded: 'Account created successfully! Redirecting to dashboard...',
  consentMissing: 'You must accept the Privacy Policy to create an account.',
  passwordHint:
    'It also locks your keys and never leaves this browser. Nobody can reset it for you, so choose one you can keep.',
} as const;

/** What the person waits for. */
export const progressTexts: Record<AuthProgress, string> = {
  'deriving-keys': 'Deriving your keys from the password. This takes a moment on purpose.',
  'signing-in': 'Talking to the relay.',
  'opening-vault': 'Opening your vault.',
  'registering-device': 'Registering this browser as your device.',
  syncing: 'Fetching your conversations.',
};

/** Milliseconds that the success sentence stays before the dashboard. */
export const signUpRedirectDelay = 1200;
