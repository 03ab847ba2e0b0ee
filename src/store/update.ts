import { atom } from 'jotai';

/** A newer version of the app that is ready to be used. */
export interface ReadyUpdate {
  /** Begins to use it: every tab loads again. */
  apply(): void;
}

export const readyUpdateAtom = atom<ReadyUpdate | null>(null);
