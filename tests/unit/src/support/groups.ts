import type { Group, GroupMember } from '#src/store/groups.ts';
import { aino, kaisa, veikko } from './app.tsx';

export const members: readonly GroupMember[] = [
  { userId: aino.id, username: 'aino', devices: 2 },
  { userId: kaisa.id, username: 'kaisa', devices: 1 },
  { userId: veikko.id, username: 'veikko', devices: 1 },
];

/** As the session has learnt them. */
export const memberNames: ReadonlyMap<string, string> = new Map(
  members.map(({ userId, username }) => [userId, username ?? '']),
);

/** A group of three that Aino has made, unless told otherwise. */
export function group(rest: Partial<Group> = {}): Group {
  return {
    id: 'group-1',
    name: 'Sailing',
    creatorId: aino.id,
    members,
    memberCount: (rest.members ?? members).length,
    createdAt: '2026-06-01T09:00:00.000Z',
    mismatch: null,
    refusal: null,
    ended: false,
    left: false,
    ...rest,
  };
}

/** Makes it a group that somebody else has made. */
export const byKaisa = { creatorId: kaisa.id };
