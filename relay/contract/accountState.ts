import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { base64Url, intFrom } from './primitives.ts';
import { defineRoute } from './route.ts';

const SealedState = base64Url(limits.accountStateMax, 1);
const Segments = z
  .array(base64Url(limits.accountStateSegmentMax, 1))
  .check(z.maxLength(limits.accountStateSegments));

/**
 * The knowledge that a person's devices share, sealed under keys that the relay hasn't got, and signed by the device that has
 * written it; version 0 before the first. That of somebody who knows many people is in segments, which are sealed as well, and
 * whose hashes (SHA-256) the device has signed. Crypto-core's SPEC.md has the bytes.
 */
export const AccountState = z
  .object({ version: intFrom(0), sealed: z.nullable(SealedState), segments: Segments })
  .register(z.globalRegistry, { id: 'AccountState' });
export type AccountState = z.infer<typeof AccountState>;

const stateParts = ['sealed', 'segments'] as const;

export const getAccountState = defineRoute({
  method: 'GET',
  paths: ['/account-state'],
  access: 'device',
  status: 200,
  response: AccountState,
  responseParts: stateParts,
  errors: [],
});

export const putAccountState = defineRoute({
  method: 'PUT',
  paths: ['/account-state'],
  access: 'device',
  body: z.object({
    version: intFrom(0),
    sealed: SealedState,
    /** Segments that the relay hasn't got. It keeps the others that are signed, and forgets the rest. */
    segments: z.optional(Segments),
  }),
  bodyParts: stateParts,
  status: 200,
  response: z.object({ version: intFrom(1) }),
  errors: ['stale-version', 'forbidden'],
  bodyLimit: 12 * 1024 * 1024,
});
