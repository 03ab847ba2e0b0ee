import { atom } from 'jotai';
import { paths } from '../../lib/paths.ts';

/** Where the dashboard's guard sends who is signed out: the login form, or home after an intended logout. */
export const signedOutPathAtom = atom<string>(paths.login);
