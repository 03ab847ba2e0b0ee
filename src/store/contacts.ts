import { atom } from 'jotai';

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

export interface IncomingRequest {
  readonly id: string;
  readonly from_user: Person;
  readonly created_at: string;
}

export interface OutgoingRequest {
  readonly id: string;
  readonly to_user: { readonly id: string; readonly username: string };
  readonly created_at: string;
}

/** A list that loads once with an indicator and then refreshes quietly (spec section 4). */
export interface LoadedList<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly loaded: boolean;
}

function emptyList<T>(): LoadedList<T> {
  return { items: [], loading: false, loaded: false };
}

export const contactsAtom = atom<LoadedList<Person>>(emptyList<Person>());
export const incomingRequestsAtom = atom<LoadedList<IncomingRequest>>(emptyList<IncomingRequest>());
export const outgoingRequestsAtom = atom<LoadedList<OutgoingRequest>>(emptyList<OutgoingRequest>());

/** The shared error sentence of the three lists; cleared on success. */
export const contactsErrorAtom = atom<string | null>(null);
