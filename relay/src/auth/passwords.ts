import { createHmac, randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { PasswordParams } from '../../contract/index.ts';

/**
 * OWASP's second choice (19 MiB, 2 passes), in KiB. What is hashed is the authKey, 32 bytes that have already cost
 * the client a far larger Argon2id; this one keeps a stolen database from being a list of log-in keys.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The parameters that clients use today, so a decoy must claim them. `memLimit` in bytes. */
const usualParams = { opsLimit: 3, memLimit: 134_217_728 };

export interface Passwords {
  /**
   * @param authKey base64url
   * @returns the PHC string of an Argon2id hash; the salt is random
   */
  hash(authKey: string): Promise<string>;
  /** @param hash null for an unknown name: that takes as long as a wrong password, and is false */
  verify(hash: string | null, authKey: string): Promise<boolean>;
  /**
   * Parameters for a name that nobody has: always the same for that name, as a real one's would be.
   * @param nameKey the name as `nameKey` made it
   */
  decoyParams(nameKey: string): PasswordParams;
  /**
   * A digest that stands for the account of a name that nobody has, where guesses at the name are counted.
   */
  decoyUserId(nameKey: string): string;
}

export async function createPasswords(decoySecret: Uint8Array): Promise<Passwords> {
  // The key is hashed as text, not as the bytes it encodes: the library's verify takes UTF-8 only.
  const hashAuthKey = (authKey: string) => hash(authKey, cost);
  const unknownHash = await hashAuthKey(randomBytes(32).toString('base64url'));

  const digest = (use: string, nameKey: string) =>
    createHmac('sha256', decoySecret).update(`${use}\0`).update(nameKey).digest().subarray(0, 16);

  return {
    hash: hashAuthKey,

    async verify(storedHash, authKey) {
      const matches = await verify(storedHash ?? unknownHash, authKey);
      return matches && storedHash !== null;
    },

    decoyParams: (nameKey) => ({
      salt: digest('password salt', nameKey).toString('base64url'),
      ...usualParams,
    }),

    decoyUserId: (nameKey) => digest('user id', nameKey).toString('base64url'),
  };
}
