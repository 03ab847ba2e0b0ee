import { befriend, signUpOnDevice } from '../helpers.ts';
import { createGroup } from '../http/conversation.ts';
import { hidden, ofMembers, own, type Row, signedIn } from './rows.ts';
import { freshGroup, must, type World } from './world.ts';

/** The id of a group of the creator's that `contact` is asked to join. */
async function askingContact({ contact, creator }: World): Promise<string> {
  const id = await createGroup(creator);
  await must(contact.call('PUT', '/users/me/asked-first', { asked_first: true }));
  await must(creator.call('POST', `/group/${id}/invitations`, { user_ids: [contact.id] }));
  await must(contact.call('PUT', '/users/me/asked-first', { asked_first: false }));
  return id;
}

/** Only the person who is asked can answer: for all others, the creator among them, there is no such question. */
const ofAsked = { ...hidden, creator: 'not-found', contact: 'ok' } as const;

/** The rows of asking people before they are in a group. */
export const groupInvitationRows = {
  listGroupInvitations: [own()],
  inviteGroupMembers: [
    signedIn({ ...ofMembers, member: 'forbidden', blocked: 'forbidden' }, async (world) => ({
      id: await freshGroup(world),
      body: { user_ids: [world.contact.id] },
    })),
  ],
  withdrawGroupInvitation: [
    signedIn({ ...ofMembers, member: 'forbidden', blocked: 'forbidden' }, async (world) => {
      const id = await freshGroup(world);
      const asked = await signUpOnDevice(world.relay);
      await befriend(world.creator, asked);
      await must(asked.call('PUT', '/users/me/asked-first', { asked_first: true }));
      await must(world.creator.call('POST', `/group/${id}/invitations`, { user_ids: [asked.id] }));
      return { id, body: { user_id: asked.id } };
    }),
  ],
  acceptGroupInvitation: [signedIn(ofAsked, async (world) => ({ id: await askingContact(world) }))],
  declineGroupInvitation: [signedIn(ofAsked, async (world) => ({ id: await askingContact(world) }))],
} satisfies Record<string, readonly Row[]>;
