import type { Db } from '../db/tables.ts';
import { contactIds } from '../repositories/contacts.ts';
import { fellowMemberIds } from '../repositories/groups.ts';

/** A person and everybody who has to do with their devices, once each. */
export async function peopleConcerned(db: Db, userId: string): Promise<string[]> {
  return [...new Set([userId, ...(await contactIds(db, userId)), ...(await fellowMemberIds(db, userId))])];
}
