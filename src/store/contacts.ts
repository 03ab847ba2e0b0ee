import { type LoadedList, unloadedList } from './loadedList.ts';
import { sessionAtom } from './sessionAtom.ts';

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

export const contactsAtom = sessionAtom<LoadedList<Person>>(unloadedList);
export const incomingRequestsAtom = sessionAtom<LoadedList<IncomingRequest>>(unloadedList);
export const outgoingRequestsAtom = sessionAtom<LoadedList<OutgoingRequest>>(unloadedList);
