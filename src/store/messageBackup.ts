import { sessionAtom } from './sessionAtom.ts';

/** True while sealed copies of messages are kept for new devices of this person. Null until it is known. */
export const backupKeptAtom = sessionAtom<boolean | null>(null);
