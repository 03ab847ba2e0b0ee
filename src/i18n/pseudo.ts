import type { Compiled } from './catalogue.ts';

/** Around every text of the pseudo locale. */
export const pseudoMarks = { start: '⟦', end: '⟧' } as const;

/** The English text between marks: what is on screen without them did not come from the catalogue. */
export function pseudo(text: Compiled): Compiled {
  return [pseudoMarks.start, ...text, pseudoMarks.end];
}
