import type { ErrorCode } from '../../contract/index.ts';
import type { Actor, Living, World } from './world.ts';

export interface Request {
  /** Fills the parameter of the path, whatever its name. */
  readonly id?: string;
  /** Fills the parameter after it, if there is one. */
  readonly treeHash?: string;
  readonly query?: string;
  readonly body?: unknown;
}

export type Outcome = 'ok' | ErrorCode;

export interface Row {
  /** The subject of the row, if the call has several. */
  readonly about?: string;
  /** Makes whatever the call needs, and returns the actor's request. */
  readonly request: (world: World, actor: Actor) => Promise<Request> | Request;
  readonly expected: Readonly<Record<Actor, Outcome>>;
  /** Makes the world what it was, after a call that succeeded. */
  readonly undo?: (world: World, actor: Actor) => Promise<unknown>;
}

/** Everybody may who is signed in. */
export const allowed = {
  stranger: 'ok',
  contact: 'ok',
  member: 'ok',
  creator: 'ok',
  removed: 'ok',
  blocked: 'ok',
} as const satisfies Record<Living, Outcome>;

/** Calls that ask for no token look at none. */
export function everybody(request: Row['request']): Row {
  return {
    request,
    expected: {
      ...allowed,
      anonymous: 'ok',
      revoked: 'ok',
      deleted: 'ok',
      suspended: 'ok',
    },
  };
}

export function signedIn(
  expected: Readonly<Record<Living, Outcome>>,
  request: Row['request'],
  rest: Partial<Row> = {},
): Row {
  return {
    ...rest,
    request,
    expected: {
      ...expected,
      anonymous: 'unauthenticated',
      revoked: 'device-revoked',
      deleted: 'session-expired',
      suspended: 'account-suspended',
    },
  };
}

/** A call about the caller's own data: everybody who is signed in has some, and reaches that alone. */
export function own(request: Row['request'] = () => ({}), rest: Partial<Row> = {}): Row {
  return signedIn(allowed, request, rest);
}

/** The outcomes of a call about the caller's own vault that names another version of it. */
export const stale = {
  stranger: 'stale-version',
  contact: 'stale-version',
  member: 'stale-version',
  creator: 'stale-version',
  removed: 'stale-version',
  blocked: 'stale-version',
} as const;

/** The outcomes of a call about the creator's own data, which is hidden from all others. */
export const hidden = {
  stranger: 'not-found',
  contact: 'not-found',
  member: 'not-found',
  creator: 'ok',
  removed: 'not-found',
  blocked: 'not-found',
} as const;
/** The outcomes of a call about a group's data. */
export const ofMembers = { ...hidden, member: 'ok', blocked: 'ok' } as const;
/** The outcomes of a call that the creator's contacts and members may make. */
export const ofContacts = { ...allowed, stranger: 'not-a-contact', removed: 'not-a-contact' } as const;
/** The outcomes of a call about the direct conversation of the creator and the contact. */
export const ofBoth = { ...hidden, contact: 'ok' } as const;
