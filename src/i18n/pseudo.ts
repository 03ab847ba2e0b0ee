import type { Compiled } from './catalogue.ts';

/** Marks around every text of the pseudo locale. */
export const pseudoMarks = { start: '⟦', end: '⟧' } as const;

/** Puts an English text between marks: a text on screen without them did not come from the catalogue. */
export function pseudo(text: Compiled): Compiled {
  return [pseudoMarks.start, ...text, pseudoMarks.end];
}
