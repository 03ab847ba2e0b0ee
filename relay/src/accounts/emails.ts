import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { emailCodeLength } from '../../contract/emails.ts';
import type { Db } from '../db/tables.ts';
import { errorCode } from '../errorCode.ts';
import { ApiError } from '../errors.ts';
import type { Mailer } from '../mail/mailer.ts';
import { codeTextsOf, takenTexts } from '../mail/texts.ts';
import type { RateLimiter } from '../rateLimits/rateLimiter.ts';
import { sharesOf } from '../rateLimits/routeQuotas.ts';
import type { Hub } from '../realtime/hub.ts';
import * as rows from '../repositories/emailCodes.ts';
import { findByEmail, findUser, lockUsers, setVerifiedEmail, type UserRow } from '../repositories/users.ts';
import { acquaintancesOf, tellAcquaintances } from './acquaintances.ts';
import { nameKey } from './names.ts';

/** Milliseconds for which a code is good. */
export const emailCodeLifetime = 60 * 60 * 1000;

/** Milliseconds after the end of its last code for which an address waits to replace an email. */
export const pendingEmailLifetime = 7 * 24 * 60 * 60 * 1000;

/** Wrong tries that end a code. */
export const emailCodeTries = 5;

/** The state of an account's email, where emails are verified. */
export interface EmailState {
  readonly email_verified?: boolean;
  readonly pending_email?: string;
}

export interface ConfirmedEmail {
  readonly user: UserRow;
  /** The account as it was, if it has another email now; null if the one that it had is verified. */
  readonly before: UserRow | null;
}

/** Verifies emails by codes that are mailed to them. Without a mail server it does nothing, and answers `not-found`. */
export interface Emails {
  /** True where the operator has set a mail server. */
  readonly verifies: boolean;
  /** Empty where emails aren't verified. */
  stateOf(user: UserRow): Promise<EmailState>;
  /** Mails a code to a new account, unless as many were mailed to that address today. */
  welcome(user: UserRow): Promise<void>;
  /** Counts a change to another email. @throws ApiError rate-limited */
  takeTurn(userId: string, email: string, address: string): Promise<void>;
  /**
   * Keeps another email beside the one of the account until its code comes back. The answer tells nothing of whether it is
   * somebody else's: the mail does, which goes to whoever that is.
   */
  propose(user: UserRow, email: string): Promise<void>;
  /** Mails a code anew. @throws ApiError not-found if there is nothing to verify; rate-limited */
  sendCode(userId: string): Promise<void>;
  /**
   * Verifies the address that the code was mailed to.
   * @throws ApiError not-found, wrong-code, code-expired, too-many-tries; email-taken if it is somebody else's by now
   */
  confirm(userId: string, code: string): Promise<ConfirmedEmail>;
  /** Forgets the email that waits to replace the account's. @throws ApiError not-found */
  cancel(userId: string): Promise<void>;
}

export interface EmailDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
  readonly jwtSecret: Uint8Array;
  /** Null where the operator has set no SMTP server. */
  readonly mailer: Mailer | null;
  readonly rateLimiter: Pick<RateLimiter, 'take' | 'wait'>;
}

