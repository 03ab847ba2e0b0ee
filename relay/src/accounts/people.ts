import type { Discoverability } from '../../contract/index.ts';
import type { NameIndex } from '../db/nameIndex.ts';
import type { Db } from '../db/tables.ts';
import { type FoundUser, searchUsers, setDiscoverability } from '../repositories/search.ts';
import { nameKey } from './names.ts';

/** Decides what others can find of a person. */
export interface People {
  /**
   * At most `limit` people, never the one who asks. An email is masked unless it was typed in full, or its owner shows it.
   */
  search(userId: string, text: string, limit: number): Promise<FoundUser[]>;
  setDiscoverability(userId: string, discoverability: Discoverability): Promise<void>;
}

export function createPeople({ db, names }: { readonly db: Db; readonly names: NameIndex }): People {
  return {
    async search(userId, text, limit) {
      const key = nameKey(text);
      const found = await searchUsers(names, { key, exceptId: userId, limit });
      return found.map((user) =>
        user.showsEmail || nameKey(user.email) === key ? user : { ...user, email: masked(user.email) },
      );
    },

    setDiscoverability: (userId, change) => setDiscoverability(db, userId, change),
  };
}

/** As much of an email as tells two people of one name apart to whoever knows it, and not enough to write to. */
function masked(email: string): string {
  const [first = ''] = Array.from(email);
  const end = email.lastIndexOf('.');
  return `${first}•••@•••${end > email.lastIndexOf('@') ? email.slice(end) : ''}`;
}
