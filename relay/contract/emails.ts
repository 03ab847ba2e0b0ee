import * as z from 'zod/mini';
import { Profile } from './account.ts';
import { defineRoute } from './route.ts';

/**
 * Emails are verified where the operator has set a mail server: a code is mailed to the address, and comes back by the
 * session. Elsewhere these calls answer `not-found`.
 *
 * A door of its own, `@sinetti/relay/contract/emails`: a client loads it once there is an address to verify.
 */

/** The digits of a code that is mailed. */
export const emailCodeLength = 8;
export const emailCodePattern = new RegExp(`^\\d{${emailCodeLength}}$`);

/** Mails a new code, in the place of the former, to the address that is to be verified. `not-found` if there is none. */
export const sendEmailCode = defineRoute({
  method: 'POST',
  paths: ['/users/me/email/code'],
  access: 'session',
  status: 204,
  errors: ['not-found'],
});

/**
 * Verifies the address that the code was mailed to; one that waits to replace the email takes its place. `too-many-tries`
 * and `code-expired` stay until a new code is asked for; `email-taken` is told to who has proven that the address is theirs.
 */
export const confirmEmail = defineRoute({
  method: 'POST',
  paths: ['/users/me/email/confirm'],
  access: 'session',
  body: z.object({ code: z.string().check(z.regex(emailCodePattern, 'not eight digits')) }),
  status: 200,
  response: Profile,
  errors: ['not-found', 'wrong-code', 'code-expired', 'too-many-tries', 'email-taken'],
});

/** Forgets the address that waits to replace the email. */
export const cancelEmailChange = defineRoute({
  method: 'DELETE',
  paths: ['/users/me/email/pending'],
  access: 'session',
  status: 204,
  errors: ['not-found'],
});
