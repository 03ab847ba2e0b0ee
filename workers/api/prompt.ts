/**
 * The messages between the worker and its frame while an operation is confirmed: on the worker's own port, which the
 * page never has.
 */

/** The operations that take the password. The frame has a sentence for each, and asks for no other. */
export const operationKinds = [
  'accept-account-key',
  'accept-older-vault',
  'change-names',
  'change-password',
  'create-recovery-key',
  'delete-account',
  'delete-message-backup',
  'end-session',
  'mark-verified',
  'move-on',
  'renew-keys',
  'replace-recovery-key',
  'revoke-device',
  'unmark-verified',
] as const;
export type OperationKind = (typeof operationKinds)[number];

/** An operation that the person is asked to confirm with the password. */
export interface Operation {
  readonly kind: OperationKind;
  /** The name by which the person knows what it is done to; for `change-names` the new username, a space and the new email. */
  readonly target: string;
  /** The id of the device or the person that it is done to; null for an operation on the account. */
  readonly id: string | null;
}

/** The question that the frame asks the person. */
export interface Question {
  readonly kind: OperationKind;
  readonly target: string;
  /** For password managers. */
  readonly username: string;
  /** A recovery key to be kept before it is turned on: 14 groups of 4 characters, joined by hyphens. */
  readonly recoveryKey: string | null;
  /** The number of the account key in question, 60 digits: the worker's, whatever name the page gives. */
  readonly safetyNumber: string | null;
}

/** The answer that the person has typed. */
export interface Typed {
  readonly password: string;
  /** With `change-password` and `move-on`, typed twice alike. */
  readonly newPassword: string | null;
}

/** From the worker to its frame. */
export type PromptRequest =
  /** Asks a question, under a number that its answers have too. */
  | { readonly type: 'ask'; readonly number: number; readonly question: Question }
  /** The password was wrong: it is to be typed again. */
  | { readonly type: 'wrong-password' }
  /** Nothing is asked any more. */
  | { readonly type: 'answered' };

/** From the frame to its worker. */
export interface PromptAnswer {
  readonly type: 'answer';
  readonly number: number;
  /** Null when the person has called it off. */
  readonly typed: Typed | null;
}

/** Asks the person for the password, where no script of the page reads what is typed. */
export interface Prompt {
  /**
   * Asks, again and again while `attempt` rejects with `wrong-password`.
   * @returns what the attempt makes of what was typed
   * @throws CryptoApiError `cancelled`; `usage` while something else is asked
   */
  ask<T>(question: Question, attempt: (typed: Typed) => Promise<T>): Promise<T>;
}
