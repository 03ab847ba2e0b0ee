import { sessionAtom } from './sessionAtom.ts';

/** The sentence that a screen reader is told next, wherever the focus is. */
export const announcementAtom = sessionAtom('');
