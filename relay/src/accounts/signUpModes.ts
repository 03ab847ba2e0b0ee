import { createHash } from 'node:crypto';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { signUpMode, takeInvitation } from '../repositories/signUp.ts';

/** The form in which an invitation's code is stored. @param code base64url of 16 random bytes, which no list of guesses holds */
export const codeHash = (code: string): string => createHash('sha256').update(code).digest('hex');

/**
 * Lets one account in, and counts it where invitations are asked for. To be called in the transaction that makes the account.
 * @throws ApiError sign-up-closed, invitation-refused
 */
export async function takeIn(tx: Db, invitation: string | undefined, now: number): Promise<void> {
  const mode = await signUpMode(tx);
  if (mode === 'closed') throw closed();
  if (mode === 'open') return;
  if (invitation === undefined || !(await takeInvitation(tx, codeHash(invitation), now))) throw refused();
}

const closed = () => new ApiError('sign-up-closed', 'This server takes no new accounts at the moment.');
const refused = () =>
  new ApiError(
    'invitation-refused',
    'Signing up takes an invitation that has neither been used nor expired.',
  );
