import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import commonWords from '@zxcvbn-ts/language-en/dist/commonWords.json.mjs';
import firstnames from '@zxcvbn-ts/language-en/dist/firstnames.json.mjs';
import commonWordsFi from '@zxcvbn-ts/language-fi/dist/commonWords.json.esm.js';
import femaleFirstnamesFi from '@zxcvbn-ts/language-fi/dist/femaleFirstnames.json.esm.js';
import maleFirstnamesFi from '@zxcvbn-ts/language-fi/dist/maleFirstnames.json.esm.js';

/** The reason for which a password is easy to guess. */
export type PasswordWeakness = 'common' | 'date' | 'name' | 'pattern' | 'word';

export interface PasswordRating {
  readonly strength: 'weak' | 'fair' | 'strong';
  /** Null where nothing in particular makes it so. */
  readonly weakness: PasswordWeakness | null;
}

/**
 * Guesses as powers of ten. Argon2id as it is used here (128 MiB, 3 passes) leaves who has the relay's database, and a
 * room full of machines, some ten thousand guesses a second: 10^8 take hours, 10^12 years.
 */
const fairFrom = 8;
const strongFrom = 12;

/** The time of a guess at a longer one grows with its square, and adds nothing to the answer. */
const ratedLength = 64;

const weaknesses: Readonly<Record<string, PasswordWeakness>> = {
  topTen: 'common',
  topHundred: 'common',
  common: 'common',
  similarToCommon: 'common',
  userInputs: 'name',
  namesByThemselves: 'name',
  commonNames: 'name',
  wordByItself: 'word',
  straightRow: 'pattern',
  keyPattern: 'pattern',
  simpleRepeat: 'pattern',
  extendedRepeat: 'pattern',
  sequences: 'pattern',
  recentYears: 'date',
  dates: 'date',
};

const estimator = new ZxcvbnFactory({
  dictionary: {
    ...dictionary,
    // Only of a dictionary with this name the estimator says that a password is one word of it.
    'wikipedia-en': commonWords,
    'firstnames-en': firstnames,
    'wikipedia-fi': commonWordsFi,
    'firstnames-fi': [...femaleFirstnamesFi, ...maleFirstnamesFi],
  },
  graphs: adjacencyGraphs,
  maxLength: ratedLength,
});

/**
 * Estimates how many guesses a password withstands. It advises, and forbids nothing.
 * @param personal what a guesser would try first: the person's names
 */
export function ratePassword(password: string, personal: readonly string[]): PasswordRating {
  const { feedback, guessesLog10 } = estimator.check(password, [...personal]);
  if (guessesLog10 >= strongFrom) return { strength: 'strong', weakness: null };
  const strength = guessesLog10 >= fairFrom ? 'fair' : 'weak';
  return { strength, weakness: weaknesses[feedback.warning ?? ''] ?? null };
}
