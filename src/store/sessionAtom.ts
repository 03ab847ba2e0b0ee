import { atom, type SetStateAction } from 'jotai';
import { currentUserAtom } from './session.ts';

const resetsAtom = atom(0);
const ownIdAtom = atom((get) => get(currentUserAtom)?.id ?? null);

/**
 * Sets every session atom back to its initial value. It is called when a session ends, so that nothing of it stays on
 * screen, and again when one begins: a screen may still write on its way out.
 */
export const resetSessionAtomsAtom = atom(null, (_get, set) => set(resetsAtom, (resets) => resets + 1));

/** State that ends with the session: another person never gets it, nor does the same one who logs in next. */
export function sessionAtom<T>(initial: T) {
  const currentAtom = atom((get) => {
    get(resetsAtom);
    get(ownIdAtom);
    return atom(initial);
  });
  return atom(
    (get) => get(get(currentAtom)),
    (get, set, change: SetStateAction<T>) => set(get(currentAtom), change),
  );
}
