import { atom } from 'jotai';
import type { FailureCode } from '../lib/errorCode.ts';
import { activeGroupAtom, chatsAtom, groupKeyOf } from './chats.ts';
import { type LoadedList, unloadedList } from './loadedList.ts';
import { mutesAtom } from './mutes.ts';
import { sessionAtom } from './sessionAtom.ts';

export interface GroupMember {
  readonly userId: string;
  /** The name on the relay's list, when it was last read; null for somebody who was never on it. */
  readonly username: string | null;
  /** Devices in the group's keys; 0 for somebody on the relay's list only. */
  readonly devices: number;
}

/**
 * The differences between the relay's list of members and the group's keys after everything the relay has to say
 * was processed. Nothing is sent while it lasts.
 */
export interface MembershipMismatch {
  /** In the group's keys (they can read), but not on the relay's list. */
  readonly unlisted: readonly string[];
  /** On the relay's list, but not in the group's keys (they can't read). */
  readonly withoutKeys: readonly string[];
}

export interface Group {
  readonly id: string;
  /** Null until this device has opened the sealed name. */
  readonly name: string | null;
  /** The id bound into the group's keys, once this device is in it; until then the relay's. Null: account deleted. */
  readonly creatorId: string | null;
  /** The people in the group's keys, by name. Empty until this device is in the group. */
  readonly members: readonly GroupMember[];
  /** The length of `members`, once there are any; until then what the relay says. */
  readonly memberCount: number;
  /** RFC 3339; null until the relay has said so. */
  readonly createdAt: string | null;
  readonly mismatch: MembershipMismatch | null;
  /** Code of why this device refused to enter the group as the relay offers it; null when it didn't. */
  readonly refusal: FailureCode | null;
  /** The relay no longer has it for this person: what this browser holds stays readable, and nothing is sent. */
  readonly ended: boolean;
  /** With `ended`: this person left it, by the signed word of one of their devices. */
  readonly left: boolean;
}

/** By name; those without an opened one last, by the time of their creation. */
export const groupsAtom = sessionAtom<LoadedList<Group>>(unloadedList);

/** Unread messages of other people in all groups but the open one and muted ones. */
export const groupUnreadTotalAtom = atom((get) => {
  const active = get(activeGroupAtom);
  const chats = get(chatsAtom);
  const mutes = get(mutesAtom);
  return get(groupsAtom).items.reduce(
    (sum, { id }) =>
      id === active || groupKeyOf(id) in mutes ? sum : sum + (chats[groupKeyOf(id)]?.state?.unread ?? 0),
    0,
  );
});

/** The step that takes long while a group is created or people are added. */
export type GroupProgress =
  /** People whose keys are there, of those who are added. */
  | { readonly step: 'gathering-keys'; readonly done: number; readonly total: number }
  /** People who are in, of those who are added by several commits, while another one is made. */
  | { readonly step: 'adding'; readonly done: number; readonly total: number }
  | { readonly step: 'sealing' | 'submitting' | 'opening' };

/** Null when nothing does. */
export const groupProgressAtom = sessionAtom<GroupProgress | null>(null);
