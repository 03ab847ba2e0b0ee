import { pseudoMarks } from '#src/i18n/locales.ts';

const marked = new RegExp(
  `${pseudoMarks.start}[^${pseudoMarks.start}${pseudoMarks.end}]*${pseudoMarks.end}`,
  'gu',
);
const spoken = ['aria-label', 'aria-description', 'alt', 'placeholder', 'title'];

/**
 * Words on screen, or told to a screen reader, that are in no text of the catalogue. For the pseudo locale, which marks
 * those that are.
 *
 * Names of emojis come with the emojis.
 *
 * @param data what people wrote, and what is the same in every language
 */
export function wordsOutsideCatalogue(data: readonly string[]): string[] {
  const said = [...document.querySelectorAll(':not([role="gridcell"])')].flatMap((element) =>
    spoken.flatMap((name) => element.getAttribute(name) ?? []),
  );
  // The longest first, as one may be part of another.
  const known = data.toSorted((one, other) => other.length - one.length);
  return [document.body.textContent, ...said].flatMap((text) => {
    let rest = known.reduce((left, one) => left.replaceAll(one, ' '), text);
    // From the innermost: a text may stand in another as a value.
    for (let before = ''; before !== rest; ) {
      before = rest;
      rest = rest.replace(marked, ' ');
    }
    return rest.match(/\p{L}{2,}/gu) ?? [];
  });
}
