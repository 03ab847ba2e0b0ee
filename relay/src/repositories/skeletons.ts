import type { Db } from '../db/tables.ts';

/** Between a skeleton and the id of the person who has it beside somebody else, from before there were any. */
const mark = '\u0001';

/** People whose usernames have no skeleton yet. */
export const withoutSkeleton = (db: Db, limit: number): Promise<{ id: string; username: string }[]> =>
  db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username_skeleton', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Gives usernames of before their skeletons. Where several look alike, one has it: nobody loses a name. */
export async function setSkeletons(
  db: Db,
  people: readonly { readonly id: string; readonly username: string; readonly skeleton: string }[],
): Promise<void> {
  for (const { id, skeleton, username } of people) {
    const other = await db
      .selectFrom('users')
      .select('id')
      .where('username_skeleton', '=', skeleton)
      .executeTakeFirst();
    await db
      .updateTable('users')
      .set({ username_skeleton: other === undefined ? skeleton : skeleton + mark + id })
      .where('id', '=', id)
      // A person who has changed the name meanwhile has one.
      .where('username', '=', username)
      .where('username_skeleton', 'is', null)
      .execute();
  }
}
