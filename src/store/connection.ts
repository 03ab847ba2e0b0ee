import { atom } from 'jotai';
import { sessionAtom } from './sessionAtom.ts';

export type RealtimeStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** State of the MQTT connection; while it isn't `connected`, sending uses REST. */
export const realtimeStatusAtom = sessionAtom<RealtimeStatus>('closed');

/** True while the relay is out of reach, as far as this browser can tell: messages wait until it isn't. */
export const offlineAtom = atom(false);

/** The reason why the relay doesn't serve: it doesn't answer (`silent`), or answers that it can't (`failing`). */
export type RelayTrouble = 'silent' | 'failing';

/**
 * Found when the relay was last asked. While it isn't offline as well, what is sent may fail, and can be sent again.
 */
export const relayTroubleAtom = atom<RelayTrouble | null>(null);

/** True while the relay serves, as far as it is known. While it doesn't, the head of the page says so. */
export const relayServesAtom = atom((get) => !get(offlineAtom) && get(relayTroubleAtom) === null);

/** A stretch of the past on its way into this browser, in messages. */
export interface CatchUp {
  readonly done: number;
  /** Null where only the end will tell. */
  readonly of: number | null;
}

/** Null while nothing is on its way that would take long. */
export const catchUpAtom = sessionAtom<CatchUp | null>(null);

/** The presence of people, as far as it has been heard. */
export interface KnownPresence {
  /** User id to online. */
  readonly online: Readonly<Record<string, boolean>>;
  /** True once there was a list of everybody online: people who aren't in the map are offline then. */
  readonly listed: boolean;
}

export const nothingKnown: KnownPresence = { online: {}, listed: false };

export const presenceAtom = atom(nothingKnown);

/** Tells of a contact whether they are online; undefined while that isn't known. */
export const isOnlineAtom = atom((get) => {
  const { online, listed } = get(offlineAtom) ? nothingKnown : get(presenceAtom);
  return (contactId: string): boolean | undefined => online[contactId] ?? (listed ? false : undefined);
});
