import type { FailureCodes } from '#src/lib/errorCode.ts';
import { errorCodes } from '#src/net/contract.ts';
import { cryptoApiErrorCodes } from '#workers/api/errors.ts';

// These are records, so that a code which the page adds or drops fails to compile here.
const pageCodes: Readonly<Record<FailureCodes['page'], true>> = {
  cancelled: true,
  'consent-missing': true,
  'damaged-file': true,
  internal: true,
  'invalid-email': true,
  'invalid-username': true,
  'members-in-doubt': true,
  network: true,
  'no-device': true,
  'request-failed': true,
  'session-ended': true,
  'storage-erased': true,
};
const networkCodes: Readonly<Record<Exclude<FailureCodes['net'], (typeof errorCodes)[number]>, true>> = {
  'invalid-response': true,
  unreachable: true,
  timeout: true,
};

const codes: ReadonlySet<string> = new Set([
  ...Object.keys(pageCodes),
  ...Object.keys(networkCodes),
  ...errorCodes,
  ...cryptoApiErrorCodes,
]);

/** The code of a failure that a person may be shown; null for one that has none of the closed set, or is a bug. */
export function codeOf(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
  return typeof code === 'string' && code !== 'internal' && codes.has(code) ? code : null;
}
