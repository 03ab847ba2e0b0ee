import { sessionAtom } from './sessionAtom.ts';

/** True while another device has renewed the keys that the person's devices share, and this one hasn't got them yet. */
export const keysRenewedAtom = sessionAtom(false);

/** True while the relay has an older vault than this device has seen, as after it was restored from a backup. */
export const olderVaultAtom = sessionAtom(false);

/** True for the time that the other devices have for giving them to this one, before the person is asked. */
export const keysAwaitedAtom = sessionAtom(false);

/** The relay has given one of the person's devices something older than another one had from it before. */
export interface OlderState {
  /** It was given to this device, or there, to the other one. */
  readonly place: 'here' | 'there';
  readonly deviceId: string;
}

/** Findings that the person doesn't know of yet. */
export const olderStatesAtom = sessionAtom<readonly OlderState[]>([]);
