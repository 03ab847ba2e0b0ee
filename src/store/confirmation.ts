import { sessionAtom } from './sessionAtom.ts';

/** The operations that take the password. */
export type OperationKind =
  | 'accept-account-key'
  | 'change-email'
  | 'create-recovery-key'
  | 'delete-account'
  | 'delete-message-backup'
  | 'mark-verified'
  | 'replace-recovery-key'
  | 'revoke-device'
  | 'unmark-verified';

/** An operation that the person is asked to confirm with the password. */
export interface Operation {
  readonly kind: OperationKind;
  /** What it is done to, by the name that the person knows it by. */
  readonly target: string;
}

/** The operation that waits for the password; null when none does. */
export const confirmationAtom = sessionAtom<Operation | null>(null);
