import type { Discoverability } from '../../contract/index.ts';
import type { NameIndex } from '../db/nameIndex.ts';
import type { Db } from '../db/tables.ts';
import { type FoundUser, searchUsers, setDiscoverability } from '../repositories/search.ts';
import { shownEmail } from '../repositories/users.ts';
import { nameKey } from './names.ts';

/** Decides what others can find of a person. */
export interface People {
  /**
   * At most `limit` people, never the one who asks. An email is masked unless it was typed in full, or its owner shows it; where
   * emails are verified, one that is not finds nobody and is empty.
   */
  search(userId: string, text: string, limit: number): Promise<FoundUser[]>;
  setDiscoverability(userId: string, discoverability: Discoverability): Promise<void>;
}

export interface PeopleDependencies {
  readonly db: Db;
  readonly names: NameIndex;
  readonly verifiesEmails: boolean;
}

export function createPeople({ db, names, verifiesEmails }: PeopleDependencies): People {
  return {
    async search(userId, text, limit) {
      const key = nameKey(text);
      const found = await searchUsers(names, { key, exceptId: userId, limit, verifiesEmails });
      return found.map((user) => {
        const email = shownEmail(user, verifiesEmails);
        const isShown = email === '' || user.showsEmail || nameKey(email) === key;
        return { ...user, email: isShown ? email : masked(email) };
      });
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
