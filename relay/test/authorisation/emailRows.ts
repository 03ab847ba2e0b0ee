import { randomUUID } from 'node:crypto';
import { own, signedIn } from './rows.ts';
import { isLiving } from './world.ts';

/** Everybody has an email of their own that is not verified, and reaches the code of no other account. */
export const emailRows = {
  sendEmailCode: [own()],
  confirmEmail: [
    signedIn(
      {
        stranger: 'wrong-code',
        contact: 'wrong-code',
        member: 'wrong-code',
        creator: 'wrong-code',
        removed: 'wrong-code',
        blocked: 'wrong-code',
      },
      () => ({ body: { code: '00000000' } }),
    ),
  ],
  cancelEmailChange: [
    own(async (world, actor) => {
      if (!isLiving(actor)) return {};
      const { username } = world[actor];
      await world[actor].call('PUT', '/users/me', { username, email: `${randomUUID()}@example.org` });
      return {};
    }),
  ],
};
