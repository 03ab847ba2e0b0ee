import type { RouteBody } from '../../contract/index.ts';
import type { servedRoutes as routes } from '../../contract/served.ts';
import type { Share } from './rateLimiter.ts';

/** The actions that have quotas of their own, whichever route or protocol performs them. */
export type Action =
  | 'search'
  | 'rename'
  | 'contact-request'
  | 'email-code'
  | 'email-confirm'
  | 'claim'
  | 'commit'
  | 'tree'
  | 'send'
  | 'receipt'
  | 'typing';

/** Calls that have quotas of their own, beside the one that every call takes from. */
export const routeActions: { readonly [Name in keyof typeof routes]?: Action } = {
  searchUsers: 'search',
  updateProfile: 'rename',
  sendEmailCode: 'email-code',
  confirmEmail: 'email-confirm',
  requestContact: 'contact-request',
  claimKeyPackages: 'claim',
  claimKeyPackagesOfMany: 'claim',
  sendUserMessage: 'send',
  sendGroupMessage: 'send',
  submitCommit: 'commit',
  putTreeNodes: 'tree',
  getTree: 'tree',
  putReceipt: 'receipt',
  addGroupMember: 'commit',
};

/**
 * The number of actions in one call, by its body. One is counted before the body is read, the others after
 * it.
 */
export const routeAmounts: {
  readonly [Name in keyof typeof routes]?: (body: RouteBody<(typeof routes)[Name]>) => number;
} = {
  claimKeyPackagesOfMany: ({ user_ids }) => new Set(user_ids).size,
};

/** Calls of nobody in particular. Those that prove a password are left to the log-in throttle alone. */
export const publicRouteQuotas: {
  readonly [Name in keyof typeof routes]?: readonly (
    | 'request.address'
    | 'sign-up.address'
    | 'params.address'
  )[];
} = {
  register: ['sign-up.address'],
  authParams: ['params.address'],
  login: [],
  recover: [],
};

/** The share of an upload, in KiB: a person may store much, but not fill the disk in a night. */
export const uploadShare = (userId: string, bytes: number): Share => [
  'upload.account',
  userId,
  Math.ceil(bytes / 1024),
];

/** The shares of an account's action. The account's comes first: see RateLimiter.take. */
export function sharesOf(action: Action, userId: string, address: string, amount = 1): Share[] {
  return [
    [`${action}.account`, userId, amount],
    [`${action}.address`, address, amount],
  ];
}
