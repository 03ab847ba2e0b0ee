import { cryptoApiErrorCodes } from './errors.ts';

/**
 * Every code with which a message can fail: the worker's own, and those of the page and the relay, which the worker only
 * keeps. The page's outbox doesn't compile while one that it can meet is missing.
 */
export const sendFailures = [
  ...cryptoApiErrorCodes,
  'already-contacts',
  'already-member',
  'another-start',
  'consent-missing',
  'device-conflict',
  'device-required',
  'device-revoked',
  'email-taken',
  'forbidden',
  'group-exists',
  'invalid-email',
  'invalid-request',
  'invalid-response',
  'invalid-username',
  'limit-reached',
  'malformed-json',
  'members-in-doubt',
  'message-id-taken',
  'method-not-allowed',
  'network',
  'no-device',
  'not-a-contact',
  'not-found',
  'password-changed',
  'payload-too-large',
  'proof-refused',
  'proof-required',
  'rate-limited',
  'request-exists',
  'request-failed',
  'session-ended',
  'session-expired',
  'stale-epoch',
  'stale-version',
  'storage-erased',
  'storage-full',
  'timeout',
  'unauthenticated',
  'unavailable',
  'unreachable',
  'unsupported-media-type',
  'username-taken',
  'wrong-credentials',
] as const;

export type SendFailure = (typeof sendFailures)[number];
