import * as z from 'zod/mini';
import { Id, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

/**
 * An operation that a person did with a proof. A `vault` that was replaced holds other marks of whom the person has verified; copies
 * of messages were deleted from a `message-backup`; with `moved-on` the account has another account key. A `recovery-key` was replaced
 * or removed, and there was none, nor a part of one, before one that was `recovery-key-created`.
 */
export const AccountChangeKind = z.enum([
  'device-revoked',
  'email',
  'message-backup',
  'moved-on',
  'password',
  'recovery-key',
  'recovery-key-created',
  'username',
  'vault',
]);
export type AccountChangeKind = z.infer<typeof AccountChangeKind>;

/** A change of who owns the account, or how. */
export const AccountChange = z
  .object({
    id: Id,
    kind: AccountChangeKind,
    /** The device that made it, and its name; null if it had no device, and never got one. */
    device_id: z.nullable(Id),
    device_name: z.nullable(z.string()),
    created_at: Timestamp,
  })
  .register(z.globalRegistry, { id: 'AccountChange' });
export type AccountChange = z.infer<typeof AccountChange>;

export const listAccountChanges = defineRoute({
  method: 'GET',
  paths: ['/account-changes'],
  access: 'session',
  status: 200,
  response: z.array(AccountChange),
  errors: [],
});
