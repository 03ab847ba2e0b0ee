import type { SelectQueryBuilder } from 'kysely';
import type { Db, Tables } from './tables.ts';

/** Finds people by parts of their usernames, on connections of its own: a search holds up no message. */
export interface NameIndex {
  /** For reading only. It may be behind what was acknowledged by the length of one commit. */
  readonly db: Db;
  /** The rows of `users` whose username key begins with a text, in the order of their code points, to be limited. */
  beginning(key: string): SelectQueryBuilder<Tables, 'users', object>;
  /**
   * The rows of `users` whose username key contains a text, in no particular order, to be narrowed and limited.
   * @param key three characters or more
   * @returns null where the database has no such index, has not made it yet, or has none for such a text
   */
  containing(key: string): SelectQueryBuilder<Tables, 'users', object> | null;
  /**
   * Takes in the names of before there was an index, in small bites beside traffic. Harmless where there are none.
   * @param signal ends it between two bites; the next call goes on
   */
  build(signal: AbortSignal): Promise<void>;
}

/** The end of the texts that begin with a text: no text goes on with a higher character. */
export const endOfBeginnings = (key: string) => `${key}\u{10ffff}`;
