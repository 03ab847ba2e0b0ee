import type { Db } from '../db/tables.ts';
import { findUser } from '../repositories/users.ts';
import type { Mailer } from './mailer.ts';
import { type MailedChange, textsOf } from './texts.ts';

/** The names that an account has, or had when something was done to it. */
export interface Recipient {
  readonly username: string;
  readonly email: string;
}

/** Tells people by email of what changed who owns their account: a thief may have every device. */
export interface AccountMails {
  /** Returns to whom an account's mails go, to be asked before a change that takes the address away. Null without SMTP. */
  recipient(userId: string): Promise<Recipient | null>;
  tell(recipient: Recipient | null, change: MailedChange): void;
}

export interface AccountMailDependencies {
  readonly db: Db;
  readonly clock: () => number;
  /** Null where the operator has set no SMTP server. */
  readonly mailer: Mailer | null;
}

export function createAccountMails({ db, clock, mailer }: AccountMailDependencies): AccountMails {
  return {
    recipient: async (userId) => (mailer === null ? null : findUser(db, userId)),

    tell(recipient, change) {
      if (recipient === null) return;
      const { email, username } = recipient;
      mailer?.send({ to: email, ...textsOf(change, username, clock()) });
    },
  };
}
