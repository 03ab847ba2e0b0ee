import { sessionAtom } from './sessionAtom.ts';

/** Tells whether the account has a recovery key; `unknown` until the relay has said so. */
export const recoveryKeyAtom = sessionAtom<'unknown' | 'none' | 'present'>('unknown');

/** True once the person has put the offer of a recovery key aside in this browser. Null until that is known. */
export const recoveryOfferDismissedAtom = sessionAtom<boolean | null>(null);
