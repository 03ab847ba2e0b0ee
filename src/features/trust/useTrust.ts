import { useAtomValue } from 'jotai';
import { type ContactTrust, trustAtom } from '../../store/trust.ts';

const unknown = { verifiedAt: null, keyOffered: false, name: null, changedAt: [] } as const satisfies Omit<
  ContactTrust,
  'userId'
>;

/** Returns how certain a person's identity is. */
export function useTrust(userId: string): Omit<ContactTrust, 'userId'> {
  return useAtomValue(trustAtom).get(userId) ?? unknown;
}
