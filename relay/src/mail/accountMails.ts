import type { Db } from '../db/tables.ts';
import type { RateLimiter } from '../rateLimits/rateLimiter.ts';
import { findUser } from '../repositories/users.ts';
import type { Mailer } from './mailer.ts';
import { type MailedChange, textsOf } from './texts.ts';

/** An account with the names that it has, or had when something was done to it. */
export interface Recipient {
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

/** Tells people by email of what changed who owns their account: a thief may have every device. */
export interface AccountMails {
  /** Returns to whom an account's mails go, to be asked before a change that takes the address away. Null without SMTP. */
  recipient(userId: string): Promise<Recipient | null>;
  /** Returns at once. Beyond the quota of mails of one account, nothing is sent: whose address it is, nobody has checked. */
  tell(recipient: Recipient | null, change: MailedChange): void;
}

export interface AccountMailDependencies {
  readonly db: Db;
  readonly clock: () => number;
  /** Null where the operator has set no SMTP server. */
  readonly mailer: Mailer | null;
  readonly rateLimiter: Pick<RateLimiter, 'wait'>;
}

export function createAccountMails({
  db,
  clock,
  mailer,
  rateLimiter,
}: AccountMailDependencies): AccountMails {
  async function send({ email, id, username }: Recipient, change: MailedChange, at: number): Promise<void> {
    if ((await rateLimiter.wait(['mail.account', id])) === 0)
      mailer?.send({ to: email, ...textsOf(change, username, at) });
  }

  return {
    recipient: async (userId) => (mailer === null ? null : findUser(db, userId)),

    tell(recipient, change) {
      if (recipient !== null) void send(recipient, change, clock());
    },
  };
}
