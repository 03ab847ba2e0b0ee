import { sessionAtom } from './sessionAtom.ts';

/** A signed-in browser profile of the person. */
export interface OwnDevice {
  readonly id: string;
  readonly name: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339; no finer than five minutes. */
  readonly lastSeenAt: string;
  readonly isThisOne: boolean;
}

/** This one first, then by when they were seen last. Null until they were loaded. */
export const devicesAtom = sessionAtom<readonly OwnDevice[] | null>(null);

/** Devices that have signed in since the person last looked. */
export const newDevicesAtom = sessionAtom<readonly OwnDevice[]>([]);
