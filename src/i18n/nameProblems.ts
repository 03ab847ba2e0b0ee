import type { MessageId } from './catalogue.ts';

/** What is wrong with a name that somebody wants to go by, by the code of the failure that says so. */
export const nameProblems = {
  'invalid-username': { field: 'username', text: 'errors.invalidUsername' },
  'username-taken': { field: 'username', text: 'errors.usernameTaken' },
  'invalid-email': { field: 'email', text: 'errors.invalidEmail' },
  'email-taken': { field: 'email', text: 'errors.emailTaken' },
} as const satisfies Record<string, { field: string; text: MessageId }>;
