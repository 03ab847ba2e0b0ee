import { type Lie, noticesOf } from './lies.ts';
import type { Told } from './noticed.ts';

/**
 * Returns the faults in how a lie was taken: each side that can know of it has to be shown that by a notice of the right kind, and what
 * nobody has signed is never believed.
 */
export function judge(told: Told): string[] {
  const expected = noticesOf(told.lie);
  return [
    ...(told.isBelieved === true ? [`believed: ${told.lie}`] : []),
    ...missing(told.lie, 'whom it was told to', expected.byVictim, told.byVictim),
    ...missing(told.lie, 'the others', expected.byOthers, told.byOthers),
  ];
}

function missing(lie: Lie, whom: string, expected: readonly string[], shown: readonly string[]): string[] {
  if (expected.length === 0 || expected.some((notice) => shown.includes(notice))) return [];
  return [
    `not noticed: ${lie}, by ${whom}: ${expected.join(' or ')} expected, and shown: ${shown.join(', ')}`,
  ];
}
