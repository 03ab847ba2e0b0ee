import { atom } from 'jotai';

/** True while the list of keyboard shortcuts is shown. */
export const shortcutsHelpOpenAtom = atom(false);
