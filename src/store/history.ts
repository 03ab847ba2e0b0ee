import { atom } from 'jotai';

/** Whether sealed copies of messages are kept for new devices of this person. Null until it is known. */
export const historyKeptAtom = atom<boolean | null>(null);
