import { sessionAtom } from './sessionAtom.ts';

/** A change of who owns the account, made on another device. */
export interface AccountChange {
  readonly id: string;
  readonly kind:
    | 'device-revoked'
    | 'email'
    | 'message-backup'
    | 'moved-on'
    | 'password'
    | 'recovery-key'
    | 'recovery-key-created'
    | 'username'
    | 'vault';
  /** Null for a session that never got a device. */
  readonly deviceName: string | null;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** The changes that the person has not judged in this browser, oldest first. */
export const accountChangesAtom = sessionAtom<readonly AccountChange[]>([]);
