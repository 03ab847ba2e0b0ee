import { signUp } from '../helpers.ts';
import { hidden, own, signedIn } from './rows.ts';
import { isLiving, must } from './world.ts';

/** The rows of blocking: everybody blocks whom they like, and ends their own blocks alone. */
export const blockRows = {
  listBlocks: [own()],
  block: [
    signedIn(
      { stranger: 'ok', contact: 'ok', member: 'ok', creator: 'invalid-request', removed: 'ok' },
      ({ creator }) => ({ id: creator.id }),
      {
        undo: async (world, actor) => {
          if (isLiving(actor)) await must(world[actor].call('DELETE', `/blocks/${world.creator.id}`));
        },
      },
    ),
  ],
  unblock: [
    // Somebody new each time, because the block stays where the caller may not end it.
    signedIn(hidden, async ({ creator, relay }) => {
      const { id } = await signUp(relay);
      await must(creator.call('PUT', `/blocks/${id}`));
      return { id };
    }),
  ],
};
