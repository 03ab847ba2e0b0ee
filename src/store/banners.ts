import { atom, type Getter } from 'jotai';
import { accountChangesAtom } from './accountChanges.ts';
import { relayServesAtom } from './connection.ts';
import { newDevicesAtom } from './devices.ts';
import { keysAwaitedAtom, keysRenewedAtom, olderStatesAtom, olderVaultAtom } from './keys.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from './recovery.ts';
import { connectionBannerAtom } from './session.ts';
import { readyUpdateAtom } from './update.ts';

/**
 * The banners of the dashboard's head with their conditions, the most urgent first. Without a connection nothing can be
 * done about what is below that.
 */
const conditions = {
  'connection-error': (get) => get(connectionBannerAtom),
  offline: (get) => !get(relayServesAtom),
  'account-change': (get) => get(accountChangesAtom).length > 0,
  'older-vault': (get) => get(olderVaultAtom),
  'older-state': (get) => get(olderStatesAtom).length > 0,
  'keys-renewed': (get) => get(keysRenewedAtom) && !get(keysAwaitedAtom),
  'new-device': (get) => get(newDevicesAtom).length > 0,
  update: (get) => get(readyUpdateAtom) !== null,
  'recovery-key': (get) => get(recoveryKeyAtom) === 'none' && get(recoveryOfferDismissedAtom) === false,
} as const satisfies Record<string, (get: Getter) => boolean>;

export type Banner = keyof typeof conditions;

const byUrgency = Object.keys(conditions) as Banner[];

/** The one banner that is shown; the next takes its place when it has gone. */
export const bannerAtom = atom((get): Banner | null => byUrgency.find((one) => conditions[one](get)) ?? null);
