export const sessionTexts = {
  logout: 'Logout',
  loggingOut: 'Logging out...',
  moreOptions: 'More logout options',
  logOut: 'Log out',
  logOutAndErase: 'Log out and erase this browser',
  eraseTitle: 'Erase this browser?',
  eraseConfirm: 'Log out and erase',
  eraseBody:
    'This removes your messages and keys from this browser. Nothing changes in your other browsers, and your account stays.',
  eraseWarning:
    'When you log in here again, this browser starts as a new device: messages sent before that cannot be read on it.',
  logoutFailed: 'This browser could not be logged out. Please try again.',
  connectionError: 'Connection error. Please check your internet connection or try logging in again.',
  reLogin: 'Re-login',
} as const;
