/** Where the relay verifies emails: the state of the person's own. */
export interface EmailVerification {
  readonly isVerified: boolean;
  /** The email that replaces it once it is verified. */
  readonly pending: string | null;
}

/** Has a new code mailed, forgets the email that is pending, or brings the code that came. */
export type EmailVerificationChange = 'send' | 'cancel' | { readonly code: string };
