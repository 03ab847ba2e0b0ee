import { sessionAtom } from './sessionAtom.ts';

interface Person {
  readonly id: string;
  readonly username: string;
}

/** A question whether somebody wants to be in a group. */
export interface GroupInvitation {
  readonly group_id: string;
  readonly creator: Person;
  /** The person who is asked. */
  readonly user: Person;
  readonly member_count: number;
  readonly accepted: boolean;
  /** RFC 3339. */
  readonly created_at: string;
}

/** The invitations that ask the person, and those to the person's own groups, oldest first. */
export const groupInvitationsAtom = sessionAtom<readonly GroupInvitation[]>([]);

/** An answer of who is asked, or the creator's withdrawal of the question to somebody. */
export type GroupInvitationChange =
  | { readonly groupId: string; readonly answer: 'accept' | 'decline' }
  | { readonly groupId: string; readonly withdrawFrom: string };
