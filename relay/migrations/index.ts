import type { Migration } from 'kysely';
import { type ColumnTypes, initial } from './0001-initial.ts';

export type { ColumnTypes } from './0001-initial.ts';

/** Every migration by name, in order. Named here rather than found in the folder, so that a compiled relay has them. */
export const migrations = (types: ColumnTypes): Record<string, Migration> => ({
  '0001-initial': initial(types),
});
