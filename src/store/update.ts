import { atom } from 'jotai';
import type { ReactNode } from 'react';

/** A newer version of the app that is ready to be used, or what was noticed of one that is not. */
export interface ReadyUpdate {
  /** Begins to use it: every tab loads again. Of what was noticed it is the end. */
  apply(): void;
  /** Shown in the place of the plain offer at a relay that signs its releases. */
  readonly bar?: ReactNode;
}

export const readyUpdateAtom = atom<ReadyUpdate | null>(null);
