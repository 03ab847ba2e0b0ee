import { atom } from 'jotai';

export type RealtimeStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** State of the MQTT connection; while it isn't `connected`, sending uses REST. */
export const realtimeStatusAtom = atom<RealtimeStatus>('closed');

/** User id to online. */
export const presenceAtom = atom<Readonly<Record<string, boolean>>>({});
