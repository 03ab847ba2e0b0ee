import { atom } from 'jotai';

export type RealtimeStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** State of the MQTT connection; while it isn't `connected`, sending uses REST. */
export const realtimeStatusAtom = atom<RealtimeStatus>('closed');

/** Whether the relay is out of reach, as far as this browser can tell: what is written waits until it isn't. */
export const offlineAtom = atom(false);

/** Whether the relay has ceased to answer since this session could reach it: what is sent fails, and can be sent again. */
export const unreachableAtom = atom(false);

/** A stretch of the past on its way into this browser, in messages. */
export interface CatchUp {
  readonly done: number;
  /** Null where only the end will tell. */
  readonly of: number | null;
}

/** Null while nothing is on its way that would take long. */
export const catchUpAtom = atom<CatchUp | null>(null);

/** User id to online. */
export const presenceAtom = atom<Readonly<Record<string, boolean>>>({});
