import type { ContactTrust } from '../crypto/client.ts';
import { sessionAtom } from './sessionAtom.ts';

export type { ContactTrust, SafetyNumbers } from '../crypto/client.ts';

/** By user id: everybody whose account key this browser knows. */
export const trustAtom = sessionAtom<ReadonlyMap<string, ContactTrust>>(new Map());
