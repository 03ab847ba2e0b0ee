import { coalesce } from '../../lib/coalesce.ts';
import type { Profile } from '../../net/api.ts';
import { offlineAtom, type RelayTrouble, relayTroubleAtom } from '../../store/connection.ts';
import { connectionBannerAtom, currentUserAtom } from '../../store/session.ts';
import { registerDevice, topUpKeyPackages } from '../account/enrolment.ts';
import type { Deps } from '../core/deps.ts';
import { apiErrorOf, type Background, troubleOf } from '../core/failures.ts';
import { registerStart } from '../core/place.ts';
import type { TokenStore } from './token.ts';

export interface ConnectivityOptions {
  readonly deps: Deps;
  readonly tokens: TokenStore;
  /** The name of this browser in the list of devices. */
  readonly deviceName: string;
  /** Returns whether the browser takes itself to be online, which may be wrong either way. */
  readonly isOnline: () => boolean;
  readonly background: Background;
  /** The session on screen, if there is one. */
  readonly current: () => { onReachable(): void } | null;
  /** Called with the relay's profile of the person, and the one known before. */
  readonly onProfile: (user: Profile, known: Profile | null) => void;
  /**
   * The relay takes the token no more.
   * @param confirmed whether it had taken it before, in this session
   */
  readonly onRefused: (confirmed: boolean) => Promise<void>;
}

/** Knows whether the relay can be reached, and finds the way back to it. */
export interface Connectivity {
  /** No session is on screen: nothing is known but what the browser says. */
  reset(): void;
  /** A session goes on: offline until the relay has confirmed it, if something keeps it from that. */
  begin(trouble: RelayTrouble | null): void;
  /** Returns whether the relay has said of this session that it holds. */
  isConfirmed(): boolean;
  /**
   * Asks the relay whether the token still holds, unless there is none to ask with, and notes what keeps the relay
   * from serving. Never rejects.
   */
  check(): Promise<void>;
  /** Asks the relay again while it doesn't serve. Never rejects. */
  look(): Promise<void>;
  /** The browser's network has come or gone. */
  onNetworkChanged(): void;
  /** The real-time connection is up: the relay can be reached. */
  onConnected(): void;
  /** The real-time connection is lost: the relay may be. */
  onDisconnected(): void;
}

export function createConnectivity(options: ConnectivityOptions): Connectivity {
  const { background, current, deps, isOnline, onProfile, onRefused, tokens } = options;
  const { api, store } = deps;
  let confirmed = false;

  function setOffline(offline: boolean): void {
    if (store.get(offlineAtom) !== offline) store.set(offlineAtom, offline);
  }
  function setTrouble(trouble: RelayTrouble | null): void {
    if (store.get(relayTroubleAtom) !== trouble) store.set(relayTroubleAtom, trouble);
  }

  async function onFailure(error: unknown): Promise<void> {
    if (apiErrorOf(error)?.status === 401) return onRefused(confirmed);
    const trouble = troubleOf(error);
    if (trouble !== null) setTrouble(trouble);
  }

  /** Looks for the relay, and takes the session up where it was left once it is found. */
  const reachAgain = coalesce(async () => {
    const opened = current();
    if (opened === null || !store.get(offlineAtom)) return;
    try {
      const user = await api.profile();
      if (current() !== opened) return;
      await registerDevice(deps, options.deviceName);
      if (current() !== opened) return;
      // A start without the relay has left it undone.
      if (!confirmed) background(() => topUpKeyPackages(deps));
      confirmed = true;
      onProfile(user, store.get(currentUserAtom));
      store.set(connectionBannerAtom, false);
      setTrouble(null);
      setOffline(false);
      background(() => registerStart(deps));
      opened.onReachable();
    } catch (error) {
      if (current() === opened) await onFailure(error);
    }
  });

  async function check(): Promise<void> {
    const opened = current();
    if (opened === null) return;
    if (tokens.read() === null) return onRefused(confirmed);
    if (store.get(offlineAtom)) return reachAgain();
    const known = store.get(currentUserAtom);
    try {
      const user = await api.profile();
      if (current() !== opened) return;
      setTrouble(null);
      store.set(connectionBannerAtom, false);
      // A change that the person has made meanwhile is newer than the answer.
      if (store.get(currentUserAtom) === known) onProfile(user, known);
    } catch (error) {
      if (current() === opened) await onFailure(error);
    }
  }

  const look = () => (store.get(relayTroubleAtom) === null ? reachAgain() : check());

  return {
    reset() {
      confirmed = false;
      setOffline(!isOnline());
      setTrouble(null);
      store.set(connectionBannerAtom, false);
    },

    begin(trouble) {
      confirmed = trouble === null;
      setOffline(trouble !== null);
      setTrouble(trouble);
    },

    isConfirmed: () => confirmed,
    check,
    look,

    onNetworkChanged() {
      if (!isOnline()) {
        setOffline(true);
        setTrouble(null);
      } else if (current() === null) setOffline(false);
      else background(reachAgain);
    },

    onConnected() {
      if (store.get(relayTroubleAtom) === 'silent') setTrouble(null);
      background(look);
    },

    onDisconnected: () => background(check),
  };
}
