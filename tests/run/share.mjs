// One part of the stories that take longest, which is what a run of CI has time for. Each commit has its own.
import { readdirSync } from 'node:fs';

/**
 * `SINETTI_TEST_SHARE`, e.g. `2/3` for the second of three parts; undefined for all of them.
 * @throws Error unless it is one of so many
 */
export const share = shareOf(process.env.SINETTI_TEST_SHARE);

export function shareOf(text) {
  if (text === undefined || text === '') return undefined;
  const [, number, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (!(number >= 1 && number <= of)) throw new Error(`SINETTI_TEST_SHARE is no part: ${text}`);
  return { number, of };
}

/** Returns the names that are in the other parts: each name is in one, whatever the order of the names. */
export function inOtherShares(names, part) {
  if (part === undefined) return [];
  return names.toSorted().filter((_name, index) => index % part.of !== part.number - 1);
}

/** @param isAsked tells of the name of a file in the folder whether it counts. @returns the files that this run leaves to others */
export function leftToOthers(folder, isAsked = () => true) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.spec.ts') && isAsked(name));
  return inOtherShares(files, share);
}
