import type { Given, Person } from './people.ts';

/** Something that a person has set, beside messages: it has one value at a time, and the next one takes its place. */
export interface Wish extends Given {
  /** The thing that it is about. */
  readonly about: string;
  readonly value: string;
  /** The moments of the world at which it was begun, and done: null where it failed, or nobody was there any more. */
  readonly begunAt: number;
  doneAt: number | null;
  /** The device that it was done on. */
  readonly deviceId: string | null;
  /**
   * How far that had read what the person's own devices tell each other: one that comes in later may not hear of it. Below every
   * position where they had no group yet.
   */
  readonly ownSeq: number;
}

/** The things that are set, each by its name. */
export const timer = (conversationId: string) => `timer of ${conversationId}`;
export const pin = (conversationId: string, messageId: string) => `pin of ${messageId} in ${conversationId}`;
export const star = (person: Person, conversationId: string, messageId: string) =>
  `${person.name}'s star of ${messageId} in ${conversationId}`;
export const mute = (person: Person, conversationId: string) => `${person.name}'s mute of ${conversationId}`;
export const draft = (person: Person, conversationId: string) =>
  `${person.name}'s draft in ${conversationId}`;

/** A conversation that is muted, as a value. */
export const mutedAs = (mentions: boolean) => (mentions ? 'with mentions' : 'without mentions');

/** A value as one device has it. */
export interface Held {
  readonly where: string;
  readonly value: string;
}

/**
 * Compares the values that devices have of one thing with each other, and with what was wished.
 * @param before the value that it has where nobody has wished anything
 * @returns what does not hold, in plain words
 */
export function faultsOfHeld(
  about: string,
  wishes: readonly Wish[],
  held: readonly Held[],
  before: string,
): string[] {
  const [first, ...others] = held;
  if (first === undefined) return [];
  const differs = others.find(({ value }) => value !== first.value);
  if (differs !== undefined) {
    const [one, other] = [first, differs].map(({ value, where }) => `"${value}" for ${where}`);
    return [`the ${about} is ${one}, and ${other}`];
  }
  const sure = sureOf(wishes);
  if (sure !== null && first.value !== sure) return [`the ${about} is "${first.value}", not "${sure}"`];
  const isWished = first.value === before || wishes.some(({ value }) => value === first.value);
  return isWished ? [] : [`the ${about} is "${first.value}", which nobody wished`];
}

/** The value that was wished last; null where it isn't sure which that is, as wishes have met, or one may be lost. */
function sureOf(wishes: readonly Wish[]): string | null {
  const last = wishes.at(-1);
  const isSure =
    last !== undefined &&
    wishes.every(
      (wish) =>
        wish.isKept &&
        !wish.mayBeLost &&
        (wish === last || (wish.doneAt !== null && wish.doneAt < last.begunAt && wish.seat === last.seat)),
    );
  return isSure ? last.value : null;
}

/**
 * Compares the seconds with which a browser has taken a text with those of its conversation.
 * @param taken undefined where the text is not there any more
 * @returns what does not hold, in plain words; null also where the conversation had another timer before than after
 */
export function faultOfTimer(
  text: string,
  before: number,
  after: number,
  taken: number | undefined,
): string | null {
  if (taken === undefined || before !== after || taken === before) return null;
  return `"${text}" left with ${taken} s, not with the ${before} s of its conversation`;
}
