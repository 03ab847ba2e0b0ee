import * as z from 'zod/mini';
import { SignedName } from './account.ts';
import { limits } from './limits.ts';
import { Id } from './primitives.ts';
import { defineRoute } from './route.ts';

export const putSignedName = defineRoute({
  method: 'PUT',
  paths: ['/users/me/name'],
  access: 'device',
  body: z.object({ signed_name: SignedName }),
  status: 204,
  errors: ['forbidden', 'stale-version'],
});

export const listSignedNames = defineRoute({
  method: 'POST',
  paths: ['/users/names'],
  access: 'session',
  body: z.object({ user_ids: z.array(Id).check(z.minLength(1), z.maxLength(limits.peoplePerNames)) }),
  status: 200,
  response: z.array(z.object({ user_id: Id, signed_name: SignedName })),
  errors: [],
});
