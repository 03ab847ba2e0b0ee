import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RateLimiter, Share } from '../rateLimits/rateLimiter.ts';

/** One try at proving a password. */
export interface LoginAttempt {
  /** The account, or for a name that nobody has a digest of it: both are throttled alike. */
  readonly subject: string;
  /** The address as `clientAddress` returns it. */
  readonly address: string;
  /** The proof from the browser's last log-in, or whatever was sent in its place; base64url. */
  readonly loginProof: string | undefined;
  /** The kinds are counted apart: guesses at a recovery key must not keep anybody from logging in. */
  readonly kind: 'login' | 'recovery' | 'password-change' | 'proof';
}

/**
 * Slows down guessing without letting a guesser lock anybody out.
 *
 * Guesses are counted by address, by address and account, and, since guessers have many addresses, by account. The last
 * count is what could be turned against its owner, so it is of strangers alone: a browser that has logged in to the
 * account before holds a login proof and is counted by that proof and nothing else. However many guess, it gets in.
 * Only guesses count: what a successful attempt took is given back.
 *
 * A proof opens nothing; it buys its holder a few guesses at one account. It names neither the account nor the browser
 * to anybody but this relay, which stores nothing of it.
 */
export interface LoginThrottle {
  /** A proof for a browser that has just proven the account's password; base64url of 48 bytes. */
  proofFor(userId: string): string;
  /**
   * @param check whether the password is right; not called if there have been too many guesses
   * @returns what `check` did
   * @throws ApiError rate-limited
   */
  attempt(attempt: LoginAttempt, check: () => Promise<boolean>): Promise<boolean>;
}

const nonceLength = 16;

export function createLoginThrottle(rateLimiter: RateLimiter, jwtSecret: Uint8Array): LoginThrottle {
  const key = Buffer.from(hkdfSync('sha256', jwtSecret, '', 'sinetti login proof', 32));
  const macOf = (nonce: Uint8Array, subject: string) =>
    createHmac('sha256', key).update(nonce).update(subject).digest();

  /** The name of the bucket that a genuine proof for this account has. */
  const proven = ({ loginProof, subject }: LoginAttempt): string | null => {
    const bytes = Buffer.from(loginProof ?? '', 'base64url');
    const nonce = bytes.subarray(0, nonceLength);
    const mac = bytes.subarray(nonceLength);
    const expected = macOf(nonce, subject);
    return mac.length === expected.length && timingSafeEqual(mac, expected)
      ? nonce.toString('base64url')
      : null;
  };

  return {
    proofFor(userId) {
      const nonce = randomBytes(nonceLength);
      return Buffer.concat([nonce, macOf(nonce, userId)]).toString('base64url');
    },

    async attempt(attempt, check) {
      const { address, kind } = attempt;
      const subject = `${kind} ${attempt.subject}`;
      const browser = proven(attempt);
      const byAddress: Share[] = [
        ['login.address-account', `${address} ${subject}`],
        ['login.address', address],
      ];
      // A recovery key is 256 random bits. Nobody guesses those, so nothing is counted that strangers could use up.
      const ofStranger: Share[] =
        kind === 'recovery' ? byAddress : [...byAddress, ['login.account', subject]];
      const shares: Share[] = browser === null ? ofStranger : [['login.browser', browser]];
      await rateLimiter.take(...shares);
      const matches = await check();
      if (matches) await rateLimiter.giveBack(...shares);
      return matches;
    },
  };
}
