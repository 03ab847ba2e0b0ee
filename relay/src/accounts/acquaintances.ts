import type { Db } from '../db/tables.ts';
import type { Hub } from '../realtime/hub.ts';
import { contactIds, requestPeerIds } from '../repositories/contacts.ts';
import { notifiedIds } from '../repositories/notifications.ts';

/** Ids of the people in whose lists somebody stands by name. */
export interface Acquaintances {
  readonly contactIds: readonly string[];
  /** People with whom they have a pending request, either way. */
  readonly requestPeerIds: readonly string[];
  /** People who have a notification of something that they did. */
  readonly notifiedIds: readonly string[];
}

export async function acquaintancesOf(db: Db, userId: string): Promise<Acquaintances> {
  return {
    contactIds: await contactIds(db, userId),
    requestPeerIds: await requestPeerIds(db, userId),
    notifiedIds: await notifiedIds(db, userId),
  };
}

/** Tells them that their lists have changed: somebody has another name, or is gone. */
export function tellAcquaintances(hub: Hub, people: Acquaintances): void {
  hub.publishToUsers(people.contactIds, { type: 'contacts', lists: ['contacts'] });
  hub.publishToUsers(people.requestPeerIds, { type: 'contacts', lists: ['requests', 'sent-requests'] });
  hub.signal({ type: 'notifications-changed', userIds: [...people.notifiedIds] });
}
