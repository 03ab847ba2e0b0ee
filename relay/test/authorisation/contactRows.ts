import { befriend } from '../helpers.ts';
import { hidden, ofBoth, signedIn } from './rows.ts';
import { must, pendingRequest } from './world.ts';

/** The rows of asking, accepting, rejecting and removing contacts. */
export const contactRows = {
  requestContact: [
    signedIn(
      {
        stranger: 'ok',
        contact: 'already-contacts',
        member: 'ok',
        creator: 'invalid-request',
        removed: 'ok',
        blocked: 'already-contacts',
      },
      ({ creator }) => ({ id: creator.id }),
      {
        undo: async ({ creator }) => {
          const requests = await must(creator.call<{ id: string }[]>('GET', '/contacts/requests'));
          for (const { id } of requests) await must(creator.call('POST', `/contacts/reject/${id}`));
        },
      },
    ),
  ],
  acceptContact: [
    signedIn(hidden, async (world) => ({ id: await pendingRequest(world) }), {
      undo: ({ creator, stranger }) => must(creator.call('DELETE', `/contacts/${stranger.id}`)),
    }),
  ],
  rejectContact: [signedIn(hidden, async (world) => ({ id: await pendingRequest(world) }))],
  removeContact: [
    signedIn({ ...ofBoth, creator: 'not-found', blocked: 'ok' }, ({ creator }) => ({ id: creator.id }), {
      undo: async ({ creator, blocked, ...world }, actor) => {
        if (actor !== 'blocked') return befriend(creator, world.contact);
        await must(creator.call('DELETE', `/blocks/${blocked.id}`));
        await befriend(creator, blocked);
        return must(creator.call('PUT', `/blocks/${blocked.id}`));
      },
    }),
  ],
};
