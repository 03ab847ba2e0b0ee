import { signUp } from '../helpers.ts';
import { allowed, hidden, own, signedIn } from './rows.ts';
import { isLiving, must, pendingRequest } from './world.ts';

/** The rows of blocking, reporting and withdrawing: everybody does these to whom they like, and reaches their own blocks, reports and requests alone. */
export const blockRows = {
  withdrawContact: [
    signedIn({ ...hidden, creator: 'not-found', stranger: 'ok' }, async (world) => {
      await pendingRequest(world);
      return { id: world.creator.id };
    }),
  ],
  listBlocks: [own()],
  block: [
    signedIn({ ...allowed, creator: 'invalid-request' }, ({ creator }) => ({ id: creator.id }), {
      undo: async (world, actor) => {
        if (isLiving(actor)) await must(world[actor].call('DELETE', `/blocks/${world.creator.id}`));
      },
    }),
  ],
  report: [
    signedIn({ ...allowed, creator: 'invalid-request' }, ({ creator }) => ({
      body: { user_id: creator.id, reason: 'spam', text: '', messages: [] },
    })),
  ],
  listReports: [own()],
  unblock: [
    // Somebody new each time, because the block stays where the caller may not end it.
    signedIn(hidden, async ({ creator, relay }) => {
      const { id } = await signUp(relay);
      await must(creator.call('PUT', `/blocks/${id}`));
      return { id };
    }),
  ],
};
