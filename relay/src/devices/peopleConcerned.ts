import type { Db } from '../db/tables.ts';
import { contactIds } from '../repositories/contacts.ts';
import { fellowMemberIds } from '../repositories/groups.ts';

/** A person and everybody who is told of their devices, once each. */
export const peopleConcerned = (db: Db, userId: string): Promise<string[]> => peopleOf(db, userId, 'hearing');

/** A person and everybody whose devices and names they may see, once each. */
export const peopleSeen = (db: Db, userId: string): Promise<string[]> => peopleOf(db, userId, 'seen');

async function peopleOf(db: Db, userId: string, to: 'hearing' | 'seen'): Promise<string[]> {
  const fellowIds = await fellowMemberIds(db, userId, to);
  return [...new Set([userId, ...(await contactIds(db, userId)), ...fellowIds])];
}
