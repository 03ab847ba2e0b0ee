import * as z from 'zod/mini';
import { base64Url } from './primitives.ts';
import { defineRoute } from './route.ts';

/** The ways in which new accounts come: by anybody, by who has an invitation, or not at all. */
export const SignUpMode = z.enum(['open', 'invitation', 'closed']);
export type SignUpMode = z.infer<typeof SignUpMode>;

/** The code of an invitation: 16 random bytes. */
export const InvitationCode = base64Url(16, 16);

export const getVersion = defineRoute({
  method: 'GET',
  paths: ['/version'],
  access: 'public',
  status: 200,
  response: z.object({ version: z.string(), sign_up: SignUpMode }),
  errors: [],
});
