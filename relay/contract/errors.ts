import * as z from 'zod/mini';
import { Epoch, intFrom } from './primitives.ts';

/** The closed set of error codes. One code always comes with the same HTTP status. */
export const errorStatus = {
  'invalid-request': 422,
  /** The body can't be read as what its media type says. */
  malformed: 400,
  'unsupported-media-type': 415,
  'payload-too-large': 413,
  unauthenticated: 401,
  'session-expired': 401,
  /** The session ended because the device that it was bound to was revoked. */
  'device-revoked': 401,
  /** The session ended because the account has got a new password in another session. */
  'password-changed': 401,
  /** The session ended because the data of its device was found in two places. */
  'device-copied': 401,
  /** The operator has suspended the account: its sessions have ended, and none is opened. */
  'account-suspended': 401,
  'wrong-credentials': 401,
  'device-required': 403,
  'not-a-contact': 403,
  /** Somebody to add wants to be asked first, and has not accepted. */
  'asked-first': 403,
  'wrong-password': 403,
  /** The code that was mailed is another one. */
  'wrong-code': 403,
  /** The code that was mailed is too old. */
  'code-expired': 403,
  /** The code that was mailed has ended, because too many wrong ones were tried. */
  'too-many-tries': 403,
  /** No proof was sent, or the account has no such key. */
  'proof-required': 403,
  /** The proof is of another request, session, key or state of the vault, or was used, or is too old. */
  'proof-refused': 403,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  /** The operator lets nobody sign up. */
  'sign-up-closed': 403,
  /** Signing up takes an invitation, and there was none, or it is used up, expired or revoked. */
  'invitation-refused': 403,
  /** The letters of the username are of several scripts. */
  'invalid-username': 422,
  'username-taken': 409,
  'email-taken': 409,
  'already-contacts': 409,
  'request-exists': 409,
  'stale-epoch': 409,
  'stale-version': 409,
  'device-conflict': 409,
  /** The message names another start of the device than it has registered last. */
  'another-start': 409,
  /** Nodes of a ratchet tree are not stored: all of them are to be put once more. */
  'missing-tree': 409,
  'message-id-taken': 409,
  'group-exists': 409,
  'already-member': 409,
  'limit-reached': 409,
  /** As much is stored for one person, theirs or somebody else's, as the relay keeps for one: `quota` says of what. */
  quota: 413,
  'rate-limited': 429,
  'storage-full': 507,
  unavailable: 503,
  internal: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;
export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

/** The quotas that one person has. A type alone, which weighs nothing in the client. */
export type QuotaOf =
  | 'messages'
  | 'entries'
  | 'welcomes'
  | 'group-infos'
  | 'key-packages'
  | 'history'
  | 'blobs'
  | 'uploads'
  | 'groups'
  | 'requests';

/** The body of every answer that is not a success. */
export const ErrorBody = z
  .object({
    /** A sentence for a person; with `invalid-request` for who writes a client: which field is wrong, and how. */
    detail: z.string(),
    code: z.enum(errorCodes),
    /** With `stale-epoch`: the conversation's current epoch. */
    epoch: z.optional(Epoch),
    /** With `stale-version`: what the relay has, the vault's or account state's version or the signed name's revision. */
    version: z.optional(z.int()),
    /** With `device-conflict`: the data of this device was found in two places. */
    copied: z.optional(z.boolean()),
    /** With `quota`: what there is as much of as may be. */
    quota: z.optional(z.string()),
    /** With `rate-limited`: seconds to wait, as the Retry-After header says. */
    retryAfter: z.optional(intFrom(1)),
  })
  .register(z.globalRegistry, { id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;
