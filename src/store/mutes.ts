import { sessionAtom } from './sessionAtom.ts';

/** A conversation that makes no noise for a while. */
export interface Mute {
  /** Milliseconds since the Unix epoch; {@link forGood} for as long as the person doesn't change it. */
  readonly until: number;
  /** A mention of the person is told all the same. */
  readonly mentions: boolean;
}

/** The latest time that there is. */
export const forGood = 8.64e15;

/** The conversations that are muted now, by their keys. */
export const mutesAtom = sessionAtom<Readonly<Record<string, Mute>>>({});
