import { atom } from 'jotai';
import { paths } from '../lib/paths.ts';

export interface CurrentUser {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly full_name: string;
  readonly created_at: string;
}

/** Spec section 4: idle until a session begins, success while one lasts. */
export type AuthStatus = 'idle' | 'loading' | 'success' | 'error';

/** Starts as `loading`: whether a session exists is known only once the stored token has been checked. */
export const authStatusAtom = atom<AuthStatus>('loading');
export const currentUserAtom = atom<CurrentUser | null>(null);
export const authErrorAtom = atom<string | null>(null);

/** The step that takes long at sign-up and login, for the person who waits; null when none does. */
export type AuthProgress =
  | 'deriving-keys'
  | 'signing-in'
  | 'opening-vault'
  | 'registering-device'
  | 'syncing';
export const authProgressAtom = atom<AuthProgress | null>(null);

/** The spec's connection-error banner. */
export const connectionBannerAtom = atom(false);

/**
 * The path to which the dashboard's guard sends people who are signed out: the login form, or home after an intended
 * end.
 */
export const signedOutPathAtom = atom<string>(paths.login);
