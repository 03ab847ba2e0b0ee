import * as z from 'zod/mini';
import { AuthKey, PasswordParams, RotatedVault } from './account.ts';
import { limits } from './limits.ts';
import { base64Url, Id, intFrom } from './primitives.ts';
import { ProofKey } from './proofs.ts';
import { defineRoute } from './route.ts';

export const moveOn = defineRoute({
  method: 'PUT',
  paths: ['/users/me/account-key'],
  access: 'device',
  body: z.object({
    password: AuthKey,
    passwordParams: PasswordParams,
    passwordProofKey: ProofKey,
    /** Holds the new account key, and is sealed for no recovery key. */
    vault: z.extend(RotatedVault, { recoveryWrap: z.null() }),
    /** The Ed25519 public key that certifies the person's devices from then on. */
    accountKey: base64Url(32, 32),
    /** The former account key's statements for all devices that the person has. */
    revocations: z
      .array(z.object({ id: Id, statement: base64Url(limits.revocationMax) }))
      .check(z.minLength(1), z.maxLength(limits.devicesPerUser)),
  }),
  proof: {},
  status: 200,
  /** The vault's new version. */
  response: z.object({ version: intFrom(1) }),
  errors: ['stale-version', 'device-conflict', 'forbidden'],
  bodyLimit: 256 * 1024,
});
