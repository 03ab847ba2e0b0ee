import { atom } from 'jotai';
import { currentUserAtom } from './session.ts';

const ownIdAtom = atom((get) => get(currentUserAtom)?.id ?? null);

/** State that ends with the session: whoever logs in next in this tab starts anew. */
export function sessionAtom<T>(initial: T) {
  const valueAtomAtom = atom((get) => {
    get(ownIdAtom);
    return atom(initial);
  });
  return atom(
    (get) => get(get(valueAtomAtom)),
    (get, set, change: (value: T) => T) => set(get(valueAtomAtom), change),
  );
}