export function createEmails({
  db,
  hub,
  clock,
  log,
  jwtSecret,
  mailer,
  rateLimiter,
}: EmailDependencies): Emails {
  const key = Buffer.from(hkdfSync('sha256', jwtSecret, '', 'sinetti email code', 32));
  const macOf = (...parts: readonly string[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  const shareOf = (email: string) => ['email-code.target', macOf(nameKey(email)).toString('hex')] as const;

  async function begin(user: UserRow, email: string): Promise<void> {
    const code = String(randomInt(10 ** emailCodeLength)).padStart(emailCodeLength, '0');
    const emailKey = nameKey(email);
    const codeHash = macOf(user.id, emailKey, code);
    await rows.putEmailCode(db, user.id, {
      email,
      emailKey,
      codeHash,
      expiresAt: clock() + emailCodeLifetime,
    });
    // Not awaited: the time of the answer would tell if somebody else has the address.
    void mail(user, email, code).catch(notMailed);
  }

  const notMailed = (error: unknown) =>
    log.warn({ code: errorCode(error) ?? 'unknown' }, 'email code not mailed');

  async function mail(user: UserRow, email: string, code: string): Promise<void> {
    const owner = await findByEmail(db, nameKey(email));
    const isTaken = owner !== null && owner.id !== user.id;
    mailer?.send(
      isTaken
        ? { to: owner.email, ...takenTexts(owner.username) }
        : { to: email, ...codeTextsOf(code, user.username) },
    );
  }

  /** The address that is to be verified: one that waits comes first. */
  async function unverifiedOf(user: UserRow): Promise<string | null> {
    const code = await rows.findEmailCode(db, user.id);
    if (code !== null && code.emailKey !== nameKey(user.email)) return code.email;
    return user.emailVerifiedAt === null ? user.email : null;
  }

  /** @throws ApiError not-found */
  function requireMailer(): void {
    if (mailer === null) throw nothingToVerify();
  }

  return {
    verifies: mailer !== null,

    async stateOf(user) {
      if (mailer === null) return {};
      const code = await rows.findEmailCode(db, user.id);
      const isPending = code !== null && code.emailKey !== nameKey(user.email);
      return {
        email_verified: user.emailVerifiedAt !== null,
        ...(isPending ? { pending_email: code.email } : {}),
      };
    },

    async welcome(user) {
      if (mailer === null) return;
      const shares = [['email-code.account', user.id] as const, shareOf(user.email)];
      for (const share of shares) if ((await rateLimiter.wait(share)) > 0) return;
      // The account is there, and a code can be asked for again.
      await begin(user, user.email).catch(notMailed);
    },

    takeTurn: (userId, email, address) =>
      rateLimiter.take(...sharesOf('email-code', userId, address), shareOf(email)),

    propose: begin,

    async sendCode(userId) {
      requireMailer();
      const user = await findUser(db, userId);
      const email = user === null ? null : await unverifiedOf(user);
      if (user === null || email === null) throw nothingToVerify();
      await rateLimiter.take(shareOf(email));
      await begin(user, email);
    },

    async confirm(userId, code) {
      requireMailer();
      const outcome = await db.transaction().execute(async (tx) => {
        await lockUsers(tx, [userId]);
        const former = await findUser(tx, userId);
        const known = await rows.findEmailCode(tx, userId);
        if (former === null || known === null) return 'not-found';
        if (known.wrongTries >= emailCodeTries) return 'too-many-tries';
        if (known.expiresAt <= clock()) return 'code-expired';
        if (!timingSafeEqual(macOf(userId, known.emailKey, code), known.codeHash)) {
          // The transaction ends well, so that the try counts.
          await rows.countWrongTry(tx, userId);
          return known.wrongTries + 1 < emailCodeTries ? 'wrong-code' : 'too-many-tries';
        }
        await rows.deleteEmailCode(tx, userId);
        const isChange = known.emailKey !== nameKey(former.email);
        if (isChange && (await findByEmail(tx, known.emailKey)) !== null) return 'email-taken';
        // In the case in which the account has it now.
        const email = isChange ? known.email : former.email;
        const emailVerifiedAt = clock();
        await setVerifiedEmail(tx, userId, { email, emailKey: known.emailKey, emailVerifiedAt });
        const user = { ...former, email, emailVerifiedAt };
        return { user, before: isChange ? former : null, acquaintances: await acquaintancesOf(tx, userId) };
      });
      if (typeof outcome === 'string') throw new ApiError(outcome, refusals[outcome]);
      const { acquaintances, before, user } = outcome;
      hub.publishToUsers([userId], { type: 'contacts', lists: ['contacts'] });
      tellAcquaintances(hub, acquaintances);
      return { user, before };
    },

    async cancel(userId) {
      requireMailer();
      await db.transaction().execute(async (tx) => {
        await lockUsers(tx, [userId]);
        const user = await findUser(tx, userId);
        const code = await rows.findEmailCode(tx, userId);
        if (user === null || code === null || code.emailKey === nameKey(user.email)) throw nothingToVerify();
        await rows.deleteEmailCode(tx, userId);
      });
    },
  };
}

const refusals = {
  'not-found': 'There is no address to verify.',
  'wrong-code': 'This is not the code that was mailed.',
  'code-expired': 'The code is too old. Ask for another one.',
  'too-many-tries': 'Too many wrong codes. Ask for another one.',
  'email-taken': 'This email is already registered.',
} as const;
const nothingToVerify = () => new ApiError('not-found', refusals['not-found']);
