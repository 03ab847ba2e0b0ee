import type { FailureCode } from '../lib/errorCode.ts';
import type { MessageId } from './catalogue.ts';

/** Texts for names that are refused, by the code of the failure. */
export const nameProblems = {
  'invalid-username': { field: 'username', text: 'errors.invalidUsername' },
  'username-taken': { field: 'username', text: 'errors.usernameTaken' },
  'invalid-email': { field: 'email', text: 'errors.invalidEmail' },
  'email-taken': { field: 'email', text: 'errors.emailTaken' },
} as const satisfies Partial<Record<FailureCode, { field: string; text: MessageId }>>;
