import { errorCode } from '../errorCode.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) of what two transactions can do to each other. */
const conflicts: ReadonlySet<string | null> = new Set([
  '23503', // foreign_key_violation: what it refers to has just been deleted
  '23505', // unique_violation: the same key has just been inserted
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);

/**
 * Returns whether a transaction failed because another one ran at the same time, so that it may succeed now.
 */
export const isConflict = (error: unknown): boolean => conflicts.has(errorCode(error));
